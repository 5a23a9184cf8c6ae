// Translates lines of text with a model, its tokenizer and a search, on all threads.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/stop.h"
#include "base/thread_pool.h"
#include "models/directory/model_directory.h"
#include "models/seq2seq.h"
#include "nn/head_scales.h"
#include "search/rules/constraints.h"
#include "search/scoring.h"
#include "search/search.h"
#include "text/tokenizers/translation_tokenizer.h"
#include "translate/line_translator.h"
#include "translate/parts/line_splitter.h"
#include "translate/parts/term_placement.h"
#include "translate/parts/translation_assembly.h"
#include "translate/parts/translation_window.h"
#include "translate/translation.h"
#include "translate/values/repair_trials.h"
#include "translate/words/alignment.h"

namespace heed::translate {

struct TranslatorOptions {
  heed::search::SearchOptions search = {};  ///< piece_starts is computed if it is null and needed
  heed::search::SearchBudget budget = {};   ///< per thread
  /// Split lines into sentences and translate each separately.
  bool split_sentences = false;
  /// Preserve URLs, format strings, numbers etc. (text/terms/protected_spans.h). A model with placeholder
  /// tokens ⟦0⟧, ⟦1⟧, ... reads these instead. If a span is missing in a translation, the sentence is
  /// translated again with a constrained search.
  bool protect_spans = false;
  /// Required translations of terms; null: none.
  std::shared_ptr<const Glossary> glossary = {};
  /// True-case lines in capitals or title case before translation, and convert translations of lines in
  /// capitals to capitals, unless disabled by the tokenizer's settings.
  bool true_case = false;
  /// Lines of more tokens than this (or than the model's maximum) are split into sentences, and longer
  /// sentences into parts, since models translate lengths badly that are rare in training data. 0: the
  /// model's maximum.
  int64_t max_part_tokens = 128;
  /// Compare numbers, times, dates, codes and addresses of source and translation (translate/values/), and
  /// names; search again where they differ, and warn where they still do. For German, English and Spanish.
  bool check_values = false;
  heed::search::Constraints constraints = {};
  bool align = false;       ///< compute word alignments, with an additional forward pass per candidate
  bool confidence = false;  ///< compute Candidate::word_confidence
  AlignmentOptions alignment = {};
  nn::HeadScales heads = {};  ///< attention heads that are switched off or scaled
  /// Number of lines that are read, sorted by length, translated and returned at a time.
  size_t window = 2048;
  /// Maximum numbers of translated parts (sentences, or parts of long ones) and of their tokens in a window;
  /// beyond them, translate() throws kUsage before it searches. 0: no limit.
  size_t max_sentences = 0, max_source_tokens = 0;
  /// Maximum number of all parts of a window, also of those that are copied; as above.
  size_t max_parts = 0;
  /// Runs searches together with those of other callers; null: on the translator's own pool.
  heed::search::SearchExecutor* executor = nullptr;
};

/// The log-probability of a given translation.
struct TargetScore {
  std::vector<int32_t> ids;
  std::vector<std::string> pieces;
  std::vector<float> log_probabilities;  ///< of each token, the end token last
  double log_probability = 0;            ///< their sum
};

class Translator : public LineTranslator {
 public:
  /// Arguments must outlive the translator, except for its options. Throws kUsage for invalid options.
  Translator(const models::Seq2Seq& model, const nn::Context& context, const TranslationTokenizer& tokenizer,
             ThreadPool& pool, TranslatorOptions options = {});
  Translator(const models::LoadedModel& model, const TranslationTokenizer& tokenizer, ThreadPool& pool,
             TranslatorOptions options);
  Translator(const Translator&) = delete;
  Translator& operator=(const Translator&) = delete;

  using LineTranslator::translate;
  void translate(const NextLine& next, const std::function<void(Translation)>& take,
                 const Control& control) const override;

  /// Scores sentence pairs by teacher forcing, in order. Throws kUsage, with its number, for a pair longer
  /// than the model's maximum, and Cancelled soon after `stop` is requested.
  std::vector<TargetScore> score(const std::vector<std::pair<std::string, std::string>>& pairs,
                                 const Stop& stop = {}) const;

  /// Adds a warning for each required text that the best candidate lacks.
  void warn_of_missing(Translation& translation) const;
  /// The texts that translations must contain, as the model writes them.
  const std::vector<std::string>& required_texts() const { return options_.constraints.required; }

