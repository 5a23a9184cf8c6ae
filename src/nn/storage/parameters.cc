#include "nn/storage/parameters.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"

namespace heed::nn {

ParamRef ParameterTable::add(ParamSpec spec) {
  for (const ParamSpec& other : specs_) {
    if (other.name == spec.name) fail(ErrorKind::kUsage, "there are two parameters called '{}'", spec.name);
  }
  offsets_.push_back(offsets_.back() + spec.shape.size());
  specs_.push_back(std::move(spec));
  return {size() - 1, 1};
}

bool ParameterTable::ignores(const std::string& name) const {
  return std::any_of(ignored_.begin(), ignored_.end(),
                     [&](const std::string& prefix) { return name.starts_with(prefix); });
}

Shape ParameterTable::shape(ParamRef ref) const {
  HEED_CHECK(ref.first >= 0 && ref.count >= 1 && ref.first + ref.count <= size());
  Shape shape = specs_[ref.first].shape;
  for (int row = ref.first + 1; row < ref.first + ref.count; ++row) {
    const Shape& next = specs_[row].shape;
    HEED_CHECK(next.rank() == shape.rank());
    for (int axis = 1; axis < shape.rank(); ++axis) HEED_CHECK(next[axis] == shape[axis]);
    shape.set(0, shape[0] + next[0]);
  }
  return shape;
}

Tensor ParameterArray::view(const ParameterTable& table, ParamRef ref) const {
  const Shape shape = table.shape(ref);
  int64_t offset = table.offset(ref.first);
  if (offsets_ != nullptr) {
    for (int row = ref.first; row < ref.first + ref.count; ++row) HEED_CHECK((*offsets_)[row] >= 0);
    offset = (*offsets_)[ref.first];
  }
  return flat_.narrow(0, offset, shape.size()).reshape(shape);
}

ParameterArray ParameterArray::unset(const ParameterTable& table,
                                     const std::function<bool(int row)>& left_out) {
  ParameterArray array;
  int64_t elements = table.elements();
  if (left_out) {
    auto offsets = std::make_shared<std::vector<int64_t>>();
    elements = 0;
    for (int row = 0; row < table.size(); ++row) {
      offsets->push_back(left_out(row) ? -1 : elements);
      if (offsets->back() >= 0) elements += table[row].shape.size();
    }
    array.offsets_ = std::move(offsets);
  }
  array.flat_ = Tensor::empty({elements});
  return array;
}

namespace {

double draw(const ParamSpec& spec, Random& random) {
  switch (spec.initialization.kind) {
    case Initialization::Kind::kZeros:
      return 0;
    case Initialization::Kind::kOnes:
      return 1;
    case Initialization::Kind::kNormal:
      return spec.initialization.value * random.normal();
    case Initialization::Kind::kXavier: {
      const double fans = static_cast<double>(spec.shape[0] + spec.shape[-1]);
      return spec.initialization.value * std::sqrt(6 / fans) * (2 * random.uniform() - 1);
    }
  }
  HEED_CHECK(false);
}

}  // namespace

namespace {

void fill_zero(Tensor row) {
  std::memset(row.bytes(), 0, static_cast<size_t>(row.size()) * size_of(row.dtype()));
}

bool is_zero(const Tensor& row) {
  const std::vector<double> values = row.to_vector<double>();
  return std::ranges::all_of(values, [](double value) { return value == 0; });
}

}  // namespace

void initialize(const ParameterTable& table, ParameterArray& values, RandomKey key) {
  for (int row = 0; row < table.size(); ++row) {
    Random random(key.fold(static_cast<uint64_t>(row)));
    Tensor view = values.view(table, {row, 1});
    for (int64_t i = 0; i < view.size(); ++i) {
      const double value = draw(table[row], random);
      if (view.dtype() == DType::kFloat32) {
        view.data<float>()[i] = static_cast<float>(value);
      } else {
        view.data<double>()[i] = value;
      }
    }
    if (table[row].zero_row >= 0) fill_zero(view.narrow(0, table[row].zero_row, 1));
  }
}

void drop_gradients_of_zero_rows(const ParameterTable& table, const ParameterArray& values,
                                 ParameterArray& gradients) {
  for (int row = 0; row < table.size(); ++row) {
    if (table[row].zero_row < 0) continue;
    if (!is_zero(values.view(table, {row, 1}).narrow(0, table[row].zero_row, 1))) continue;
    fill_zero(gradients.view(table, {row, 1}).narrow(0, table[row].zero_row, 1));
  }
}

}  // namespace heed::nn
