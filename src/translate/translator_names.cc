// The check of names in a Translator: a name that the model hallucinated, "Regensburg" for "Windows", is
// replaced by the word of the source that it is aligned with; what is left becomes a warning.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/stop.h"
#include "text/unicode/unicode_properties.h"
#include "text/unicode/utf8.h"
#include "translate/translator.h"
#include "translate/values/languages/text_tokens.h"
#include "translate/values/reading/find_values.h"

namespace heed::translate {
namespace {

constexpr float kUnlikelyName = -3.9F;       // ln 0.02
constexpr double kSureTranslation = -2.3;    // ln 0.1: the mean of all tokens
constexpr std::string_view kWordMark = "▁";  // in front of a token that begins a word

bool begins_with_letter(std::string_view piece) {
  size_t first = 0;
  next_code_point(piece, first);
  return has_letter(piece.substr(0, first));
}

/// Whether a token is a word with a capital: "▁Jupiter".
bool is_name(std::string_view piece) {
  constexpr size_t kShortest = 3;  // bytes
  if (!piece.starts_with(kWordMark)) return false;
  const std::vector<TextToken> words = tokenize_values(piece.substr(kWordMark.size()));
  return words.size() == 1 && words[0].capitalized && words[0].lower.size() >= kShortest;
}

/// Whether a word could be a name, and a translation does not have it.
bool is_lost_name(const TextToken& word, const std::vector<TextToken>& translation) {
  constexpr size_t kShortest = 2;  // bytes; not "I"
  return word.is_word() && word.capitalized && word.lower.size() >= kShortest &&
         std::ranges::find(translation, word.lower, &TextToken::lower) == translation.end();
}

constexpr std::string_view kGenitives[] = {"'s", "’s"};

bool has_genitive(std::string_view source) {
  return std::ranges::any_of(
      kGenitives, [&](std::string_view each) { return source.find(each) != std::string_view::npos; });
}

/// "Jeff" of "Jeff's".
std::string_view without_genitive(std::string_view name) {
  for (const std::string_view ending : kGenitives) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  return name;
}

/// "Jeffs" and "Max’" in German.
std::string german_genitive(const std::string& name) {
  return name + (std::string_view("sxzß").find(name.back()) == std::string_view::npos ? "s" : "’");
}

}  // namespace

struct Translator::HallucinatedName {
  std::string text = {};
  size_t token = 0;
  bool genitive = false;  ///< "Jupiters" in German, for "Jeff's"
};

/// A part whose translation has hallucinated names.
struct Translator::Misnamed {
  size_t part = 0;
  std::vector<HallucinatedName> names = {};
  bool given_up = false;
};

/// Words of one token with a capital and a probability below 2%, which neither the source nor the caller has,
/// nor a value.
std::vector<Translator::HallucinatedName> Translator::hallucinated_names(
    const TranslationWindow& window, size_t number, const search::Hypothesis& hypothesis) const {
  const LinePart& part = window.part(number);
  if (part.capitals || std::ranges::min(hypothesis.log_probabilities) >= kUnlikelyName) return {};
  const std::string_view source = source_of_part(window, number);
  std::vector<HallucinatedName> names;
  const std::vector<std::string> pieces = pieces_of(tokenizer_.vocabulary(), hypothesis.ids);
  const auto goes_on = [&](size_t n) { return n + 1 < pieces.size() && begins_with_letter(pieces[n + 1]); };
  for (size_t n = 0; n < pieces.size(); ++n) {
    if (hypothesis.log_probabilities[n] >= kUnlikelyName || !is_name(pieces[n])) continue;
    const bool genitive = target_values_->capital_nouns && n + 1 < pieces.size() && pieces[n + 1] == "s" &&
                          !goes_on(n + 1) && has_genitive(source);
    if (goes_on(n) && !genitive) continue;
    names.push_back({pieces[n].substr(kWordMark.size()), n, genitive});
  }
  if (names.empty()) return {};
  const std::string translation = text_of_part(window, number, hypothesis.ids);
  const std::vector<TextToken> words = tokenize_values(source);
  const TextValues found = find_values(translation, *target_values_);
  const auto is_known = [&](const HallucinatedName& name) {
    const auto holds = [&](std::string_view text) { return text.find(name.text) != std::string_view::npos; };
    const std::string lower = tokenize_values(name.text)[0].lower;
    const auto is_source = [&](const TextToken& word) { return word.lower.find(lower) != std::string::npos; };
    const auto is_required = [&](const RequiredText& each) { return holds(each.text); };
    const auto is_value = [&](const Value& value) {
      return holds(std::string_view(translation).substr(value.begin, value.end - value.begin));
    };
    return std::ranges::any_of(words, is_source) || std::ranges::any_of(part.required, is_required) ||
           std::ranges::any_of(options_.constraints.required, holds) || holds(options_.constraints.prefix) ||
           std::ranges::any_of(found.values, is_value);
  };
  std::erase_if(names, is_known);
  return names;
}

/// The soft alignment of a part and its best translation; none if the model has no heads to align by, or not
/// those that its generation_config.json names, which only `heed align` and glossaries need.
std::optional<SoftAlignment> Translator::alignment_of_part(const TranslationWindow& window,
                                                           size_t number) const {
  if (options_.alignment.heads.empty()) return std::nullopt;
  try {
    return soft_alignment(model_, context_, window.part(number).ids, window.hypotheses[number].front().ids,
                          options_.alignment);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUsage) throw;
    return std::nullopt;
  }
}

