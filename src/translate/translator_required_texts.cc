// The required texts of a Translator: protected spans, glossary terms and the caller's texts. Parts whose
// translation lacks one are translated again, with a constrained search or a longer prefix.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/text/ascii.h"
#include "text/terms/protected_spans.h"
#include "text/unicode/true_case.h"
#include "text/unicode/whitespace.h"
#include "translate/parts/part_text.h"
#include "translate/translator.h"
#include "translate/words/word_alignment.h"

namespace heed::translate {
namespace {

/// Adds a required text without a source term.
void add_required(LinePart& part, const std::string& text) {
  part.required.push_back({text, SpanKind::kTerm});
  part.required_source.emplace_back(0, 0);
}

}  // namespace

/// Adds the required texts to lines of one sentence.
void Translator::require_texts(TranslationWindow& window) const {
  for (SplitLine& line : window.lines) {
    const auto is_translated = [](const LinePart& part) { return part.literal.empty(); };
    if (std::ranges::count_if(line.parts, is_translated) != 1) continue;
    LinePart& part = *std::ranges::find_if(line.parts, is_translated);
    for (const std::string& text : options_.constraints.required) {
      add_required(part, text);
    }
  }
}

Translator::Missing Translator::missing(const LinePart& part,
                                        const std::vector<search::Hypothesis>& hypotheses) const {
  Missing result{std::vector<bool>(part.required.size()), 0};
  std::vector<RequiredText> wanted = part.required;
  for (size_t n = 0; n < part.marks.size(); ++n) wanted[n].text = part.marks[n];
  for (const search::Hypothesis& hypothesis : hypotheses) {
    const std::string text = tokenizer_.decode(hypothesis.ids);
    for (const size_t n : missing_texts(text, wanted)) {
      if (wanted[n].kind == SpanKind::kNumber && checks_values())
        continue;  // values, which may look different
      result.texts[n] = true;
      ++result.count;
    }
    for (size_t n = 0; n < part.marks.size(); ++n) {
      if (std::ranges::count(hypothesis.ids, marks_[n]) < 2) continue;
      result.texts[n] = true;
      ++result.count;
    }
  }
  return result;
}

/// Of the caller's texts. A translation that ends at its maximum length may lack one, and text that is copied
/// has none. Lines in capitals are translated to capitals.
void Translator::warn_of_missing(Translation& translation) const {
  if (strip(translation.source).empty()) return;
  const std::string& text = translation.best().text;
  std::vector<RequiredText> wanted;
  for (const std::string& each : options_.constraints.required) wanted.push_back({each, SpanKind::kTerm});
  for (const size_t n : missing_texts(text, wanted)) {
    if (count_phrase(text, to_capitals(wanted[n].text)) > 0) continue;
    translation.warnings.push_back(fmt::format("the translation lacks \"{}\"", wanted[n].text));
  }
}

/// A part in which glossary terms replace the words that are aligned with the source terms.
struct Translator::Replacement {
  size_t part = 0;
  std::vector<search::Hypothesis> hypotheses;  ///< the translation without some of the terms
  std::vector<int32_t> prefix;                 ///< up to the last inserted term
};

/// Lines of several sentences: tries each missing required text in all sentences, and adds it to the one
/// whose log-probability decreases least.
void Translator::distribute_required(TranslationWindow& window, const Control& control) const {
  struct Trial {
    size_t text, part;
    double loss = std::numeric_limits<double>::infinity();
  };
  std::vector<Trial> trials;
  std::vector<PartSentence> sentences;
  for (size_t line = 0; line < window.lines.size() && !required_.empty(); ++line) {
    std::string best;
    std::vector<size_t> parts;
    for (size_t part = window.first_part[line]; part < window.first_part[line + 1]; ++part) {
      const LinePart& source = window.part(part);
      const std::vector<search::Hypothesis>& found = window.hypotheses[part];
      const std::string decoded = found.empty() ? "" : tokenizer_.decode(found[0].ids);
      best += part_text(source, window.lines[line].text, decoded) + "\n";
      if (source.literal.empty()) parts.push_back(part);
    }
    if (parts.size() < 2) continue;
    for (size_t text = 0; text < required_.size(); ++text) {
      if (missing_texts(best, {{options_.constraints.required[text], SpanKind::kTerm}}).empty()) continue;
      for (const size_t part : parts) {
        PartSentence sentence = sentence_of(window, part);
        sentence.number = trials.size();
        sentence.required = {required_[text]};
        trials.push_back({text, part});
        sentences.push_back(std::move(sentence));
      }
    }
  }
  if (sentences.empty()) return;
  const auto take = [&](uint64_t number, const std::vector<search::Hypothesis>& hypotheses) {
    if (hypotheses.empty()) return;
    Trial& trial = trials[number];
    const RequiredText wanted{options_.constraints.required[trial.text], SpanKind::kTerm};
    if (!missing_texts(tokenizer_.decode(hypotheses[0].ids), {wanted}).empty()) return;
    trial.loss = window.hypotheses[trial.part][0].log_probability - hypotheses[0].log_probability;
  };
  run(std::move(sentences), take, control);
  for (auto first = trials.begin(); first != trials.end();) {
    const size_t line = window.line_of_part[first->part], text = first->text;
    const auto last = std::find_if(first, trials.end(), [&](const Trial& trial) {
      return trial.text != text || window.line_of_part[trial.part] != line;
    });
    const auto best =
        std::min_element(first, last, [](const Trial& a, const Trial& b) { return a.loss < b.loss; });
    if (std::isfinite(best->loss)) {
      add_required(window.lines[line].parts[best->part - window.first_part[line]],
                   options_.constraints.required[text]);
    }
    first = last;
  }
}

/// The tokens of a required text of a part.
search::RequiredPhrase Translator::phrase_of(const LinePart& part, size_t required) const {
  if (required < part.marks.size()) return {{marks_[required]}, false, true, false, true};
  const RequiredText& text = part.required[required];
  search::RequiredPhrase phrase;
  phrase.ids = tokenizer_.target_phrase(text.text);
  phrase.ends_in_digit = is_ascii_digit(text.text.back());
  phrase.is_literal = text.kind != SpanKind::kTerm;
  return phrase;
}

/// Translates parts with missing required texts again, with a constrained search. Numbers that are correct in
/// another format are accepted.
void Translator::search_again(TranslationWindow& window, const Control& control) const {
  std::vector<PartSentence> sentences;
  std::vector<size_t> counts(window.hypotheses.size(), 0);
  for (size_t n = 0; n < window.hypotheses.size(); ++n) {
    const LinePart& part = window.part(n);
    if (part.required.empty()) continue;
    const Missing lacking = missing(part, window.hypotheses[n]);
    counts[n] = lacking.count;
    if (lacking.count == 0) continue;
    PartSentence sentence = sentence_of(window, n);
    for (size_t k = 0; k < part.required.size(); ++k) {
      const RequiredText& required = part.required[k];
      if (required.kind == SpanKind::kNumber && !lacking.texts[k]) continue;
      search::RequiredPhrase phrase = phrase_of(part, k);
      if (!phrase.ids.empty()) sentence.required.push_back(std::move(phrase));
    }
    if (!sentence.required.empty()) sentences.push_back(std::move(sentence));
  }
  if (sentences.empty()) return;
  std::mutex mutex;  // guards `replacements`
  std::vector<Replacement> replacements;
  const auto take = [&](uint64_t number, std::vector<search::Hypothesis> hypotheses) {
    const size_t n = number - window.parts_before;
    const LinePart& part = window.part(n);
    if (missing(part, hypotheses).count >= counts[n]) return;
    std::swap(window.hypotheses[n], hypotheses);
    if (!adds_term(part, hypotheses.front(), window.hypotheses[n].front())) return;
    const std::lock_guard lock(mutex);
    replacements.push_back({n, std::move(hypotheses), {}});
  };
  run(std::move(sentences), take, control);
  replace_words(window, std::move(replacements), control);
}

/// The tokens of a translation that a required term should replace.
std::optional<TokenRange> Translator::range_of_term(const LinePart& part, size_t required,
                                                    const std::vector<int32_t>& ids) const {
  const auto [begin, end] = part.required_source[required];
  if (begin == end) return std::nullopt;  // required by the caller, without a source term
  std::vector<bool> source;
  for (const auto& [first, last] : part.spans) source.push_back(first < end && begin < last);
  const Vocabulary& vocabulary = tokenizer_.vocabulary();
  return aligned_words(soft_alignment(model_, context_, part.ids, ids, options_.alignment), source,
                       words_of_pieces(pieces_of(vocabulary, ids), special_ids(vocabulary, ids)));
}

/// Whether `after` has a term that `before` lacks, but also still the words that it should replace. If the
/// term is unlikely under the model, the search often appends it at the end of the sentence instead.
bool Translator::adds_term(const LinePart& part, const search::Hypothesis& before,
                           const search::Hypothesis& after) const {
  const std::string text = tokenizer_.decode(before.ids), new_text = tokenizer_.decode(after.ids);
  const Missing lacking = missing(part, {before});
  for (size_t k = 0; k < part.required.size(); ++k) {
    if (part.required[k].kind != SpanKind::kTerm || !lacking.texts[k]) continue;
    const auto range = range_of_term(part, k, before.ids);
    if (!range) continue;
    const auto first = before.ids.begin();
    const std::string words = tokenizer_.decode(
        {first + static_cast<int64_t>(range->begin), first + static_cast<int64_t>(range->end)});
    if (count_phrase(new_text, strip(words)) >= count_phrase(text, strip(words))) return true;
  }
  return false;
}

/// Extends the prefix by the next term that the translation lacks; false if there is none to insert.
bool Translator::extend_prefix(const LinePart& part, Replacement& replacement) const {
  const std::vector<int32_t>& ids = replacement.hypotheses.front().ids;
  const Missing lacking = missing(part, {replacement.hypotheses.front()});
  std::optional<size_t> begin;
  size_t term = 0;
  for (size_t k = 0; k < part.required.size(); ++k) {
    if (part.required[k].kind != SpanKind::kTerm || !lacking.texts[k]) continue;
    const auto range = range_of_term(part, k, ids);
    if (!range || range->begin < replacement.prefix.size() || (begin && *begin <= range->begin)) continue;
    begin = range->begin;
    term = k;
  }
  if (!begin) return false;
  replacement.prefix.assign(ids.begin(), ids.begin() + static_cast<int64_t>(*begin));
  const std::vector<int32_t> phrase = tokenizer_.target_phrase(part.required[term].text);
  replacement.prefix.insert(replacement.prefix.end(), phrase.begin(), phrase.end());
  return has_room_behind(part.ids, replacement.prefix);
}

/// Scores a translation with a forced prefix as the search scores others: without the first `free` ids.
void Translator::rescore(const LinePart& part, size_t free, search::Hypothesis& hypothesis) const {
  const search::ScoringPair pair{part.ids, hypothesis.ids, absent_marks(part)};
  hypothesis.log_probabilities = search::score_pairs(model_, context_, search_.options(), {&pair, 1}).front();
  std::fill_n(hypothesis.log_probabilities.begin(), free, 0.0F);
  hypothesis.log_probability =
      std::accumulate(hypothesis.log_probabilities.begin(), hypothesis.log_probabilities.end(), 0.0);
  hypothesis.score =
      search::normalized_score(hypothesis.log_probability, static_cast<int64_t>(hypothesis.ids.size() - free),
                               options_.search.length_penalty);
}

/// Ids of pieces that begin with one of these.
std::vector<int32_t> Translator::ids_that_begin(std::initializer_list<search::PieceStart> wanted) const {
  std::vector<int32_t> ids;
  const std::vector<search::PieceStart>& starts = *search_.options().piece_starts;
  for (size_t id = 0; id < starts.size(); ++id) {
    if (std::ranges::find(wanted, starts[id]) != wanted.end()) {
      ids.push_back(static_cast<int32_t>(id));
    }
  }
  return ids;
}

/// Translates again with the terms at the positions of the words that they replace, from left to right: the
/// translation up to a term and the term itself are the prefix of the next search. Keeps results that lack no
/// more required texts than before.
void Translator::replace_words(TranslationWindow& window, std::vector<Replacement> replacements,
                               const Control& control) const {
  std::ranges::sort(replacements, {}, &Replacement::part);
  for (Replacement& each : replacements) each.prefix = sentence_of(window, each.part).prefix;
  while (!replacements.empty()) {
    std::vector<uint8_t> extended(replacements.size());
    pool_.run(replacements.size(), [&](size_t n) {
      extended[n] = extend_prefix(window.part(replacements[n].part), replacements[n]) ? 1 : 0;
    });
    std::vector<PartSentence> sentences;
    std::vector<Replacement> continued;
    for (size_t n = 0; n < replacements.size(); ++n) {
      if (extended[n] == 0) continue;
      sentences.push_back(sentence_of(window, replacements[n].part));
      sentences.back().prefix = replacements[n].prefix;
      sentences.back().begin_forbidden =
          ids_that_begin({search::PieceStart::kLetter, search::PieceStart::kDigit});
      continued.push_back(std::move(replacements[n]));
    }
    replacements = std::move(continued);
    const auto take = [&](uint64_t number, std::vector<search::Hypothesis> hypotheses) {
      const size_t n = number - window.parts_before;
      const LinePart& part = window.part(n);
      if (missing(part, hypotheses).count <= missing(part, window.hypotheses[n]).count) {
        window.hypotheses[n] = hypotheses;
        const size_t free = sentence_of(window, n).prefix.size();
        for (search::Hypothesis& hypothesis : window.hypotheses[n]) rescore(part, free, hypothesis);
        std::ranges::stable_sort(window.hypotheses[n], std::greater<>(), &search::Hypothesis::score);
      }
      std::ranges::lower_bound(replacements, n, {}, &Replacement::part)->hypotheses = std::move(hypotheses);
    };
    if (!sentences.empty()) run(std::move(sentences), take, control);
  }
}

}  // namespace heed::translate
