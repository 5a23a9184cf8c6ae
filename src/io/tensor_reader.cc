#include "io/tensor_reader.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"
#include "base/files/fingerprint.h"
#include "base/text/nearest_word.h"
#include "base/text/printable.h"
#include "tensor/half.h"

namespace heed {
namespace {

static_assert(std::endian::native == std::endian::little, "all formats are little-endian");

}  // namespace

TensorReader::TensorReader(std::string path, std::vector<TensorInfo> infos)
    : path_(std::move(path)), infos_(std::move(infos)) {
  positions_.reserve(infos_.size());
  for (size_t at = 0; at < infos_.size(); ++at) positions_.emplace(infos_[at].name, at);
}

const TensorInfo& TensorReader::info(const std::string& name) const {
  const auto found = positions_.find(name);
  if (found == positions_.end()) {
    std::vector<std::string> names;
    for (const TensorInfo& tensor : infos_) names.push_back(shown(tensor.name));
    fail(ErrorKind::kNotFound, "'{}' has no tensor '{}'{}", path(), shown(name), did_you_mean(name, names));
  }
  return infos_[found->second];
}

Tensor TensorReader::read(const std::string& name) const {
  const TensorInfo& tensor = info(name);
  if (!tensor.readable) {
    fail(ErrorKind::kFormat,
         "tensor '{}' of '{}' has the unsupported type {}; supported are F64, F32, F16, BF16, I64, I32, I8, "
         "U8 and BOOL",
         shown(name), path(), shown(tensor.type));
  }
  Tensor result = Tensor::empty(tensor.shape, tensor.dtype);
  read_data(position_of(tensor), result.bytes());
  return result;
}

Tensor TensorReader::read_rows(const std::string& name, int64_t begin, int64_t count) const {
  const TensorInfo& tensor = info(name);
  HEED_CHECK(tensor.readable && tensor.shape.rank() > 0);
  HEED_CHECK(begin >= 0 && count >= 0 && begin + count <= tensor.shape[0]);
  Shape shape = tensor.shape;
  shape.set(0, count);
  Tensor rows = Tensor::empty(shape, tensor.dtype);
  const int64_t row_size = tensor.shape.size() / std::max<int64_t>(tensor.shape[0], 1);
  read_elements(position_of(tensor), begin * row_size, count * row_size, rows.bytes());
  return rows;
}

void TensorReader::read_part(const std::string& name, int64_t begin, int64_t count, void* destination) const {
  const TensorInfo& tensor = info(name);
  HEED_CHECK(tensor.readable && begin >= 0 && count >= 0 && begin + count <= tensor.shape.size());
  read_elements(position_of(tensor), begin, count, destination);
}

void TensorReader::require_hash(size_t index, uint64_t hash) const {
  const std::optional<uint64_t> stored = stored_hash(index);
  if (!stored || *stored == hash) return;
  fail(ErrorKind::kFormat,
       "'{}' is damaged: the data of tensor '{}' do not match their hash; copy or download the file again",
       path(), shown(infos_[index].name));
}

/// Reads bytes without conversion and hashes them while they are in cache.
void TensorReader::read_data(size_t index, void* destination) const {
  const TensorInfo& tensor = infos_[index];
  const int64_t size = tensor.shape.size();
  if (!stored_hash(index)) return read_elements(index, 0, size, destination);
  const size_t element = size_of(tensor.dtype);
  char* to = static_cast<char*>(destination);
  Fingerprint hash;
  for (int64_t done = 0; done < size;) {
    const int64_t count = std::min(static_cast<int64_t>(kReadChunkBytes / element), size - done);
    read_elements(index, done, count, to);
    hash.add(to, static_cast<size_t>(count) * element);
    to += static_cast<size_t>(count) * element;
    done += count;
  }
  require_hash(index, hash.value());
}

/// An uninitialized buffer, of memory that is used again: a large new one would be cleared, page by page.
template <typename Element>
Element* buffer_of(Tensor& owner, size_t count) {
  owner = Tensor::empty({static_cast<int64_t>(count * sizeof(Element))}, DType::kUInt8);
  return static_cast<Element*>(owner.bytes());
}

/// Reads a tensor in chunks, calls visit(begin, chunk, count) for each, and verifies the hash.
template <typename Element, typename Visit>
void TensorReader::visit_parts(size_t index, const Visit& visit) const {
  const auto total = static_cast<size_t>(infos_[index].shape.size());
  const bool hashed = stored_hash(index).has_value();
  Fingerprint hash;
  const size_t most = reads_parts(index) ? std::min(kReadChunkBytes / sizeof(Element), total) : total;
  Tensor owner;
  Element* const chunk = buffer_of<Element>(owner, most);
  for (size_t done = 0; done < total;) {
    const size_t count = std::min(most, total - done);
    read_elements(index, static_cast<int64_t>(done), static_cast<int64_t>(count), chunk);
    if (hashed) hash.add(chunk, count * sizeof(Element));
    visit(done, chunk, count);
    done += count;
  }
  if (hashed) require_hash(index, hash.value());
}

void TensorReader::visit_floats(const std::string& name,
                                const std::function<void(int64_t, const float*, int64_t)>& visit) const {
  const TensorInfo& tensor = info(name);
  const size_t index = position_of(tensor);
  Tensor owner;
  float* floats = nullptr;
  const auto converted = [&](const auto& convert) {
    return [&](size_t begin, const auto* values, size_t count) {
      if (floats == nullptr) floats = buffer_of<float>(owner, count);  // the first part is the largest
      convert(values, floats, count);
      visit(static_cast<int64_t>(begin), floats, static_cast<int64_t>(count));
    };
  };
  if (tensor.readable && tensor.dtype == DType::kFloat32) {
    visit_parts<float>(index, [&](size_t begin, const float* values, size_t count) {
      visit(static_cast<int64_t>(begin), values, static_cast<int64_t>(count));
    });
  } else if (tensor.readable && tensor.dtype == DType::kFloat16) {
    visit_parts<uint16_t>(index, converted(halves_to_floats));
  } else if (tensor.readable && tensor.dtype == DType::kBFloat16) {
    visit_parts<uint16_t>(index, converted(bfloats_to_floats));
  } else if (tensor.readable && tensor.dtype == DType::kFloat64) {
    const auto narrow = [](const double* from, float* to, size_t count) {
      std::transform(from, from + count, to, [](double value) { return static_cast<float>(value); });
    };
    visit_parts<double>(index, converted(narrow));
  } else {
    fail(ErrorKind::kFormat, "tensor '{}' of '{}' has the type {}, expected F32, F16, BF16 or F64",
         shown(name), path(), shown(tensor.type));
  }
}

void TensorReader::visit_halves(const std::string& name,
                                const std::function<void(int64_t, const uint16_t*, int64_t)>& visit) const {
  const TensorInfo& tensor = info(name);
  HEED_CHECK(tensor.readable && size_of(tensor.dtype) == sizeof(uint16_t));
  visit_parts<uint16_t>(position_of(tensor), [&](size_t begin, const uint16_t* values, size_t count) {
    visit(static_cast<int64_t>(begin), values, static_cast<int64_t>(count));
  });
}

size_t TensorReader::index_of_shape(const std::string& name, const Shape& expected) const {
  const TensorInfo& tensor = info(name);
  if (!(tensor.shape == expected)) {
    fail(ErrorKind::kShape, "tensor '{}' of '{}' has the shape {}, expected {}", shown(name), path(),
         tensor.shape.to_string(), expected.to_string());
  }
  return position_of(tensor);
}

void TensorReader::read_into(const std::string& name, int8_t* destination, const Shape& expected) const {
  const size_t index = index_of_shape(name, expected);
  if (!infos_[index].readable || infos_[index].dtype != DType::kInt8) {
    fail(ErrorKind::kFormat, "tensor '{}' of '{}' has the type {}, expected I8", shown(name), path(),
         shown(infos_[index].type));
  }
  read_data(index, destination);
}

void TensorReader::read_into(const std::string& name, uint16_t* destination, DType dtype,
                             const Shape& expected) const {
  const size_t index = index_of_shape(name, expected);
  HEED_CHECK(infos_[index].readable && infos_[index].dtype == dtype && size_of(dtype) == sizeof *destination);
  read_data(index, destination);
}

void TensorReader::read_into(const std::string& name, float* destination, const Shape& expected) const {
  const size_t index = index_of_shape(name, expected);
  if (infos_[index].readable && infos_[index].dtype == DType::kFloat32) return read_data(index, destination);
  visit_floats(name, [&](int64_t begin, const float* values, int64_t count) {
    std::copy_n(values, count, destination + begin);
  });
}

}  // namespace heed
