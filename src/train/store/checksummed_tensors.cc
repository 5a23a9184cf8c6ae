#include "train/store/checksummed_tensors.h"

#include <algorithm>

#include "base/check.h"
#include "base/files/fingerprint.h"
#include "base/files/input_file.h"
#include "base/text/option_error.h"
#include "io/safetensors/safetensors.h"

namespace heed::train {
namespace {

constexpr const char* kFormatKey = "format";
constexpr const char* kChecksum = "checksum";

void add_text(Fingerprint& all, std::string_view text) {
  all.add_number(text.size());
  all.add(text);
}

std::string checksum_of(const ChecksummedTensors& content) {
  Fingerprint all;
  add_text(all, content.format);
  all.add_number(content.texts.size());
  for (const auto& [key, text] : content.texts) {
    add_text(all, key);
    add_text(all, text);
  }
  std::map<std::string, const Tensor*> by_name;  // independent of the order in the file
  for (const auto& [name, tensor] : content.tensors) by_name.emplace(name, &tensor);
  for (const auto& [name, tensor] : by_name) {
    HEED_CHECK(tensor->is_contiguous());
    add_text(all, name);
    all.add_number(static_cast<uint64_t>(tensor->dtype()));
    add_text(all, tensor->shape().to_string());
    all.add(tensor->bytes(), static_cast<size_t>(tensor->size()) * size_of(tensor->dtype()));
  }
  return hexadecimal(all.value());
}

ChecksummedTensors read_all(const std::string& path, std::string& checksum) {
  const SafetensorsReader reader = SafetensorsReader::open(path);
  ChecksummedTensors content;
  content.texts = reader.metadata();
  content.format = content.texts[kFormatKey];
  checksum = content.texts[kChecksum];
  content.texts.erase(kFormatKey);
  content.texts.erase(kChecksum);
  for (const TensorInfo& info : reader.infos()) {
    content.tensors.emplace_back(info.name, reader.read(info.name));
  }
  return content;
}

/// Whether the header is padded with spaces only, as it was written.
bool has_clean_padding(const std::string& path) {
  const InputFile file(path);
  uint64_t length = 0;
  file.read_at(0, &length, sizeof length);
  std::string header(length, ' ');
  file.read_at(sizeof length, header.data(), header.size());
  return header.find_last_not_of(' ') == header.rfind('}');
}

[[noreturn]] void damaged(const std::string& path, std::string_view what) {
  throw OptionError(
      ErrorKind::kFormat,
      option_text(
          "'{}' is damaged: {}; restore it from a copy, or train into another directory ($from starts "
          "from the weights of a model)",
          path, what));
}

}  // namespace

const Tensor* ChecksummedTensors::find(const std::string& name) const {
  const auto found = std::ranges::find(tensors, name, [](const auto& each) { return each.first; });
  return found == tensors.end() ? nullptr : &found->second;
}

void write_checksummed(const std::string& path, const ChecksummedTensors& content) {
  std::map<std::string, std::string> metadata = content.texts;
  metadata[kFormatKey] = content.format;
  metadata[kChecksum] = checksum_of(content);
  write_safetensors(path, content.tensors, metadata);
}

ChecksummedTensors read_checksummed(const std::string& path, const std::string& format) {
  ChecksummedTensors content;
  std::string checksum;
  try {
    content = read_all(path, checksum);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kFormat) throw;
    damaged(path, error.what());
  }
  if (checksum.empty() && content.format != format) {
    fail(ErrorKind::kFormat,
         "'{}' is not a '{}' but a '{}' of another version of Heed; train into another directory", path,
         format, content.format);
  }
  if (checksum != checksum_of(content) || !has_clean_padding(path))
    damaged(path, "its content is not what was written");
  if (content.format != format) {
    fail(ErrorKind::kFormat, "'{}' is not a '{}' but a '{}'", path, format, content.format);
  }
  return content;
}

}  // namespace heed::train
