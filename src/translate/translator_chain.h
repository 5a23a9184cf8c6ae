// Translates through other languages, where no model translates directly: German to Spanish with a model for
// German to English and one for English to Spanish (a pivot; Utiyama and Isahara, 2007). Each step reads the
// best translation of the one before it, line by line.
#pragma once

#include <memory>
#include <vector>

#include "heed/translator.h"
#include "models/directory/model_directory.h"
#include "text/tokenizers/translation_tokenizer.h"
#include "translate/line_translator.h"
#include "translate/translator.h"

namespace heed::translate {

/// A model, its tokenizer for the languages of the step, and its options: choices_of_step(), applied to the
/// model's. The references must outlive the chain.
struct ChainStep {
  const models::LoadedModel& model;
  const TranslationTokenizer& tokenizer;
  TranslatorOptions options;
  Languages languages = {};  ///< tags, where the tokenizer does not say them
};

/// The choices for one of several steps. All of them search, split sentences, protect text, align and give
/// confidences as is chosen. The n best translations, the prefix, required and forbidden texts, samples and
/// glossary terms are those of the last step; with a glossary, the others align. Throws an OptionError for
/// options that are invalid, and for `ablate`, which names heads of one model, if there are several steps.
TranslateOptions choices_of_step(TranslateOptions choices, size_t step, size_t steps);

/// With one step, the same as its Translator. With several, a Translation has
/// - source and source_pieces of the first step,
/// - candidates of the last step, with its scores and pieces: the translations of the best intermediate text,
/// - the alignment of the steps combined (composed_links()), and confidences (confidence_through()),
/// - warnings about values that source and translation say otherwise, and about required texts that the
///   translation lacks; between languages whose values are not compared, those of all steps.
/// Glossary terms are found in the source; the last step writes their target terms for the words that the
/// steps before it translate them to (carried_terms()).
class TranslatorChain : public LineTranslator {
 public:
  /// Throws kUsage for no steps, for a step that does not read the language that the one before it writes,
  /// and for invalid options.
  TranslatorChain(std::vector<ChainStep> steps, ThreadPool& pool);

  using LineTranslator::translate;
  /// As those of the steps. The lines of a window go through all steps before the next window is read; lines
  /// are complete when they have gone through the last.
  void translate(const NextLine& next, const std::function<void(Translation)>& take,
                 const Control& control) const override;

 private:
  std::vector<Translation> translate_window(const std::vector<std::string>& lines, const Progress& before,
                                            const Control& control) const;
  void compare_values(Translation& translation) const;

  std::vector<std::unique_ptr<const Translator>> steps_;
  std::vector<std::string> languages_;        // tags: the source, those between, the target
  std::shared_ptr<const Glossary> glossary_;  // null: none
  std::vector<std::string> given_;            // texts that translations must have, and how they begin
  size_t window_;
  bool compares_values_;
};

/// Where glossary terms of a source are in its translation: for each the longest run of words that are linked
/// with it, without punctuation at its ends; without a link, a place without text, as far into the
/// translation as the term is into the source. In order and without overlap; what overlaps a term before it
/// is left out.
std::vector<Glossary::Match> carried_terms(const std::vector<Glossary::Match>& terms, std::string_view source,
                                           std::string_view translation, const std::vector<WordLink>& links);

/// The links from the words of a source to those of a translation, from the links of two steps: words that
/// are linked to the same word between. Sorted by target word.
std::vector<WordLink> composed_links(const std::vector<WordLink>& first, const std::vector<WordLink>& second);

/// The confidences of the words of a translation of an intermediate text, whose words have confidences, too:
/// a word is right if the step has translated it rightly and the words were right that it is linked to, so
/// its confidence is the product of its own and the mean of theirs; for a word without links, of all.
std::vector<double> confidence_through(const std::vector<double>& intermediate,
                                       const std::vector<WordLink>& links, std::vector<double> own);

}  // namespace heed::translate
