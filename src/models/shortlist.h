// A vocabulary shortlist: the few words that a translation of a given sentence may need.
//
// The logits of all words are a quarter of the work of a small model's step, and nearly all of them are never
// looked at: a translation holds words that translate those of its source, and frequent ones (Jean et al.,
// "On using very large target vocabulary for neural machine translation", 2015, section 3.3). The list of a
// sentence depends on that sentence alone, so it keeps its translation in any company.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heed::models {

class Shortlist {
 public:
  static constexpr const char* kFileName = "shortlist.safetensors";

  /// The words of every list, and for each id of the vocabulary the words that may translate it.
  Shortlist(std::vector<int32_t> common, const std::vector<std::vector<int32_t>>& translations);

  static bool is_in(const std::string& directory);
  /// Reads the list of a model of so many words. Throws kNotFound, kFile or kFormat.
  static Shortlist read(const std::string& directory, int64_t vocabulary);
  /// Throws kFile.
  void write(const std::string& directory) const;

  /// The ids that a translation of `source` may hold, rising: common words, translations of its words, and
  /// these words themselves, since names are often copied.
  std::vector<int32_t> words(std::span<const int32_t> source) const;

  int64_t vocabulary() const { return static_cast<int64_t>(offsets_.size()) - 1; }
  /// How many translations all ids have together.
  int64_t size() const { return static_cast<int64_t>(translations_.size()); }
  int64_t common_words() const { return static_cast<int64_t>(common_.size()); }

 private:
  Shortlist() = default;
  void require_ids(const std::string& path) const;

  std::vector<int32_t> common_;
  std::vector<int32_t> offsets_;  // of each id's translations, and behind the last
  std::vector<int32_t> translations_;
};

}  // namespace heed::models
