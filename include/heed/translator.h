// Translation, scoring and attention weights with a translation model.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/cancel.h"
#include "heed/error.h"
#include "heed/trace.h"

namespace heed {

/// Unset options default to the settings of the model directory. docs/translating.md has their ranges.
struct TranslateOptions {
  std::optional<int> beam{};  ///< beam size; 1 is greedy search
  int nbest = 1;              ///< number of translations, at most `beam`; a default beam grows to it

  /// Hypotheses are ranked by (sum of log-probabilities) / length^length_penalty.
  std::optional<double> length_penalty{};
  /// Maximum length of a translation in tokens, including start and end token.
  std::optional<int64_t> max_length{};
  std::optional<int> no_repeat_ngram{};   ///< repeated n-grams of this many tokens are blocked; 0: none
  std::optional<int64_t> batch_tokens{};  ///< source tokens of a batch; does not change results [4096]
  bool split_sentences = true;            ///< split lines into sentences and translate each separately

  /// Copy URLs, code, numbers, emojis etc. unchanged.
  bool placeholders = true;
  /// Compare numbers, times, dates, codes, addresses and names of source and translation, search again where
  /// they differ, or where the model seems to have hallucinated a name, and warn where they still do
  /// (TranslatedText::warnings). For German, English and Spanish.
  bool check_values = true;
  /// Terms and their required translations.
  std::vector<std::pair<std::string, std::string>> glossary{};

  std::string prefix{};  ///< every translation begins with this text; its last word must be complete
  std::vector<std::string> require{};  ///< texts that every translation contains
  /// Words and phrases that no translation contains: without capitals, in any case; "word*": all words that
  /// begin so.
  std::vector<std::string> forbid{};

  /// Sample `nbest` translations instead of searching; `beam` must then be unset. Samples of a line depend on
  /// the seed, the text and the number of the line.
  bool sample = false;
  std::optional<double> temperature{};  ///< of sampling; 0: greedy search
  std::optional<int> top_k{};           ///< sample from the k most probable tokens; 0: all
  std::optional<double> top_p{};        ///< sample from the most probable tokens with this total probability
  std::optional<uint64_t> seed{};       ///< [1]

  /// Heads whose output counts as zeros, as in Translator::attend.
  std::vector<std::string> ablate{};
  bool alignment = false;   ///< compute TranslatedText::alignment, with another forward pass
  bool confidence = false;  ///< compute TranslatedText::confidence and word_confidence

  /// Set by another thread: the call throws Cancelled soon after.
  const std::atomic<bool>* cancelled = nullptr;
};

/// One translation.
struct TranslatedText {
  std::string text;
  double log_probability = 0;
  double score = 0;  ///< log_probability / length^length_penalty; the length includes the end token
  std::vector<std::string> pieces;  ///< subword tokens, including the end token
  /// Word alignment, if it is asked for: indices of words of the source and of the translation, separated by
  /// white space, counted from 0.
  std::vector<std::pair<int, int>> alignment;
  /// If it is asked for: the probability that each word, separated by white space, also stands in a human
  /// translation, calibrated on text that the bundled models were not trained on; 1 for text that is copied.
  std::vector<double> word_confidence;
  double confidence = 0;  ///< the mean of word_confidence; 1 for no words
  /// Of a translator made by Translator::chain(): what the best translations of all models but the last say.
  std::vector<std::string> intermediate;
  /// Of the best translation: what it says otherwise than the source in numbers, times, dates, codes and
  /// addresses, and names that the model seems to have hallucinated, a sentence each.
  std::vector<std::string> warnings;
};

/// The languages of a model that has a token for each, such as "eng_Latn" of NLLB-200 and "de" of M2M-100;
/// empty: those of its directory.
struct Languages {
  std::string source{}, target{};
};

/// A loaded model. Thread-safe; all calls share the translator's threads.
class Translator {
 public:
  /// Opens a directory in Hugging Face's layout: Marian, or another family of docs/models.md. `threads` 0:
  /// one per processor; results do not depend on it. `precision`: "float32", "int8", "int4" or, on
  /// processors with AVX512-BF16 or AMX, "bfloat16", of matrix products; empty: that of the weights as they
  /// are stored. `shortlist`: whether to restrict the target vocabulary to the shortlist of each source
  /// sentence; unset: if the model has one, for greedy search in int8 or int4. Throws Error; kUsage for an
  /// unknown language or precision, for a shortlist that is not there, and, when translating, if the model
  /// needs a target language and has none.
  explicit Translator(const std::string& directory, int threads = 0, const Languages& languages = {},
                      const std::string& precision = "", std::optional<bool> shortlist = {});
  /// Opens models through which a text passes in this order, such as one for German to English and one for
  /// English to Spanish; each translates the best translation of the one before it. nbest, prefix, require,
  /// forbid and sample are of the last one, and TranslatedText has its scores and pieces; alignments and
  /// confidences are those of the whole way. ablate, attend() and log_probability() are for one model alone
  /// and throw kUsage. Throws what the constructor throws, and kUsage for no models and for a model that does
  /// not read the language that the one before it writes.
  static Translator chain(const std::vector<std::string>& directories, int threads = 0,
                          const std::string& precision = "", std::optional<bool> shortlist = {});
  ~Translator();
  Translator(Translator&&) noexcept;
  Translator& operator=(Translator&&) noexcept;

  // All functions throw Error: kText for invalid UTF-8, kUsage for invalid options.

  /// The best translation of each line; empty lines remain empty.
  std::vector<std::string> translate(const std::vector<std::string>& lines,
                                     const TranslateOptions& options = {}) const;
  std::string translate(const std::string& line, const TranslateOptions& options = {}) const;
  /// The n best translations of a line, best first.
  std::vector<TranslatedText> alternatives(const std::string& line,
                                           const TranslateOptions& options = {}) const;
  /// The same for each line.
  std::vector<std::vector<TranslatedText>> alternatives(const std::vector<std::string>& lines,
                                                        const TranslateOptions& options = {}) const;

  /// Translates a document in "html" or "markdown": its text is translated, everything else stays as it is.
  /// Throws kUsage for another format, and for options that are for lines: nbest, prefix, require, sample,
  /// alignment, confidence, and placeholders that are off.
  std::string translate_document(const std::string& document, const std::string& format,
                                 const TranslateOptions& options = {}) const;
  /// The same; `warnings` becomes what the translation says otherwise than the document in numbers, times,
  /// dates, codes and addresses.
  std::string translate_document(const std::string& document, const std::string& format,
                                 const TranslateOptions& options, std::vector<std::string>& warnings) const;

  /// The attention weights of all heads and layers for the model's own translation of `source`, or for
  /// `target` if given (forced decoding). `ablate` switches heads off, whose output then counts as zeros:
  /// "cross:3:5" is the fifth head of the third layer; layer and head may be "all".
  Trace attend(const std::string& source, const std::string& target = "",
               const std::vector<std::string>& ablate = {}) const;

  /// log P(target | source), including the end token.
  double log_probability(const std::string& source, const std::string& target) const;

 private:
  struct State;
  explicit Translator(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace heed