 private:
  /// The required texts of a part that are missing in any hypothesis, with counts.
  struct Missing {
    std::vector<bool> texts;
    size_t count = 0;
  };
  /// What to search for a part.
  struct PartSentence : search::SearchSentence {
    bool capitals = false;  ///< as in LinePart
  };
  void run(std::vector<PartSentence> sentences, const search::Search::TakeHypotheses& take,
           const Control& control) const;
  void require_texts(TranslationWindow& window) const;
  void distribute_required(TranslationWindow& window, const Control& control) const;
  void search_again(TranslationWindow& window, const Control& control) const;
  struct Replacement;
  void replace_words(TranslationWindow& window, std::vector<Replacement> replacements,
                     const Control& control) const;
  /// Whether values are checked, for these languages.
  bool checks_values() const { return source_values_ != nullptr && target_values_ != nullptr; }
  struct Differing;
  std::string text_of_part(const TranslationWindow& window, size_t number,
                           const std::vector<int32_t>& ids) const;
  std::string_view source_of_part(const TranslationWindow& window, size_t number) const;
  RepairedTexts texts_of_part(const TranslationWindow& window, size_t number) const;
  ValueDifferences differing_values(const TranslationWindow& window, size_t number,
                                    const search::Hypothesis& hypothesis) const;
  const search::Search& search_of(bool capitals) const;
  bool holds_forbidden(const LinePart& part, const search::Hypothesis& hypothesis) const;
  size_t tokens_within(const TranslationWindow& window, size_t number, const std::vector<int32_t>& ids,
                       size_t bytes) const;
  std::optional<PartSentence> sentence_of_trial(const TranslationWindow& window, size_t number,
                                                const RepairTrial& trial) const;
  struct HallucinatedName;
  struct Misnamed;
  std::vector<HallucinatedName> hallucinated_names(const TranslationWindow& window, size_t number,
                                                   const search::Hypothesis& hypothesis) const;
  std::optional<SoftAlignment> alignment_of_part(const TranslationWindow& window, size_t number) const;
  std::string aligned_name(const TranslationWindow& window, size_t number, const SoftAlignment& alignment,
                           size_t token) const;
  std::vector<std::vector<search::Hypothesis>> search_trials(std::vector<PartSentence> sentences,
                                                             const Control& control) const;
  void repair_names(TranslationWindow& window, std::vector<Misnamed>& misnamed, const Control& control) const;
  void check_names(TranslationWindow& window, const Control& control) const;
  std::vector<Differing> find_differing(const TranslationWindow& window, const Control& control) const;
  void repair_values(TranslationWindow& window, std::vector<Differing>& differing,
                     const Control& control) const;
  void check_values(TranslationWindow& window, const Control& control) const;
  search::RequiredPhrase phrase_of(const LinePart& part, size_t required) const;
  bool adds_term(const LinePart& part, const search::Hypothesis& before,
                 const search::Hypothesis& after) const;
  std::vector<int32_t> ids_that_begin(std::initializer_list<search::PieceStart> starts) const;
  void rescore(const LinePart& part, size_t free, search::Hypothesis& hypothesis) const;
  /// The placeholders that a part has no span for, which no translation of it contains.
  std::vector<int32_t> absent_marks(const LinePart& part) const;
  /// Whether a translation may have a token and the end token behind a prefix.
  bool has_room_behind(const std::vector<int32_t>& source, const std::vector<int32_t>& prefix) const;
  bool extend_prefix(const LinePart& part, Replacement& replacement) const;
  std::optional<TokenRange> range_of_term(const LinePart& part, size_t required,
                                          const std::vector<int32_t>& ids) const;
  Missing missing(const LinePart& part, const std::vector<search::Hypothesis>& hypotheses) const;
  PartSentence sentence_of(const TranslationWindow& window, size_t part) const;
  void split(TranslationWindow& window, const Control& control) const;
  void require_within_limits(const TranslationWindow& window) const;
  void search_parts(TranslationWindow& window, const Progress& before, const Control& control) const;
  search::ScoringPair encode_pair(const std::pair<std::string, std::string>& pair, size_t number) const;

  const models::Seq2Seq& model_;
  TranslatorOptions options_;
  nn::Context context_;  // refers to the heads in options_
  const TranslationTokenizer& tokenizer_;
  ThreadPool& pool_;
  const ValueLanguage *source_values_, *target_values_;  // null: no check of values
  LineSplitter splitter_;
  search::Search search_;
  std::optional<search::Search> capitals_search_;  // of parts in capitals, if forbidden words differ there
  std::vector<int32_t> prefix_;
  TranslationAssembler assembler_;
  std::vector<search::RequiredPhrase> required_;  // the required texts of the constraints
  std::vector<int32_t> placeholders_;             // ids of ⟦0⟧, ⟦1⟧, ..., which no given target has
  std::vector<int32_t> marks_;                    // of those that stand for spans in searches
};

}  // namespace heed::translate