/// The name of the source that a token of the best translation is aligned with by alignment_of_part(): a word
/// with a capital that the translation lacks, and its neighbours of this kind, "Los Angeles". Empty if there
/// is none.
std::string Translator::aligned_name(const TranslationWindow& window, size_t number,
                                     const SoftAlignment& alignment, size_t token) const {
  const LinePart& part = window.part(number);
  const std::string& line = window.lines[window.line_of_part[number]].text;
  const RepairedTexts texts = texts_of_part(window, number);
  if (texts.source.empty()) return "";
  const auto offset = static_cast<size_t>(texts.source.data() - line.data());
  const std::vector<TextToken> words = tokenize_values(texts.source),
                               translation = tokenize_values(texts.translation);
  std::vector<float> weights(words.size());
  for (size_t s = 0; s < part.spans.size(); ++s) {
    const auto [begin, end] = part.spans[s];
    for (size_t w = 0; w < words.size(); ++w) {
      if (begin < offset + words[w].end && offset + words[w].begin < end)
        weights[w] += alignment.at(static_cast<int64_t>(token), static_cast<int64_t>(s));
    }
  }
  if (weights.empty()) return "";
  size_t first = static_cast<size_t>(std::ranges::max_element(weights) - weights.begin()), last = first;
  if (!is_lost_name(words[first], translation)) return "";
  const auto joins = [&](size_t left, size_t right) {
    return words[right].begin == words[left].end + 1 && is_lost_name(words[left], translation) &&
           is_lost_name(words[right], translation);
  };
  if (!source_values_->capital_nouns) {
    while (first > 1 && joins(first - 1, first)) --first;  // the first word has a capital anyway
    while (last + 1 < words.size() && joins(last, last + 1)) ++last;
  }
  const std::string_view name = texts.source.substr(words[first].begin, words[last].end - words[first].begin);
  return std::string(without_genitive(name));
}

/// Searches once more for each part, with the first name that is aligned with one of the source in its place.
/// A result replaces the translation if it has fewer hallucinated names, no forbidden word, and no more
/// missing texts and differing values.
void Translator::repair_names(TranslationWindow& window, std::vector<Misnamed>& misnamed,
                              const Control& control) const {
  struct Attempt {
    size_t misnamed, free;  // index; tokens of the prefix that the caller gave
    std::string name;
  };
  std::vector<Attempt> attempts;
  std::vector<PartSentence> sentences;
  for (size_t m = 0; m < misnamed.size(); ++m) {
    Misnamed& each = misnamed[m];
    if (each.given_up || each.names.empty()) continue;
    StopScope::check();
    each.given_up = true;  // until a result is better
    const auto alignment = alignment_of_part(window, each.part);
    if (!alignment) continue;
    PartSentence sentence = sentence_of(window, each.part);
    const size_t free = sentence.prefix.size();
    std::string name;
    size_t token = 0;
    for (size_t n = 0; n < each.names.size() && name.empty(); ++n) {
      token = each.names[n].token;
      if (token >= free) name = aligned_name(window, each.part, *alignment, token);
      if (each.names[n].genitive && !name.empty()) name = german_genitive(name);
    }
    if (name.empty()) continue;
    const std::vector<int32_t>& ids = window.hypotheses[each.part].front().ids;
    const std::vector<int32_t> inserted = tokenizer_.target_phrase(name);
    sentence.prefix.assign(ids.begin(), ids.begin() + static_cast<int64_t>(token));
    sentence.prefix.insert(sentence.prefix.end(), inserted.begin(), inserted.end());
    if (!has_room_behind(sentence.source, sentence.prefix)) continue;
    sentence.begin_forbidden = ids_that_begin({search::PieceStart::kLetter, search::PieceStart::kDigit});
    attempts.push_back({m, free, std::move(name)});
    sentences.push_back(std::move(sentence));
  }
  std::vector<std::vector<search::Hypothesis>> found = search_trials(std::move(sentences), control);
  for (size_t n = 0; n < attempts.size(); ++n) {
    if (found[n].empty()) continue;
    Misnamed& now = misnamed[attempts[n].misnamed];
    const LinePart& part = window.part(now.part);
    std::vector<search::Hypothesis>& best = window.hypotheses[now.part];
    for (search::Hypothesis& hypothesis : found[n]) rescore(part, attempts[n].free, hypothesis);
    const search::Hypothesis& first = found[n].front();
    std::vector<HallucinatedName> names = hallucinated_names(window, now.part, first);
    const bool better = names.size() < now.names.size() &&
                        text_of_part(window, now.part, first.ids).find(attempts[n].name) != std::string::npos;
    if (!better || holds_forbidden(part, first)) continue;
    if (missing(part, found[n]).count > missing(part, best).count) continue;
    if (differing_values(window, now.part, first).count() >
        differing_values(window, now.part, best.front()).count())
      continue;
    now = {now.part, std::move(names)};
    best = std::move(found[n]);
  }
}

/// Only where the model is sure of the rest of a translation.
void Translator::check_names(TranslationWindow& window, const Control& control) const {
  std::vector<Misnamed> left;
  for (size_t n = 0; n < window.hypotheses.size(); ++n) {
    if (window.hypotheses[n].empty()) continue;
    const search::Hypothesis& best = window.hypotheses[n].front();
    if (best.log_probability < kSureTranslation * static_cast<double>(best.ids.size())) continue;
    std::vector<HallucinatedName> names = hallucinated_names(window, n, best);
    if (!names.empty()) left.push_back({n, std::move(names)});
  }
  constexpr size_t kAttempts = 3;  // a name each
  for (size_t attempt = 0; attempt < kAttempts; ++attempt) repair_names(window, left, control);
  for (const Misnamed& each : left) {
    for (const HallucinatedName& name : each.names) {
      window.warnings[each.part].push_back(
          fmt::format("the source does not say \"{}\", and the model is not sure of it", name.text));
    }
  }
}

}  // namespace heed::translate
