#include "translate/values/compare_values.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/stop.h"
#include "text/unicode/true_case.h"
#include "text/unicode/utf8.h"
#include "translate/values/compared_texts.h"
#include "translate/values/reading/figures.h"
#include "translate/values/reading/find_values.h"

namespace heed::translate {
namespace {

void add_atoms(const Value& value, size_t index, Atoms& atoms) {
  if (value.broken) return;
  if (value.kind != ValueKind::kDate) {
    atoms.push_back({&value, value.kind, value.normal, value.optional, index});
    return;
  }
  atoms.push_back({&value, ValueKind::kDate, std::to_string(value.month), value.optional, index});
  for (const int number : {value.day, value.year}) {
    if (number != 0) atoms.push_back({&value, ValueKind::kNumber, std::to_string(number), false, index});
  }
}

/// The atoms of a text; the n-th ambiguous value is read in its other way if bit n of `readings` is set.
Atoms atoms_of(const TextValues& text, unsigned readings) {
  Atoms atoms;
  for (size_t n = 0; n < text.values.size(); ++n) {
    const Value& value = text.values[n];
    const bool ambiguous = !value.other_reading.empty();
    if (ambiguous && (readings & 1U) != 0) {
      for (const Value& each : value.other_reading) add_atoms(each, n, atoms);
    } else {
      add_atoms(value, n, atoms);
    }
    if (ambiguous) readings >>= 1U;
  }
  return atoms;
}

/// Whether a time is read in another way.
bool reads_time_otherwise(const TextValues& text, unsigned readings) {
  for (const Value& value : text.values) {
    if (value.other_reading.empty()) continue;
    if (value.kind == ValueKind::kTime && (readings & 1U) != 0) return true;
    readings >>= 1U;
  }
  return false;
}

size_t count_ambiguous(const TextValues& text) {
  return static_cast<size_t>(
      std::ranges::count_if(text.values, [](const Value& value) { return !value.other_reading.empty(); }));
}

/// Compares atoms of a source and of its translation.
class Matcher {
 public:
  Matcher(const LanguageText& source, const LanguageText& translation) : compared_(source, translation) {}

  ValueDifferences differences() {
    const auto needs_match = [](const TextValues& text) {
      return std::ranges::any_of(
          text.values, [](const Value& value) { return !value.optional || is_zero_in_words(value); });
    };
    if (!needs_match(compared_.values[0]) && !needs_match(compared_.values[1])) return {};
    constexpr size_t kMaxAmbiguous = 6, kMaxCompared = 256;
    const size_t first = count_ambiguous(compared_.values[0]), second = count_ambiguous(compared_.values[1]);
    // Comparing takes quadratic time, in each of the readings.
    const bool all_readings =
        first + second <= kMaxAmbiguous &&
        compared_.values[0].values.size() + compared_.values[1].values.size() <= kMaxCompared;
    const size_t bits = all_readings ? first + second : 0;
    ValueDifferences best = differences(0, 0);
    for (unsigned readings = 1; best.count() > 0 && readings < 1U << bits; ++readings) {
      // Times in both texts are hardly numbers in both.
      if (reads_time_otherwise(compared_.values[0], readings) &&
          reads_time_otherwise(compared_.values[1], readings >> first))
        continue;
      ValueDifferences other = differences(readings, readings >> first);
      if (other.count() < best.count()) best = std::move(other);
    }
    best.range = lost_range(best);
    best.compared = compared_.values[0].values.size() + compared_.values[1].values.size();
    return best;
  }

 private:
  ValueDifferences differences(unsigned source_readings, unsigned translation_readings) {
    Atoms source = atoms_of(compared_.values[0], source_readings),
          translation = atoms_of(compared_.values[1], translation_readings);
    // What is in both texts for certain is matched first.
    struct Pass {
      bool optional, with_optional;
    };
    for (const Pass& pass : {Pass{false, false}, Pass{false, true}, Pass{true, true}}) {
      for (size_t n = 0; n < source.size(); ++n) {
        StopScope::check();
        if (source[n].matched || source[n].optional != pass.optional) continue;
        match(source[n], near(translation, n, source.size()), pass.with_optional);
      }
    }
    match_days(source, translation);
    ValueDifferences result;
    add_unmatched(source, 0, result.missing);
    add_unmatched(translation, 1, result.added);
    erase_exponents(result.added);
    add_changes(compared_, source, result);
    return result;
  }

