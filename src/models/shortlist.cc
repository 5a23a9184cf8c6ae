#include "models/shortlist.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/files/model_inventory.h"
#include "io/safetensors/safetensors.h"

namespace heed::models {
namespace {

std::string path_in(const std::string& directory) {
  return (std::filesystem::path(directory) / model_file::kShortlist).string();
}

Tensor read_ids(const SafetensorsReader& file, const std::string& name) {
  const TensorInfo& info = file.info(name);
  if (info.shape.rank() != 1 || info.type != "I32") {
    fail(ErrorKind::kFormat, "'{}': '{}' must be a vector of I32, not {} of {}", file.path(), name,
         info.shape.to_string(), info.type);
  }
  return file.read(name);
}

Tensor row_of(const std::vector<int32_t>& ids) {
  return Tensor::from(ids, {static_cast<int64_t>(ids.size())});
}

}  // namespace

Shortlist::Shortlist(std::vector<int32_t> common, const std::vector<std::vector<int32_t>>& translations)
    : common_(std::move(common)), offsets_{0} {
  std::vector<int32_t> all;
  for (const std::vector<int32_t>& words : translations) {
    HEED_CHECK(all.size() + words.size() <= std::numeric_limits<int32_t>::max());
    all.insert(all.end(), words.begin(), words.end());
    offsets_.push_back(static_cast<int32_t>(all.size()));
  }
  translations_ = row_of(all);
}

void Shortlist::require_ids(const std::string& path) const {
  const bool whole =
      offsets_.front() == 0 && offsets_.back() == size() && std::is_sorted(offsets_.begin(), offsets_.end());
  if (!whole) fail(ErrorKind::kFormat, "'{}': the offsets of the lists are invalid", path);
  const auto limit = static_cast<uint32_t>(vocabulary());
  const auto is_out_of_range = [&](int32_t id) { return static_cast<uint32_t>(id) >= limit; };
  for (const std::span<const int32_t> ids : {std::span<const int32_t>(common_), translations()}) {
    uint32_t out_of_range = 0;  // counted, not searched for, so that the loop is vectorized
    for (const int32_t id : ids) out_of_range += is_out_of_range(id);
    if (out_of_range == 0) continue;
    fail(ErrorKind::kFormat, "'{}' contains the id {}, which is out of range for a vocabulary of {}", path,
         *std::ranges::find_if(ids, is_out_of_range), limit);
  }
}

Shortlist Shortlist::read(const std::string& directory, int64_t vocabulary) {
  const std::string path = path_in(directory);
  const SafetensorsReader file = SafetensorsReader::open(path);
  Shortlist list;
  list.common_ = read_ids(file, "common").to_vector<int32_t>();
  list.offsets_ = read_ids(file, "offsets").to_vector<int32_t>();
  list.translations_ = read_ids(file, "words");
  if (list.vocabulary() != vocabulary) {
    fail(ErrorKind::kFormat,
         "'{}' is a shortlist for a vocabulary of {}, but the model has {}: create it again with heed "
         "shortlist",
         path, list.vocabulary(), vocabulary);
  }
  list.require_ids(path);
  if (list.common_.empty()) fail(ErrorKind::kFormat, "'{}' has no common tokens", path);
  return list;
}

void Shortlist::write(const std::string& directory) const {
  write_safetensors_with_hashes(
      path_in(directory),
      {{"common", row_of(common_)}, {"offsets", row_of(offsets_)}, {"words", translations_}},
      {{"format", "pt"}});
}

std::vector<int32_t> Shortlist::tokens(std::span<const int32_t> source) const {
  std::vector<uint64_t> marks(static_cast<size_t>(vocabulary() / 64 + 1));  // one bit per token
  const auto mark = [&](int32_t id) { marks[id / 64] |= uint64_t{1} << (id % 64); };
  for (const int32_t id : common_) mark(id);
  const std::span<const int32_t> all = translations();
  for (const int32_t id : source) {
    HEED_CHECK(id >= 0 && id < vocabulary());
    mark(id);
    for (int32_t n = offsets_[id]; n < offsets_[id + 1]; ++n) mark(all[n]);
  }
  std::vector<int32_t> words;
  for (size_t n = 0; n < marks.size(); ++n) {
    for (uint64_t left = marks[n]; left != 0; left &= left - 1) {
      words.push_back(static_cast<int32_t>(n) * 64 + std::countr_zero(left));
    }
  }
  return words;
}

}  // namespace heed::models
