// The models of tokenizer.json: they split the pieces of a text into tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace heed {

struct ModelToken {
  int32_t id = 0;
  uint32_t begin = 0, end = 0;  ///< bytes of the piece
  bool unknown = false;         ///< an unknown token that shows the text itself instead of its name
};

/// Options of subword regularization (Kudo, "Subword regularization", 2018).
struct SubwordSampling {
  double alpha = 0.1;  ///< sample with probability proportional to P(segmentation)^alpha
  int nbest = 64;      ///< sample from the n best, 1 to 1024; 0: from all, which is faster
  int draws = 1;       ///< number of independent samples
};

/// Immutable and thread-safe.
class TokenModel {
 public:
  virtual ~TokenModel() = default;
  /// Appends the tokens of a piece, which is not empty.
  virtual void tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const = 0;
  /// The end of the first part of a piece whose tokens do not depend on the rest, so that repeated parts are
  /// tokenized once.
  virtual size_t first_part(std::string_view piece) const { return piece.size(); }
  /// Whether tokenizing takes so long that results are worth keeping.
  virtual bool is_slow() const { return true; }
  /// Samples segmentations of a text; depends only on the text and `random`. Throws kUsage for invalid
  /// options. Empty if the model has one segmentation only.
  virtual std::optional<std::vector<std::vector<ModelToken>>> sample(std::string_view, const SubwordSampling&,
                                                                     Random&) const {
    return {};
  }
};

struct BpeOptions {
  /// The token for characters outside of the vocabulary, which are dropped if it is empty.
  std::string unknown = {};
  bool fuses_unknown = false;  ///< adjacent unknown characters are one token
  bool byte_fallback = false;  ///< unknown characters become "<0xE4>", one token per byte
  bool whole_words = false;    ///< a piece that is in the vocabulary is one token, whatever the merges say
  std::string prefix = {};     ///< of characters that do not begin a piece
  std::string suffix = {};     ///< of the character that ends a piece
};

/// `pieces` by id; empty strings are ids of added tokens. Throws kFormat, with `name`, if a merge or the
/// unknown token is not in the vocabulary. `pieces` must outlive the model.
std::unique_ptr<TokenModel> bpe_model(const std::string& name, const std::vector<std::string>& pieces,
                                      const std::vector<std::pair<std::string, std::string>>& merges,
                                      const BpeOptions& options);

struct UnigramOptions {
  std::optional<int32_t> unknown = {};  ///< id
  bool byte_fallback = false;
};

/// A unigram language model (Kudo, 2018): the most probable segmentation. `pieces` by id, with their
/// log-probabilities.
std::unique_ptr<TokenModel> unigram_model(const std::string& name,
                                          const std::vector<std::pair<std::string, double>>& pieces,
                                          const UnigramOptions& options);

/// WordPiece (Wu et al., 2016): the longest matching pieces from left to right, with `prefix` after the
/// first; longer words than `longest` characters are unknown.
std::unique_ptr<TokenModel> word_piece_model(const std::string& name, const std::vector<std::string>& pieces,
                                             const std::string& unknown, const std::string& prefix,
                                             size_t longest);

/// Whole pieces only. If `unknown` is not in the vocabulary, unknown pieces are an error.
std::unique_ptr<TokenModel> word_level_model(const std::string& name, const std::vector<std::string>& pieces,
                                             const std::string& unknown);

// Models that see the bytes of a text, which may be ill-formed UTF-8.

/// Byte b has the id b.
std::unique_ptr<TokenModel> byte_model();

/// One id per character, in this order. Throws kFormat for a duplicate. Other characters in a text are an
/// error (kText).
std::unique_ptr<TokenModel> character_model(const std::u32string& characters);

/// Ids from 0 to size - 1 in digits, separated by white space; anything else is an error (kText).
std::unique_ptr<TokenModel> id_model(int32_t size);

/// Byte-level BPE over the words of word_end(). `pieces` as bpe_model() has them, spelled in
/// characters_of_bytes(). A byte without a piece is an error (kText).
std::unique_ptr<TokenModel> byte_bpe_model(const std::string& name, const std::vector<std::string>& pieces,
                                           const std::vector<std::pair<std::string, std::string>>& merges);

}  // namespace heed