  /// Leaves out numbers of the translation that are superscripts of the source, one each: tokenizers write
  /// "mc²" as "mc2". Superscripts within values count: "10⁶", "78 m²".
  void erase_exponents(std::vector<Value>& added) const {
    if (added.empty()) return;
    std::multiset<std::string> exponents;
    const std::vector<TextToken> tokens = tokenize_values(compared_.texts[0].text);
    const std::vector<Value>& values = compared_.values[0].values;
    size_t next = 0;  // the first that ends behind the token's beginning
    for (size_t n = 1; n < tokens.size(); ++n) {
      const std::string exponent = exponent_of(TextTokens(tokens).subspan(n));
      if (exponent.empty()) continue;
      while (next < values.size() && values[next].end <= tokens[n].begin) ++next;
      if (next == values.size() || values[next].begin > tokens[n].begin) exponents.insert(exponent);
      n += exponent.size() - 1;
    }
    std::erase_if(added, [&](const Value& value) {
      if (value.kind != ValueKind::kNumber || value.in_words) return false;
      const auto exponent = exponents.find(value.normal);
      if (exponent == exponents.end()) return false;
      exponents.erase(exponent);
      return true;
    });
  }

  std::optional<LostRange> lost_range(const ValueDifferences& differences) const {
    std::set<size_t> missing_begins, added_begins;
    for (const Value& value : differences.missing) missing_begins.insert(value.begin);
    for (const Value& value : differences.added) added_begins.insert(value.begin);
    const auto lost = [&](const Value& value) { return missing_begins.contains(value.begin); };
    const auto takes_its_place = [&](const Value& value) {
      return value.kind == ValueKind::kTime ||
             (added_begins.contains(value.begin) && value.unit == Unit::kNone &&
              value.kind != ValueKind::kWeekday);
    };
    const std::vector<Value>& values = compared_.values[0].values;
    const auto place = std::ranges::find_if(compared_.values[1].values, takes_its_place);
    if (place == compared_.values[1].values.end()) return std::nullopt;
    for (size_t n = 1; n < values.size(); ++n) {
      const Value &first = values[n - 1], &last = values[n];
      if (!last.in_range || !(lost(first) || lost(last))) continue;
      const auto& [text, language] = compared_.texts[0];
      const std::vector<TextToken> between = tokenize_values(text.substr(first.end, last.begin - first.end));
      return LostRange{first, last, place->begin, !between.empty() && between[0].is(language.conjunction)};
    }
    return std::nullopt;
  }

  /// What may match atom n of `count` atoms of the source: in long texts, atoms at about its place, since
  /// comparing all with all takes quadratic time.
  static std::span<Atom> near(Atoms& translation, size_t n, size_t count) {
    constexpr size_t kFarthest = 1000;
    const size_t place = n * translation.size() / count;
    const size_t begin = place - std::min(place, kFarthest);
    return std::span(translation).subspan(begin, std::min(place + kFarthest, translation.size()) - begin);
  }

  void match(Atom& source, std::span<Atom> translation, bool with_optional) const {
    for (Atom& other : translation) {
      if (other.matched || (other.optional && !with_optional) || !is_same_value(compared_, source, other))
        continue;
      source.matched = other.matched = true;
      source.partner = other.value;
      source.partner_index = other.index;
      return;
    }
  }

  /// A month may be said once for two dates, "from August 5 to 19", and a weekday too; but the abbreviation
  /// of a month that has lost its year is not the date.
  static void match_days(Atoms& source, Atoms& translation) {
    const auto is_day = [](const Atom& atom) {
      return atom.kind == ValueKind::kDate || atom.kind == ValueKind::kWeekday;
    };
    const auto match = [&](Atoms& atoms, auto&& is_strict, const Atoms& others, auto&& is_partial) {
      std::set<std::pair<ValueKind, std::string_view>> said, partly_said;
      for (const Atom& other : others) {
        if (is_day(other)) (is_partial(*other.value) ? partly_said : said).emplace(other.kind, other.normal);
      }
      for (Atom& atom : atoms) {
        if (!is_day(atom)) continue;
        const std::pair<ValueKind, std::string_view> day{atom.kind, atom.normal};
        atom.matched =
            atom.matched || said.contains(day) || (!is_strict(*atom.value) && partly_said.contains(day));
      }
    };
    match(source, has_year, translation, is_short_without_year);
    match(translation, is_short_without_year, source, has_year);
  }

