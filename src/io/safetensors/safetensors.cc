#include "io/safetensors/safetensors.h"

#include <algorithm>
#include <unordered_map>

#include "base/check.h"
#include "base/files/file.h"
#include "base/files/fingerprint.h"
#include "base/text/printable.h"

namespace heed {
namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the reference implementation

/// Position of a type in the write order of the reference implementation: largest elements first.
int writing_order(DType dtype) {
  constexpr DType kOrder[] = {DType::kInt64,    DType::kFloat64, DType::kFloat32, DType::kInt32,
                              DType::kBFloat16, DType::kFloat16, DType::kInt8,    DType::kUInt8};
  const auto* found = std::find(std::begin(kOrder), std::end(kOrder), dtype);
  HEED_CHECK(found != std::end(kOrder));
  return static_cast<int>(found - std::begin(kOrder));
}

}  // namespace

SafetensorsReader SafetensorsReader::open(const std::string& path) {
  InputFile file(path);
  if (file.size() < kLengthBytes) {
    fail(ErrorKind::kFormat,
         "'{}' is not a valid safetensors file: it has {} bytes, too few for a header; "
         "download or copy it again",
         path, file.size());
  }
  uint64_t length = 0;
  file.read_at(0, &length, sizeof length);
  const uint64_t rest = file.size() - kLengthBytes;
  if (length > kMaxHeaderBytes || length > rest) {
    fail(ErrorKind::kFormat,
         "'{}' is not a valid safetensors file: its header would have {} bytes, {}; the file is truncated or "
         "of another type; download or copy it again",
         path, length,
         length > rest ? fmt::format("but only {} follow", rest)
                       : fmt::format("the maximum is {}", kMaxHeaderBytes));
  }
  std::string text(length, '\0');
  file.read_at(kLengthBytes, text.data(), text.size());
  SafetensorsHeader header = parse_safetensors_header(text, rest - length, path);
  std::optional<SafetensorsHashes> hashes = read_hashes(header, path);
  return SafetensorsReader(std::move(file), kLengthBytes + length, std::move(header), std::move(hashes));
}

SafetensorsReader::SafetensorsReader(InputFile file, uint64_t data_begin, SafetensorsHeader header,
                                     std::optional<SafetensorsHashes> hashes)
    : TensorReader(file.path(), std::move(header.tensors)),
      file_(std::move(file)),
      data_begin_(data_begin),
      metadata_(std::move(header.metadata)),
      hashes_(std::move(hashes)) {}

void SafetensorsReader::read_elements(size_t index, int64_t begin, int64_t count, void* destination) const {
  const TensorInfo& tensor = infos()[index];
  const uint64_t element = size_of(tensor.dtype);
  file_.read_at(data_begin_ + tensor.begin + static_cast<uint64_t>(begin) * element, destination,
                static_cast<size_t>(count) * element);
  file_.require_unchanged();
}

std::optional<uint64_t> SafetensorsReader::stored_hash(size_t index) const {
  if (!hashes_) return {};
  return hashes_->tensors[index];
}

void SafetensorsReader::verify() const {
  std::vector<char> bytes(kReadChunkBytes);
  for (size_t index = 0; index < infos().size(); ++index) {
    const TensorInfo& tensor = infos()[index];
    Fingerprint hash;
    for (uint64_t at = tensor.begin; at < tensor.end;) {
      const size_t count = std::min<uint64_t>(kReadChunkBytes, tensor.end - at);
      file_.read_at(data_begin_ + at, bytes.data(), count);
      hash.add(bytes.data(), count);
      at += count;
    }
    require_hash(index, hash.value());
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
