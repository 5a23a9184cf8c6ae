// Joins the translations of a line's parts, with their scores and word alignments.
#pragma once

#include <string_view>
#include <vector>

#include "models/seq2seq.h"
#include "nn/context.h"
#include "text/tokenizers/translation_tokenizer.h"
#include "translate/parts/translation_window.h"
#include "translate/translation.h"
#include "translate/words/alignment.h"

namespace heed::translate {

class TranslationAssembler {
 public:
  struct Options {
    double length_penalty = 1;
    size_t prefix_tokens = 0;  ///< at the beginning of the first translated part, which scores leave out
    bool align = false;        ///< compute word alignments, with an additional forward pass per candidate
    bool confidence = false;   ///< compute the confidence of words
    AlignmentOptions alignment = {};
  };
  /// All arguments but the options must outlive this.
  TranslationAssembler(const models::Seq2Seq& model, const nn::Context& context,
                       const TranslationTokenizer& tokenizer, const Options& options)
      : model_(model), context_(context), tokenizer_(tokenizer), options_(options) {}

  /// The translation of a line whose parts all have their hypotheses. Thread-safe.
  Translation assemble(const TranslationWindow& window, size_t line) const;

 private:
  Candidate join(const TranslationWindow& window, size_t line, size_t rank) const;
  template <typename Visit>
  void visit_parts(const TranslationWindow& window, size_t line, size_t rank, Visit&& visit) const;
  std::vector<WordLink> align(const TranslationWindow& window, size_t line, size_t rank) const;
  std::vector<double> confidence(const TranslationWindow& window, size_t line, size_t rank,
                                 std::string_view text) const;
  std::vector<WordLink> align_part(const LinePart& part, const std::vector<int>& source_words,
                                   const std::vector<int32_t>& ids) const;

  const models::Seq2Seq& model_;
  nn::Context context_;
  const TranslationTokenizer& tokenizer_;
  Options options_;
};

}  // namespace heed::translate