  void add_unmatched(const Atoms& atoms, size_t text, std::vector<Value>& unmatched) const {
    std::optional<size_t> last;
    for (const Atom& atom : atoms) {
      StopScope::check();
      if (atom.matched || atom.optional || last == atom.index) continue;
      if (atom.kind == ValueKind::kText && compared_.holds_text(1 - text, atom.normal)) continue;
      unmatched.push_back(compared_.values[text].values[atom.index]);
      last = atom.index;
    }
  }

  ComparedTexts compared_;
};

}  // namespace

ComparedTexts::ComparedTexts(const LanguageText& source, const LanguageText& translation)
    : texts{source, translation},
      values{find_values(source.text, source.language), find_values(translation.text, translation.language)} {
  for (Value& value : values[0].values) {
    if (value.is_time_in_source) value.other_reading.clear();
  }
}

const ComparedTexts::Letters& ComparedTexts::letters_of(size_t text) const {
  if (letters_[text]) return *letters_[text];
  Letters& letters = letters_[text].emplace();
  const auto add = [&](std::string_view added) {
    letters.all += added;
    letters.begins.resize(letters.all.size() + 1);
    letters.ends.resize(letters.all.size() + 1);
  };
  add("");
  const std::vector<TextToken> tokens = tokenize_values(texts[text].text);
  for (size_t n = 0; n < tokens.size(); ++n) {
    const TextToken& token = tokens[n];
    const bool symbol = token.kind == TextToken::Kind::kSymbol;
    const bool joined =
        n > 0 && !token.after_space && !symbol && tokens[n - 1].kind != TextToken::Kind::kSymbol;
    const size_t at = letters.all.size();
    if (!joined) letters.begins[at] = true;
    if (!joined || (token.is_word() && !token.capitalized)) letters.ends[at] = true;  // "A380s"
    add(symbol ? exponent_of(TextTokens(tokens).subspan(n, 1)) : token.lower);
    const size_t apostrophe = token.lower.rfind('\'');  // "Node.js's"
    if (token.is_word() && apostrophe != std::string::npos) letters.ends[at + apostrophe] = true;
  }
  letters.ends[letters.all.size()] = true;
  return letters;
}

bool ComparedTexts::holds_text(size_t text, std::string_view normal) const {
  if (const auto known = held_[text].find(normal); known != held_[text].end()) return known->second;
  const Letters& letters = letters_of(text);
  size_t at = letters.all.find(normal);
  while (at != std::string::npos && !(letters.begins[at] && letters.ends[at + normal.size()]))
    at = letters.all.find(normal, at + 1);
  const bool held = at != std::string::npos;
  held_[text].emplace(normal, held);
  return held;
}

bool ComparedTexts::holds_letters(size_t text, std::string_view normal) const {
  return letters_of(text).all.find(normal) != std::string::npos;
}

void leave_out_given(const std::vector<std::string>& given, std::string_view translation,
                     ValueDifferences& differences) {
  if (differences.added.empty()) return;
  for (const std::string& text : given) {
    size_t first = 0;
    if (text.empty()) continue;
    next_code_point(text, first);
    const std::string_view rest = std::string_view(text).substr(first);
    const std::string capital = to_capitals(std::string_view(text).substr(0, first));
    for (size_t at = 0; at < translation.size();) {
      const size_t found = translation.find(rest, at);
      if (found == std::string_view::npos) break;
      at = found + std::max<size_t>(rest.size(), 1);
      const std::string_view before = translation.substr(0, found);
      const bool as_written = before.ends_with(std::string_view(text).substr(0, first));
      if (!as_written && !before.ends_with(capital)) continue;
      const size_t begin = found - (as_written ? first : capital.size()), end = found + rest.size();
      std::erase_if(differences.added,
                    [&](const Value& value) { return begin <= value.begin && value.end <= end; });
    }
  }
}

ValueDifferences compare_values(const LanguageText& source, const LanguageText& translation) {
  return Matcher(source, translation).differences();
}

}  // namespace heed::translate
