#include "io/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/file.h"
#include "base/fingerprint.h"
#include "base/json_text.h"
#include "base/nearest_word.h"
#include "tensor/half.h"

namespace heed {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the reference implementation
constexpr size_t kChunkBytes = size_t{1} << 18;    // conversion chunk, fits in cache

/// Reads a tensor in chunks and calls convert(chunk, destination, count) for each. Returns the hash of the
/// bytes.
template <typename Element, typename Convert>
uint64_t read_converted(const InputFile& file, uint64_t offset, int64_t size, float* destination,
                        const Convert& convert) {
  Fingerprint hash;
  std::vector<Element> chunk(std::min(kChunkBytes / sizeof(Element), static_cast<size_t>(size)));
  for (size_t done = 0, total = static_cast<size_t>(size); done < total;) {
    const size_t count = std::min(chunk.size(), total - done);
    file.read_at(offset + done * sizeof(Element), chunk.data(), count * sizeof(Element));
    hash.add(chunk.data(), count * sizeof(Element));
    convert(chunk.data(), destination + done, count);
    done += count;
  }
  return hash.value();
}

/// Position of a type in the write order of the reference implementation: largest elements first.
int writing_order(DType dtype) {
  constexpr DType kOrder[] = {DType::kInt64,    DType::kFloat64, DType::kFloat32, DType::kInt32,
                              DType::kBFloat16, DType::kFloat16, DType::kInt8,    DType::kUInt8};
  const auto* place = std::find(std::begin(kOrder), std::end(kOrder), dtype);
  HEED_CHECK(place != std::end(kOrder));
  return static_cast<int>(place - std::begin(kOrder));
}

}  // namespace

SafetensorsReader SafetensorsReader::open(const std::string& path) {
  InputFile file(path);
  if (file.size() < kLengthBytes) {
    fail(ErrorKind::kFormat, "'{}' is not a valid safetensors file: it has {} bytes, too few for a header",
         path, file.size());
  }
  uint64_t length = 0;
  file.read_at(0, &length, sizeof length);
  const uint64_t rest = file.size() - kLengthBytes;
  if (length > kMaxHeaderBytes || length > rest) {
    fail(ErrorKind::kFormat,
         "'{}' is not a valid safetensors file: its header would have {} bytes, {}; the file is truncated or "
         "of another type",
         path, length,
         length > rest ? fmt::format("but only {} follow", rest)
                       : fmt::format("the maximum is {}", kMaxHeaderBytes));
  }
  std::string text(length, '\0');
  file.read_at(kLengthBytes, text.data(), text.size());
  SafetensorsHeader header = parse_safetensors_header(text, rest - length, path);
  return SafetensorsReader(std::move(file), kLengthBytes + length, std::move(header));
}

SafetensorsReader::SafetensorsReader(InputFile file, uint64_t data_begin, SafetensorsHeader header)
    : file_(std::move(file)),
      data_begin_(data_begin),
      header_(std::move(header)),
      hashes_(read_hashes(header_, file_.path())) {
  positions_.reserve(header_.tensors.size());
  for (size_t at = 0; at < header_.tensors.size(); ++at) positions_.emplace(header_.tensors[at].name, at);
}

const TensorInfo& SafetensorsReader::info(const std::string& name) const {
  const auto found = positions_.find(name);
  if (found == positions_.end()) {
    std::vector<std::string> names;
    for (const TensorInfo& tensor : header_.tensors) names.push_back(shown(tensor.name));
    fail(ErrorKind::kNotFound, "'{}' has no tensor '{}'{}", path(), shown(name), did_you_mean(name, names));
  }
  return header_.tensors[found->second];
}

Tensor SafetensorsReader::read(const std::string& name) const {
  const TensorInfo& tensor = info(name);
  if (!tensor.readable) {
    fail(ErrorKind::kFormat,
         "tensor '{}' of '{}' has the unsupported type {}; supported are F64, F32, F16, BF16, I64, I32, I8, "
         "U8 and BOOL",
         shown(name), path(), shown(tensor.type));
  }
  Tensor result = Tensor::empty(tensor.shape, tensor.dtype);
  read_data(tensor, result.bytes());
  return result;
}

Tensor SafetensorsReader::read_rows(const std::string& name, int64_t begin, int64_t count) const {
  const TensorInfo& tensor = info(name);
  HEED_CHECK(tensor.readable && tensor.shape.rank() > 0);
  HEED_CHECK(begin >= 0 && count >= 0 && begin + count <= tensor.shape[0]);
  Shape shape = tensor.shape;
  shape.set(0, count);
  Tensor rows = Tensor::empty(shape, tensor.dtype);
  const uint64_t row_bytes = (tensor.end - tensor.begin) / std::max<uint64_t>(tensor.shape[0], 1);
  file_.read_at(data_begin_ + tensor.begin + static_cast<uint64_t>(begin) * row_bytes, rows.bytes(),
                static_cast<size_t>(count) * row_bytes);
  return rows;
}

void SafetensorsReader::require_hash(const TensorInfo& tensor, uint64_t hash) const {
  if (!hashes_ || hashes_->tensors[positions_.at(tensor.name)] == hash) return;
  fail(ErrorKind::kFormat,
       "'{}' is damaged: the data of tensor '{}' do not match their hash; copy or download the file again",
       path(), shown(tensor.name));
}

/// Reads bytes without conversion and hashes them while they are in cache.
void SafetensorsReader::read_data(const TensorInfo& tensor, void* destination) const {
  char* to = static_cast<char*>(destination);
  if (!hashes_) return file_.read_at(data_begin_ + tensor.begin, to, tensor.end - tensor.begin);
  Fingerprint hash;
  for (uint64_t at = tensor.begin; at < tensor.end;) {
    const size_t count = std::min<uint64_t>(kChunkBytes, tensor.end - at);
    file_.read_at(data_begin_ + at, to, count);
    hash.add(to, count);
    to += count;
    at += count;
  }
  require_hash(tensor, hash.value());
}

