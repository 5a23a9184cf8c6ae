// tokenizer.json of Hugging Face's tokenizers, read into a description: what each part of the pipeline is, in
// order. What the parts mean, and which of them there are here, is told in text/tokenizer_recipes.h.
//
//   text -> normalizer -> pre_tokenizer -> model -> post_processor -> ids -> decoder -> text
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_file.h"
#include "text/added_tokens.h"

namespace heed {

/// One step of a part of the pipeline: {"type": "Digits", "individual_digits": true}.
struct TokenizerStep {
  std::string part;  ///< "normalizer", "pre_tokenizer", "post_processor", "decoder" or "model"
  std::string type;
  JsonObject settings;  ///< with "type"
};

struct TokenizerJson {
  std::string path;  ///< the file, for messages
  /// Empty where the file has null. The steps of sequences, also of sequences within them, stand in a row.
  std::vector<TokenizerStep> normalizer, pre_tokenizer, post_processor, decoder;
  TokenizerStep model;
  /// By id, those of added tokens among them.
  std::vector<std::string> pieces;
  std::vector<AddedToken> added;
  std::vector<std::pair<std::string, std::string>> merges;  ///< of a BPE model
};

/// Reads a file. Throws kNotFound, kFile, or kFormat with the file and the place that is wrong: above all,
/// ids must be 0 to n - 1, each once.
TokenizerJson read_tokenizer_json(const std::string& path);

/// Throws kFormat: "FILE: the pre_tokenizer {"type":"Digits",...} WHY".
[[noreturn]] void refuse_step(const TokenizerJson& json, const TokenizerStep& step, std::string_view why);

/// The steps of one part, taken from first to last by whoever knows what to expect.
class TokenizerSteps {
 public:
  /// `json` and `steps` must outlive this. `needed` says what would be right: "byte-level BPE needs
  /// ByteLevel".
  TokenizerSteps(const TokenizerJson& json, const std::vector<TokenizerStep>& steps, std::string needed);

  /// The next step, if it is of this type.
  const TokenizerStep* take(std::string_view type);
  /// Throws where steps are left.
  void end() const;

 private:
  const TokenizerJson& json_;
  const std::vector<TokenizerStep>& steps_;
  std::string needed_;
  size_t next_ = 0;
};

/// What the template of a post-processor puts around a text: special tokens before and behind, spelt out.
struct TokenizerFrame {
  std::vector<std::string> before, behind;
};

/// What a step "TemplateProcessing" makes of one text. Throws kFormat where that is not tokens around the
/// text, all of type 0, or where its tokens' ids are not those of the vocabulary.
TokenizerFrame frame_of_template(const TokenizerJson& json, const TokenizerStep& step);

/// Whether the same step makes of two texts: `before` A `behind` B `behind`, of type 0 up to the first
/// `behind` and of type 1 from there.
bool pairs_like_bert(const TokenizerStep& step, const TokenizerFrame& frame);

}  // namespace heed
