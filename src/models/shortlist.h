// A vocabulary shortlist: the target tokens that a translation of a given sentence may contain.
//
// In a small model, the logits of the whole vocabulary are a quarter of a step's work, and most are
// irrelevant: a translation consists of translations of source tokens and of frequent tokens (Jean et al.,
// "On using very large target vocabulary for neural machine translation", 2015, section 3.3). The shortlist
// of a sentence depends only on that sentence, so results are batch-invariant.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heed/tensor.h"

namespace heed::models {

class Shortlist {
 public:
  /// The tokens of every shortlist, and the translations of each token id.
  Shortlist(std::vector<int32_t> common, const std::vector<std::vector<int32_t>>& translations);

  /// Loads the shortlist of a model with this vocabulary size. Throws kNotFound, kFile or kFormat.
  static Shortlist read(const std::string& directory, int64_t vocabulary);
  /// Throws kFile.
  void write(const std::string& directory) const;

  /// The sorted ids that a translation of `source` may contain: common tokens, translations of its tokens,
  /// and these tokens themselves, since names are often copied. Source and target have one vocabulary.
  std::vector<int32_t> tokens(std::span<const int32_t> source) const;

  int64_t vocabulary() const { return static_cast<int64_t>(offsets_.size()) - 1; }
  /// The total number of translations.
  int64_t size() const { return translations_.size(); }

 private:
  Shortlist() = default;
  void require_ids(const std::string& path) const;
  std::span<const int32_t> translations() const {
    return {translations_.data<int32_t>(), static_cast<size_t>(translations_.size())};
  }

  std::vector<int32_t> common_;
  std::vector<int32_t> offsets_;  // where each id's translations begin, and the end of the last
  Tensor translations_;           // int32: read into place, since it is large
};

}  // namespace heed::models