void SafetensorsReader::verify() const {
  std::vector<char> bytes(kChunkBytes);
  for (const TensorInfo& tensor : header_.tensors) {
    Fingerprint hash;
    for (uint64_t at = tensor.begin; at < tensor.end;) {
      const size_t count = std::min<uint64_t>(kChunkBytes, tensor.end - at);
      file_.read_at(data_begin_ + at, bytes.data(), count);
      hash.add(bytes.data(), count);
      at += count;
    }
    require_hash(tensor, hash.value());
  }
}

const TensorInfo& SafetensorsReader::info_of_shape(const std::string& name, const Shape& expected) const {
  const TensorInfo& tensor = info(name);
  if (!(tensor.shape == expected)) {
    fail(ErrorKind::kShape, "tensor '{}' of '{}' has the shape {}, expected {}", shown(name), path(),
         tensor.shape.to_string(), expected.to_string());
  }
  return tensor;
}

void SafetensorsReader::read_into(const std::string& name, int8_t* destination, const Shape& expected) const {
  const TensorInfo& tensor = info_of_shape(name, expected);
  if (!tensor.readable || tensor.dtype != DType::kInt8) {
    fail(ErrorKind::kFormat, "tensor '{}' of '{}' has the type {}, expected I8", shown(name), path(),
         shown(tensor.type));
  }
  read_data(tensor, destination);
}

void SafetensorsReader::read_into(const std::string& name, float* destination, const Shape& expected) const {
  const TensorInfo& tensor = info_of_shape(name, expected);
  const uint64_t offset = data_begin_ + tensor.begin;
  const int64_t size = expected.size();
  if (tensor.readable && tensor.dtype == DType::kFloat32) {
    read_data(tensor, destination);
  } else if (tensor.readable && tensor.dtype == DType::kFloat16) {
    require_hash(tensor, read_converted<uint16_t>(file_, offset, size, destination, halves_to_floats));
  } else if (tensor.readable && tensor.dtype == DType::kBFloat16) {
    require_hash(tensor, read_converted<uint16_t>(file_, offset, size, destination, bfloats_to_floats));
  } else if (tensor.readable && tensor.dtype == DType::kFloat64) {
    const auto convert = [](const double* from, float* to, size_t count) {
      std::transform(from, from + count, to, [](double value) { return static_cast<float>(value); });
    };
    require_hash(tensor, read_converted<double>(file_, offset, size, destination, convert));
  } else {
    fail(ErrorKind::kFormat, "tensor '{}' of '{}' has the type {}, expected F32, F16, BF16 or F64",
         shown(name), path(), shown(tensor.type));
  }
}

namespace {

Tensor without_gaps(const Tensor& tensor) {
  return tensor.is_contiguous() ? tensor : tensor.clone();
}

size_t bytes_of(const Tensor& tensor) {
  return static_cast<size_t>(tensor.size()) * size_of(tensor.dtype());
}

void write(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& tensors,
           const std::map<std::string, std::string>& metadata, bool with_hashes) {
  std::vector<const std::pair<std::string, Tensor>*> ordered;
  for (const auto& each : tensors) {
    HEED_CHECK(each.second.defined());
    if (each.first == "__metadata__")
      fail(ErrorKind::kUsage, "cannot write '{}': the tensor name '__metadata__' is reserved", path);
    ordered.push_back(&each);
  }
  std::sort(ordered.begin(), ordered.end(), [](const auto* left, const auto* right) {
    return std::pair(writing_order(left->second.dtype()), std::string_view(left->first)) <
           std::pair(writing_order(right->second.dtype()), std::string_view(right->first));
  });
  SafetensorsHeader header;
  header.metadata = metadata;
  std::unordered_map<std::string_view, const Tensor*> names;
  uint64_t offset = 0;
  for (const auto* each : ordered) {
    const auto& [name, tensor] = *each;
    if (!names.emplace(name, &tensor).second) {
      fail(ErrorKind::kUsage, "cannot write '{}': two tensors are named '{}'", path, shown(name));
    }
    TensorInfo info;
    info.name = name;
    info.type = safetensors_type_of(tensor.dtype());
    info.shape = tensor.shape();
    info.begin = offset;
    offset += static_cast<uint64_t>(tensor.size()) * size_of(tensor.dtype());
    info.end = offset;
    header.tensors.push_back(std::move(info));
  }
  if (with_hashes) {
    SafetensorsHashes hashes{hash_of(header), {}};
    for (const auto* each : ordered) {
      const Tensor rows = without_gaps(each->second);
      Fingerprint hash;
      hash.add(rows.bytes(), bytes_of(rows));
      hashes.tensors.push_back(hash.value());
    }
    header.metadata[SafetensorsHashes::kKey] = format_hashes(hashes);
  }
  const std::string text = format_safetensors_header(header, path);
  const uint64_t length = text.size();
  AtomicFile file(path);
  file.write(&length, sizeof length);
  file.write(text);
  for (const auto* each : ordered) {
    const Tensor rows = without_gaps(each->second);
    file.write(rows.bytes(), bytes_of(rows));
  }
  file.commit();
}

}  // namespace

void write_safetensors(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  write(path, tensors, metadata, false);
}

void write_safetensors_with_hashes(const std::string& path,
                                   const std::vector<std::pair<std::string, Tensor>>& tensors,
                                   const std::map<std::string, std::string>& metadata) {
  write(path, tensors, metadata, true);
}

}  // namespace heed
