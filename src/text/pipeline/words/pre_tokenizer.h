// Pre-tokenizers of tokenizer.json: they cut a text into pieces, which the model splits into tokens one by
// one.
#pragma once

#include <memory>
#include <vector>

#include "text/pipeline/aligned_text.h"
#include "text/pipeline/words/pattern.h"

namespace heed {

/// A text and its pieces.
struct CutText {
  struct Piece {
    uint32_t begin = 0, end = 0;  ///< bytes of `all`
    int32_t id = -1;              ///< of an added token, which is not cut
  };
  AlignedText all;
  std::vector<Piece> pieces;
};

/// Immutable and thread-safe.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Cuts every piece that is no added token. Empty pieces are dropped.
  virtual void apply(CutText& text) const = 0;
};

using PreTokenizerList = std::vector<std::unique_ptr<const PreTokenizer>>;

/// What becomes of the parts of a piece that match.
enum class CutBehavior {
  kRemoved,             ///< they are dropped
  kIsolated,            ///< each is a piece
  kMergedWithPrevious,  ///< each is the end of the piece before it
  kMergedWithNext,      ///< each is the beginning of the piece after it
  kContiguous           ///< adjacent ones are one piece
};

/// `inverted`: what lies between matches counts as the match.
std::unique_ptr<PreTokenizer> split_pre_tokenizer(Pattern pattern, CutBehavior behavior, bool inverted);
/// Drops white space.
std::unique_ptr<PreTokenizer> white_space_pre_tokenizer();
/// Runs of word characters and runs of others, without white space.
std::unique_ptr<PreTokenizer> word_pre_tokenizer();
std::unique_ptr<PreTokenizer> punctuation_pre_tokenizer(CutBehavior behavior);
/// Each digit, or each number, is a piece.
std::unique_ptr<PreTokenizer> digits_pre_tokenizer(bool individual);
/// Drops white space; each punctuation character is a piece.
std::unique_ptr<PreTokenizer> bert_pre_tokenizer();
/// Drops a character.
std::unique_ptr<PreTokenizer> delimiter_pre_tokenizer(char32_t delimiter);
/// Pieces of `length` characters.
std::unique_ptr<PreTokenizer> fixed_length_pre_tokenizer(size_t length);
/// Cuts where the script changes: Latin, Han (with the other scripts of Japanese), common characters such as
/// digits and punctuation, ... Spaces belong to the piece before them; those at the beginning are dropped.
std::unique_ptr<PreTokenizer> script_pre_tokenizer();
/// Writes each byte as a printable character (GPT-2: Radford et al., 2019), after a space is inserted before
/// each piece without one (`adds_space`) and each piece is cut into words (`cuts`;
/// text/unicode/word_pattern.h).
std::unique_ptr<PreTokenizer> byte_level_pre_tokenizer(bool adds_space, bool cuts);

struct MetaspaceOptions {
  enum class Prepend {
    kAlways,  ///< before every piece without it
    kFirst,   ///< before the piece at the beginning of the text
    kNever
  };
  char32_t replacement = 0x2581;
  Prepend prepend = Prepend::kAlways;
  bool cuts = true;  ///< before each replacement
};
/// Writes spaces as another character.
std::unique_ptr<PreTokenizer> metaspace_pre_tokenizer(const MetaspaceOptions& options);

}  // namespace heed
