// Random tokenization with a WordPiece vocabulary for training, against overfitting.
#pragma once

#include <string_view>
#include <vector>

#include "base/rng.h"
#include "text/pipeline/segmentation/token_model.h"
#include "text/tokenizers/vocabulary.h"

namespace heed {

inline constexpr size_t kMaxWordPieceLength = 100;  ///< in characters; longer words are unknown
inline constexpr std::string_view kContinuesWord = "##";

/// Depends only on `random` and the text.
struct WordPieceDropout {
  /// The probability of skipping a matching piece in favour of a shorter one (MaxMatch-Dropout: Hiraoka,
  /// 2022). Single characters are never skipped.
  double pieces = 0;
  /// The probability that a word becomes [UNK] (word dropout: Iyyer et al., 2015).
  double words = 0;
  Random* random = nullptr;  ///< must be set
};

/// Appends the tokens of a word. Special tokens are ordinary text: those of the vocabulary, and `others`.
void drop_out(std::string_view word, const Vocabulary& vocabulary, const std::vector<int32_t>& others,
              const WordPieceDropout& dropout, std::vector<ModelToken>& tokens);

}  // namespace heed
