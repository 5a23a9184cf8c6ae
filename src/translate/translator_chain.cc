#include "translate/translator_chain.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/stop.h"
#include "text/sentences/language_codes.h"
#include "text/unicode/characters.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"
#include "translate/translate_options.h"
#include "translate/values/repair_trials.h"
#include "translate/words/confidence.h"

namespace heed::translate {
namespace {

/// Bytes [begin, end) of a text.
struct TextRange {
  size_t begin = 0, end = 0;
};

/// The words that links are between.
std::vector<TextRange> word_ranges(std::string_view text) {
  std::vector<TextRange> ranges;
  for (const std::string_view word : split_whitespace(text)) {
    const auto begin = static_cast<size_t>(word.data() - text.data());
    ranges.push_back({begin, begin + word.size()});
  }
  return ranges;
}

/// From the first to the last word of the longest run of chosen ones, which are in order; empty if none is.
TextRange longest_run(const std::vector<size_t>& chosen, const std::vector<TextRange>& words) {
  TextRange longest;
  size_t most = 0, run = 0;
  for (size_t n = 0; n < chosen.size(); ++n) {
    run = n > 0 && chosen[n] == chosen[n - 1] + 1 ? run + 1 : 1;
    if (run <= most) continue;
    most = run;
    longest = {words[chosen[n + 1 - run]].begin, words[chosen[n]].end};
  }
  return longest;
}

/// For each of some source words, those that it is linked to. Links of other words are left out.
std::vector<std::vector<size_t>> linked_words(const std::vector<WordLink>& links, size_t sources,
                                              size_t targets) {
  std::vector<std::vector<size_t>> linked(sources);
  for (const auto& [from, to] : links) {
    const auto source = static_cast<size_t>(from), target = static_cast<size_t>(to);
    if (source < sources && target < targets) linked[source].push_back(target);
  }
  return linked;
}

/// A range without punctuation at its ends; empty if it has nothing else.
TextRange without_punctuation(std::string_view text, TextRange range) {
  size_t begin = range.end, end = range.begin;
  for (size_t at = range.begin; at < range.end;) {
    const size_t first = at;
    if (is_punctuation(next_code_point(text, at))) continue;
    begin = std::min(begin, first);
    end = at;
  }
  return begin < end ? TextRange{begin, end} : TextRange{};
}

/// Replaces a translation by that of its best candidate; the source remains.
void continue_with(Translation& translation, Translation next, const std::string& language) {
  const Candidate& intermediate = translation.best();
  for (Candidate& candidate : next.candidates) {
    if (!candidate.word_confidence.empty()) {
      candidate.word_confidence = confidence_through(intermediate.word_confidence, candidate.alignment,
                                                     std::move(candidate.word_confidence));
    }
    candidate.alignment = composed_links(intermediate.alignment, candidate.alignment);
  }
  translation.through.push_back(language);
  translation.intermediate.push_back(intermediate.text);
  translation.candidates = std::move(next.candidates);
  translation.warnings.insert(translation.warnings.end(), next.warnings.begin(), next.warnings.end());
}

/// A tag.
std::string language_of(const std::string& of_tokenizer, const std::string& otherwise) {
  return language_tag(of_tokenizer.empty() ? otherwise : of_tokenizer);
}

}  // namespace

TranslateOptions choices_of_step(TranslateOptions choices, size_t step, size_t steps) {
  if (steps == 1) return choices;
  search::require_valid(choices);
  if (!choices.ablate.empty()) {
    fail_option(
        "{} names heads of one model, and this translation goes through {} models: choose one of them",
        search::shown_name("ablate"), steps);
  }
  if (step + 1 < steps) {
    choices.alignment = choices.alignment || !choices.glossary.empty();  // where its terms are
    const TranslateOptions usual;
    visit_translate_options([&](const search::OptionRow& row, auto field, const auto&...) {
      if (row.of_last_model) choices.*field = usual.*field;
    });
  }
  if (step > 0)
    choices.alignment = choices.alignment || choices.confidence;  // which words the confidences are of
  return choices;
}

TranslatorChain::TranslatorChain(std::vector<ChainStep> steps, ThreadPool& pool) {
  if (steps.empty()) fail(ErrorKind::kUsage, "a translation needs at least one model");
  window_ = steps[0].options.window;
  compares_values_ = true;
  for (ChainStep& step : steps) {
    const std::string source = language_of(step.tokenizer.source_language(), step.languages.source),
                      target = language_of(step.tokenizer.target_language(), step.languages.target);
    if (languages_.empty()) {
      languages_.push_back(source);
    } else if (!source.empty() && !languages_.back().empty() && source != languages_.back()) {
      fail(ErrorKind::kUsage,
           "'{}' reads {}, but the model before it writes {}: give models in the order in "
           "which a text passes through them",
           step.model.directory(), source, languages_.back());
    } else if (languages_.back().empty()) {
      languages_.back() = source;
    }
    languages_.push_back(target);
    if (steps.size() > 1 && &step == &steps.back()) glossary_ = std::exchange(step.options.glossary, nullptr);
    const std::string prefix = step.options.constraints.prefix;
    compares_values_ =
        compares_values_ && step.options.check_values && step.model.seq2seq().translates_sentences();
    steps_.push_back(std::make_unique<Translator>(step.model, step.tokenizer, pool, std::move(step.options)));
    given_ = steps_.back()->required_texts();  // of the last step, which alone has any
    given_.push_back(prefix);
  }
}

void TranslatorChain::translate(const NextLine& next, const std::function<void(Translation)>& take,
                                const Control& control) const {
  if (steps_.size() == 1) return steps_[0]->translate(next, take, control);
  Progress before;
  while (true) {
    std::vector<std::string> lines;
    for (std::string line; lines.size() < window_ && next(line);) lines.push_back(line);
    if (lines.empty()) return;
    for (Translation& translation : translate_window(lines, before, control)) take(std::move(translation));
    before.lines += lines.size();
    for (const std::string& line : lines) before.bytes += static_cast<double>(line.size() + 1);
  }
}

/// Progress within a window: each step is an equal share of the bytes.
std::vector<Translation> TranslatorChain::translate_window(const std::vector<std::string>& lines,
                                                           const Progress& before,
                                                           const Control& control) const {
  const auto bytes_of = [](const std::vector<std::string>& texts) {
    return std::accumulate(texts.begin(), texts.end(), 0.0, [](double sum, const std::string& text) {
      return sum + static_cast<double>(text.size() + 1);
    });
  };
  const double share = bytes_of(lines) / static_cast<double>(steps_.size());
  std::vector<Translation> translations;
  std::vector<std::vector<Glossary::Match>> terms;  // of each line, in what the next step reads
  if (glossary_ != nullptr) {
    for (const std::string& line : lines) terms.push_back(glossary_->find(line));
  }
  for (size_t step = 0; step < steps_.size(); ++step) {
    std::vector<std::string> texts = lines;
    for (size_t n = 0; n < translations.size(); ++n) texts[n] = translations[n].best().text;
    const bool last = step + 1 == steps_.size();
    Control inner{.progress = {},
                  .stop = control.stop,
                  .first_line = control.first_line + before.lines,
                  .terms = last && glossary_ != nullptr ? &terms : nullptr};
    if (control.progress) {
      inner.progress = [&, step, last, all = bytes_of(texts)](const Progress& done) {
        const size_t complete = last ? done.lines : 0;
        control.progress(
            {before.lines + complete, before.bytes + share * (static_cast<double>(step) + done.bytes / all)});
      };
    }
    size_t at = 0;
    steps_[step]->translate(
        texts,
        [&](Translation translation) {
          if (!last && glossary_ != nullptr) {
            terms[at] = carried_terms(terms[at], translation.source, translation.best().text,
                                      translation.best().alignment);
          }
          if (step == 0) {
            translations.push_back(std::move(translation));
          } else {
            continue_with(translations[at], std::move(translation), languages_[step]);
          }
          ++at;
        },
        inner);
  }
  if (compares_values_) {
    const StopScope stop(control.stop);
    for (Translation& translation : translations) compare_values(translation);
  }
  return translations;
}

/// What counts is what the source and the last translation say: a step may have put right what another had
/// wrong.
void TranslatorChain::compare_values(Translation& translation) const {
  const std::string &source = languages_.front(), &target = languages_.back();
  if (value_language(source) == nullptr || value_language(target) == nullptr) return;
  std::vector<std::string> given = given_;
  if (glossary_ != nullptr) {
    for (const Glossary::Match& term : glossary_->find(translation.source)) given.push_back(term.target);
  }
  translation.warnings = value_warnings({translation.source, translation.best().text}, source, target, given);
  steps_.back()->warn_of_missing(translation);
}

std::vector<Glossary::Match> carried_terms(const std::vector<Glossary::Match>& terms, std::string_view source,
                                           std::string_view translation, const std::vector<WordLink>& links) {
  const std::vector<TextRange> from = word_ranges(source), to = word_ranges(translation);
  const std::vector<std::vector<size_t>> linked = linked_words(links, from.size(), to.size());
  std::vector<Glossary::Match> carried;
  for (const Glossary::Match& term : terms) {
    std::set<size_t> others;
    const auto first = std::ranges::upper_bound(from, term.begin, {}, &TextRange::end);
    for (auto word = first; word != from.end() && word->begin < term.end; ++word) {
      const std::vector<size_t>& of_word = linked[static_cast<size_t>(word - from.begin())];
      others.insert(of_word.begin(), of_word.end());
    }
    const TextRange place = longest_run({others.begin(), others.end()}, to);
    TextRange text = without_punctuation(translation, place);
    if (text.begin == text.end)
      text.begin = text.end = translation.size() * term.begin / std::max<size_t>(source.size(), 1);
    carried.push_back({text.begin, text.end, term.target});
  }
  std::ranges::stable_sort(carried, {}, &Glossary::Match::begin);
  size_t end = 0;
  std::erase_if(carried, [&](const Glossary::Match& match) {
    if (match.begin < end) return true;
    end = match.end;
    return false;
  });
  return carried;
}

std::vector<WordLink> composed_links(const std::vector<WordLink>& first,
                                     const std::vector<WordLink>& second) {
  std::vector<WordLink> by_other = first, links;
  std::ranges::sort(by_other, {}, &WordLink::second);
  for (const auto& [between, target] : second) {
    auto link = std::ranges::lower_bound(by_other, between, {}, &WordLink::second);
    for (; link != by_other.end() && link->second == between; ++link) links.emplace_back(link->first, target);
  }
  std::ranges::sort(links, {}, [](const WordLink& link) { return std::pair(link.second, link.first); });
  links.erase(std::unique(links.begin(), links.end()), links.end());
  return links;
}

std::vector<double> confidence_through(const std::vector<double>& intermediate,
                                       const std::vector<WordLink>& links, std::vector<double> own) {
  std::vector<double> sums(own.size(), 0), counts(own.size(), 0);
  for (const auto& [from, to] : links) {
    const auto source = static_cast<size_t>(from), target = static_cast<size_t>(to);
    if (source >= intermediate.size() || target >= own.size()) continue;
    sums[target] += intermediate[source];
    ++counts[target];
  }
  const double all = text_confidence(intermediate);
  for (size_t n = 0; n < own.size(); ++n) own[n] *= counts[n] > 0 ? sums[n] / counts[n] : all;
  return own;
}

}  // namespace heed::translate
