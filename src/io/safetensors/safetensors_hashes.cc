#include "io/safetensors/safetensors_hashes.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <tuple>

#include "base/check.h"
#include "base/files/fingerprint.h"

namespace heed {
namespace {

constexpr std::string_view kAlgorithm = "xxh64";
constexpr size_t kDigits = 16;

/// Parses the numbers after the name of the algorithm; empty if they are not in the format of
/// format_hashes().
std::optional<std::vector<uint64_t>> numbers_in(std::string_view text) {
  std::vector<uint64_t> numbers;
  for (; !text.empty(); text.remove_prefix(1 + kDigits)) {
    if (text.size() < 1 + kDigits || text[0] != ' ') return std::nullopt;
    uint64_t number = 0;
    const char* first = text.data() + 1;
    const auto [end, error] = std::from_chars(first, first + kDigits, number, 16);
    if (error != std::errc() || end != first + kDigits) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

void add_text(Fingerprint& hash, std::string_view text) {
  hash.add_number(text.size());
  hash.add(text);
}

}  // namespace

uint64_t hash_of(const SafetensorsHeader& header) {
  Fingerprint hash;
  for (const auto& [key, value] : header.metadata) {
    if (key == SafetensorsHashes::kKey) continue;
    add_text(hash, key);
    add_text(hash, value);
  }
  // In reading order, which differs from writing order for tensors without data.
  std::vector<const TensorInfo*> ordered;
  for (const TensorInfo& tensor : header.tensors) ordered.push_back(&tensor);
  std::ranges::sort(ordered, {}, [](const TensorInfo* t) { return std::tie(t->begin, t->end, t->name); });
  for (const TensorInfo* each : ordered) {
    const TensorInfo& tensor = *each;
    add_text(hash, tensor.name);
    add_text(hash, tensor.type);
    hash.add_number(static_cast<uint64_t>(tensor.shape.rank()));
    for (const int64_t length : tensor.shape) hash.add_number(static_cast<uint64_t>(length));
  }
  return hash.value();
}

std::string format_hashes(const SafetensorsHashes& hashes) {
  std::string text = fmt::format("{} {:016x}", kAlgorithm, hashes.header);
  for (const uint64_t hash : hashes.tensors) text += fmt::format(" {:016x}", hash);
  return text;
}

std::optional<SafetensorsHashes> read_hashes(const SafetensorsHeader& header, const std::string& path) {
  const auto entry = header.metadata.find(SafetensorsHashes::kKey);
  if (entry == header.metadata.end()) return std::nullopt;
  std::string_view text = entry->second;
  if (text.substr(0, text.find(' ')) != kAlgorithm) return std::nullopt;
  text.remove_prefix(kAlgorithm.size());
  const auto numbers = numbers_in(text);
  if (!numbers || numbers->size() != header.tensors.size() + 1 || numbers->front() != hash_of(header)) {
    fail(ErrorKind::kFormat,
         "'{}' is damaged: its header does not match its hash; copy or download the file again", path);
  }
  return SafetensorsHashes{numbers->front(), {numbers->begin() + 1, numbers->end()}};
}

}  // namespace heed
