// The check of values in a Translator: numbers, times, dates, codes and addresses that the translation of a
// part says differently are looked for again, and what is still different becomes a warning.
#include <algorithm>
#include <span>
#include <utility>

#include "base/stop.h"
#include "base/text/ascii.h"
#include "search/rules/forbidden_words.h"
#include "translate/parts/part_text.h"
#include "translate/translator.h"
#include "translate/values/repair_trials.h"

namespace heed::translate {
/// A part whose translation says other values than its source.
struct Translator::Differing {
  size_t part = 0;
  ValueDifferences differences = {};
  size_t attempt = 0;
  bool repaired = false;   ///< in this attempt
  bool rewritten = false;  ///< by a search of the source in figures
};

std::string Translator::text_of_part(const TranslationWindow& window, size_t number,
                                     const std::vector<int32_t>& ids) const {
  const std::string& line = window.lines[window.line_of_part[number]].text;
  return part_text(window.part(number), line, tokenizer_.decode(ids));
}

std::string_view Translator::source_of_part(const TranslationWindow& window, size_t number) const {
  return translate::source_of_part(window.part(number), window.lines[window.line_of_part[number]].text);
}

/// What a part says, and its best translation.
RepairedTexts Translator::texts_of_part(const TranslationWindow& window, size_t number) const {
  return {source_of_part(window, number),
          text_of_part(window, number, window.hypotheses[number].front().ids)};
}

ValueDifferences Translator::differing_values(const TranslationWindow& window, size_t number,
                                              const search::Hypothesis& hypothesis) const {
  const std::string_view source = source_of_part(window, number);
  const std::string translation = text_of_part(window, number, hypothesis.ids);
  ValueDifferences differences = compare_values({source, *source_values_}, {translation, *target_values_});
  std::vector<std::string> given;
  for (const RequiredText& each : window.part(number).required) {
    if (each.kind == SpanKind::kTerm) given.push_back(each.text);
  }
  if (window.is_first_translated(number)) given.push_back(options_.constraints.prefix);
  leave_out_given(given, translation, differences);
  return differences;
}

/// Whether a hypothesis has a word that the caller forbade: a prefix does not ask.
bool Translator::holds_forbidden(const LinePart& part, const search::Hypothesis& hypothesis) const {
  const auto& forbidden = search_of(part.capitals).options().forbidden_words;
  return forbidden != nullptr && !forbidden->found_in(tokenizer_.decode(hypothesis.ids)).empty();
}

/// The number of tokens whose text ends within the first `bytes` of the translation of a part, without spaces
/// at the end, and without the first bytes of a character that is spelled in bytes.
size_t Translator::tokens_within(const TranslationWindow& window, size_t number,
                                 const std::vector<int32_t>& ids, size_t bytes) const {
  const std::string whole = text_of_part(window, number, ids);
  size_t within = 0, length = 0;
  for (size_t count = 1; count <= ids.size(); ++count) {
    const std::vector<int32_t> first(ids.begin(), ids.begin() + static_cast<int64_t>(count));
    const std::string text = text_of_part(window, number, first);
    if (!whole.starts_with(text)) continue;
    if (text.size() > bytes) break;
    if (text.size() > length) within = count;
    length = text.size();
  }
  return within;
}

/// The search for a trial; empty if it cannot be tried.
std::optional<Translator::PartSentence> Translator::sentence_of_trial(const TranslationWindow& window,
                                                                      size_t number,
                                                                      const RepairTrial& trial) const {
  const LinePart& part = window.part(number);
  PartSentence sentence = sentence_of(window, number);
  if (!trial.source.empty()) {
    const bool only_values = std::ranges::all_of(
        part.required, [](const RequiredText& each) { return each.kind == SpanKind::kNumber; });
    const bool plain = only_values && part.marks.empty() && !part.capitals &&
                       leading_marian_code(window.lines[window.line_of_part[number]].text).empty();
    if (!plain) return std::nullopt;
    sentence.source = tokenizer_.encode_source(trial.source).ids;
    const size_t more = trial.named.empty() ? 0 : 8;  // tokens that names and words for ranges may take
    const size_t most =
        std::max(part.ids.size(), std::min(part.ids.size() + more, splitter_.max_part_tokens()));
    if (sentence.source.size() > most) return std::nullopt;
    if (trial.required.empty()) return sentence;
  }
  if (!trial.required.empty()) {
    for (size_t k = 0; k < part.required.size(); ++k) {
      if (part.required[k].kind == SpanKind::kNumber) continue;  // a value
      search::RequiredPhrase phrase = phrase_of(part, k);
      if (!phrase.ids.empty()) sentence.required.push_back(std::move(phrase));
    }
    for (const std::string& text : trial.required) {
      search::RequiredPhrase phrase;
      phrase.ids = tokenizer_.target_phrase(text);
      phrase.ends_in_digit = is_ascii_digit(static_cast<unsigned char>(text.back()));
      phrase.is_literal = true;
      if (!phrase.ids.empty()) sentence.required.push_back(std::move(phrase));
    }
    return sentence.required.empty() ? std::nullopt : std::optional(std::move(sentence));
  }
  const std::vector<int32_t>& ids = window.hypotheses[number].front().ids;
  if (part.capitals) return std::nullopt;  // capitals change the length of a text
  const auto within = [&](size_t bytes) { return tokens_within(window, number, ids, bytes); };
  const size_t kept = within(trial.kept_bytes);
  if (kept < sentence.prefix.size()) return std::nullopt;
  sentence.prefix.assign(ids.begin(), ids.begin() + static_cast<int64_t>(kept));
  const std::vector<int32_t> inserted = tokenizer_.target_phrase(trial.inserted);
  sentence.prefix.insert(sentence.prefix.end(), inserted.begin(), inserted.end());
  // What stood behind the inserted text already was wrong: "Uhr" of "2:1 Uhr".
  const std::span<const int32_t> behind = std::span(ids).subspan(kept);
  const bool stood =
      behind.size() > inserted.size() && std::equal(inserted.begin(), inserted.end(), behind.begin());
  if (trial.resumed_bytes > 0) {
    const std::span<const int32_t> all = std::span(ids).first(within(std::string::npos));
    const size_t resumed = std::min(within(trial.resumed_bytes), all.size());
    sentence.prefix.insert(sentence.prefix.end(), all.begin() + static_cast<int64_t>(resumed), all.end());
  } else if (inserted.empty()) {
    sentence.begin_forbidden = {ids[kept]};
  } else if (is_ascii_digit(static_cast<unsigned char>(trial.inserted.back()))) {
    sentence.begin_forbidden = ids_that_begin(
        {search::PieceStart::kLetter, search::PieceStart::kDigit, search::PieceStart::kSeparatedDigit});
    sentence.second_forbidden = ids_that_begin({search::PieceStart::kDigit});  // behind "." or ","
  } else {
    sentence.begin_forbidden = ids_that_begin({search::PieceStart::kLetter, search::PieceStart::kDigit});
  }
  if (stood && !inserted.empty()) sentence.begin_forbidden.push_back(behind[inserted.size()]);
  if (!has_room_behind(sentence.source, sentence.prefix)) return std::nullopt;
  return sentence;
}

std::vector<Translator::Differing> Translator::find_differing(const TranslationWindow& window,
                                                              const Control& control) const {
  std::vector<ValueDifferences> differences(window.hypotheses.size());
  pool_.run(differences.size(), [&](size_t n) {
    const StopScope stop(control.stop);
    if (!window.hypotheses[n].empty())
      differences[n] = differing_values(window, n, window.hypotheses[n].front());
  });
  std::vector<Differing> differing;
  for (size_t n = 0; n < differences.size(); ++n) {
    if (differences[n].count() > 0) differing.push_back({n, std::move(differences[n])});
  }
  return differing;
}

/// What is found for each sentence, in their order.
std::vector<std::vector<search::Hypothesis>> Translator::search_trials(std::vector<PartSentence> sentences,
                                                                       const Control& control) const {
  std::vector<std::vector<search::Hypothesis>> found(sentences.size());
  if (sentences.empty()) return found;
  for (size_t n = 0; n < sentences.size(); ++n) sentences[n].number = n;
  const auto take = [&](uint64_t number, std::vector<search::Hypothesis> hypotheses) {
    found[number] = std::move(hypotheses);
  };
  run(std::move(sentences), take, control);
  return found;
}

/// Searches once more for each part that differs, in all its trials. A result replaces the translation if
/// fewer values differ; of several, that with the fewest, then that of a rewritten source, then that with the
/// highest score.
void Translator::repair_values(TranslationWindow& window, std::vector<Differing>& differing,
                               const Control& control) const {
  struct Attempt {
    size_t differing;  // index
    size_t free;       // tokens of the prefix that the caller gave
    bool rewritten;    // the source
    bool forced;       // a longer prefix
    std::vector<size_t> named;
  };
  std::vector<Attempt> attempts;
  std::vector<PartSentence> sentences;
  for (size_t d = 0; d < differing.size(); ++d) {
    const size_t part = differing[d].part, free = sentence_of(window, part).prefix.size();
    for (const RepairTrial& trial : repair_trials(differing[d].differences, texts_of_part(window, part),
                                                  *source_values_, *target_values_, differing[d].attempt)) {
      std::optional<PartSentence> sentence = sentence_of_trial(window, part, trial);
      if (!sentence) continue;
      attempts.push_back({d, free, !trial.source.empty(), sentence->prefix.size() > free, trial.named});
      sentences.push_back(std::move(*sentence));
    }
  }
  std::vector<std::vector<search::Hypothesis>> found = search_trials(std::move(sentences), control);
  for (size_t n = 0; n < attempts.size(); ++n) {
    if (found[n].empty()) continue;
    Differing& now = differing[attempts[n].differing];
    const LinePart& part = window.part(now.part);
    ValueDifferences differences = differing_values(window, now.part, found[n].front());
    if (differences.count() > now.differences.count()) continue;
    if (std::ranges::any_of(differences.missing, [&](const Value& value) {  // "lunes-Friday"
          return std::ranges::count(attempts[n].named, value.begin) > 0;
        }))
      continue;
    if (attempts[n].rewritten || attempts[n].forced) {
      for (search::Hypothesis& hypothesis : found[n]) rescore(part, attempts[n].free, hypothesis);
    }
    std::vector<search::Hypothesis>& best = window.hypotheses[now.part];
    const bool as_good = now.repaired && !now.rewritten && differences.count() == now.differences.count();
    const bool better = differences.count() < now.differences.count() ||
                        (as_good && found[n].front().score > best.front().score);
    if (!better || holds_forbidden(part, found[n].front())) continue;
    if (missing(part, found[n]).count > missing(part, best).count) continue;
    now.repaired = true;
    now.rewritten = attempts[n].rewritten;
    now.differences = std::move(differences);
    best = std::move(found[n]);
  }
}

void Translator::check_values(TranslationWindow& window, const Control& control) const {
  window.warnings.resize(window.hypotheses.size());
  if (!checks_values()) return;
  const StopScope stop(control.stop);
  constexpr size_t kAttempts = 2;
  const bool sampled = search::with_greedy_at_zero(options_.search).sample;
  std::vector<Differing> left = find_differing(window, control);
  for (size_t attempt = 0; attempt < kAttempts && !sampled; ++attempt) {
    repair_values(window, left, control);
    std::erase_if(left, [](const Differing& each) { return each.differences.count() == 0; });
    for (Differing& each : left) {
      if (!each.repaired) ++each.attempt;
      each.repaired = false;
    }
  }
  for (const Differing& each : left) {
    window.warnings[each.part] = value_warnings(each.differences, texts_of_part(window, each.part));
  }
  if (!sampled) check_names(window, control);
}

}  // namespace heed::translate
