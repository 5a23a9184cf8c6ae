#include "models/directory/file_parameters.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "models/stacks/transpose.h"

namespace heed::models {

FileParameters::FileParameters(const nn::ParameterTable& table, std::shared_ptr<const WeightFiles> files,
                               std::vector<std::string> names)
    : CompactParameters(table), files_(std::move(files)), names_(std::move(names)) {
  HEED_CHECK(static_cast<int>(names_.size()) == table.size());
}

/// Rows [begin, begin + count) of one row of the table.
void FileParameters::read_rows(int row, int64_t begin, int64_t count, float* out) const {
  const nn::ParamSpec& spec = table()[row];
  const std::string& name = names_[static_cast<size_t>(row)];
  const int64_t in = spec.shape[1];
  if (!spec.transposed) {
    files_->read_part(name, begin * in, count * in, out);
    return;
  }
  std::vector<float> stored(static_cast<size_t>(spec.shape.size()));  // (in, out)
  files_->read_part(name, 0, spec.shape.size(), stored.data());
  transpose_columns(stored.data(), {in, spec.shape[0]}, begin, count, out);
}

void FileParameters::widen(nn::ParamRef ref, int64_t begin, int64_t count, float* out) const {
  HEED_CHECK(holds(ref));
  const int64_t end = begin + count;
  int64_t first = 0;  // of the rows of the table before
  for (int row = ref.first; row < ref.first + ref.count; ++row) {
    const int64_t rows = table()[row].shape[0], width = table()[row].shape[1];
    const int64_t from = std::max(begin, first), to = std::min(end, first + rows);
    if (from < to) read_rows(row, from - first, to - from, out + (from - begin) * width);
    first += rows;
  }
  HEED_CHECK(begin >= 0 && end <= first);
}

PackedMatrix FileParameters::pack(nn::ParamRef ref, const float* bias) const {
  const Shape shape = table().shape(ref);
  for (int row = ref.first; row < ref.first + ref.count; ++row) {
    if (!table()[row].transposed) continue;
    std::vector<float> all(static_cast<size_t>(shape.size()));  // else each panel would read the whole
    widen(ref, 0, shape[0], all.data());
    return {all.data(), shape[0], shape[1], bias};
  }
  const auto read = [&](int64_t begin, int64_t count, float* out) { widen(ref, begin, count, out); };
  return {MatrixRows{shape[0], shape[1], read}, bias};
}

void FileParameters::multiply_selected(nn::ParamRef ref, const SelectedProductArguments& arguments) const {
  SelectedProductArguments product = arguments;
  const Tensor all = floats(ref);  // kept: a shortlist selects thousands of rows for each sentence
  product.weight = all.data<float>();
  selected_product(product);
}

}  // namespace heed::models
