#include "translate/values/compare_values.h"

#include <algorithm>
#include <optional>

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

/// Whether a number of a text is so small that a translation can say it without a number word: "the two of
/// them" are "they", and "in two days" is the day after tomorrow. Another number in its place is a difference
/// all the same.
bool can_be_paraphrased(const Value& value, const LanguageText& of) {
  if (value.kind != ValueKind::kNumber || !value.in_words) return false;
  if (value.normal == "2") return true;
  return value.normal == "3" && period_behind(of, value.end) == nullptr;  // "three years"
}

/// Compares atoms of a source and of its translation.
class Matcher {
 public:
  Matcher(const LanguageText& source, const LanguageText& translation)
      : compared_{{source, translation},
                  {find_values(source.text, source.language),
                   find_values(translation.text, translation.language)}} {}

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
      for (Atom& atom : source) {
        if (!atom.matched && atom.optional == pass.optional) match(atom, translation, pass.with_optional);
      }
    }
    match_days(source, translation);
    ValueDifferences result;
    add_unmatched(source, 0, result.missing);
    add_unmatched(translation, 1, result.added);
    if (result.added.empty())
      std::erase_if(result.missing, [&](const Value& value) {
        return can_be_paraphrased(value, compared_.texts[0]) && !is_lost_from_pair(value, source);
      });
    if (result.missing.empty())
      std::erase_if(result.added, [&](const Value& value) {
        return can_be_paraphrased(value, compared_.texts[1]) && !is_before_figures(value);
      });
    add_changes(compared_, source, result);
    return result;
  }

  /// Whether a number of the source is one of two neighbours, "two or three", of which the translation has
  /// the other, as a numeral. "One or two" may be "a few".
  bool is_lost_from_pair(const Value& number, const Atoms& source) const {
    const auto whole = [](const Value& value) {
      return value.kind == ValueKind::kNumber && value.in_words ? parse_integer(value.normal, 2)
                                                                : std::nullopt;
    };
    return std::ranges::any_of(source, [&](const Atom& atom) {
      const Value& other = *atom.value;
      const auto here = whole(number), there = whole(other);
      if (!here || !there || *there < 2 || (*here - *there != 1 && *there - *here != 1)) return false;
      if (atom.partner == nullptr || atom.partner->optional) return false;
      const auto& [first, last] = std::ranges::minmax(number, other, {}, &Value::begin);
      const std::string_view between = compared_.texts[0].text.substr(first.end, last.begin - first.end);
      return tokenize_values(between).size() == 1;  // "or", "bis", "-"
    });
  }

  /// Whether figures stand behind a number of the translation, linked with it or beside it: "zwei und
  /// 2.500.000", "three 3,500,000".
  bool is_before_figures(const Value& number) const {
    const auto next = std::ranges::upper_bound(compared_.values[1].values, number.begin, {}, &Value::begin);
    if (next == compared_.values[1].values.end() || next->in_words) return false;
    return (number.linked && next->linked) || next->begin == number.end + 1;
  }

  std::optional<LostRange> lost_range(const ValueDifferences& differences) const {
    const auto lost = [&](const Value& value) {
      return std::ranges::any_of(differences.missing,
                                 [&](const Value& each) { return each.begin == value.begin; });
    };
    const auto takes_its_place = [&](const Value& value) {
      const bool added = std::ranges::any_of(differences.added,
                                             [&](const Value& each) { return each.begin == value.begin; });
      return value.kind == ValueKind::kTime ||
             (added && value.unit == Unit::kNone && value.kind != ValueKind::kWeekday);
    };
    const std::vector<Value>& values = compared_.values[0].values;
    const auto place = std::ranges::find_if(compared_.values[1].values, takes_its_place);
    if (place == compared_.values[1].values.end()) return std::nullopt;
    for (size_t n = 1; n < values.size(); ++n) {
      if (values[n].in_range && (lost(values[n - 1]) || lost(values[n])))
        return LostRange{values[n - 1], values[n], place->begin};
    }
    return std::nullopt;
  }

  void match(Atom& source, Atoms& translation, bool with_optional) const {
    for (Atom& other : translation) {
      if (other.matched || (other.optional && !with_optional) || !is_same_value(compared_, source, other))
        continue;
      source.matched = other.matched = true;
      source.partner = other.value;
      return;
    }
  }

  /// A month may be said once for two dates, "from August 5 to 19", and a weekday too.
  static void match_days(Atoms& source, Atoms& translation) {
    const auto match = [](Atoms& atoms, const Atoms& others) {
      for (Atom& atom : atoms) {
        if (atom.kind != ValueKind::kDate && atom.kind != ValueKind::kWeekday) continue;
        atom.matched = atom.matched || std::ranges::any_of(others, [&](const Atom& other) {
                         return other.kind == atom.kind && other.normal == atom.normal;
                       });
      }
    };
    match(source, translation);
    match(translation, source);
  }

  void add_unmatched(const Atoms& atoms, size_t text, std::vector<Value>& unmatched) const {
    std::optional<size_t> last;
    for (const Atom& atom : atoms) {
      if (atom.matched || atom.optional || last == atom.index) continue;
      if (atom.kind == ValueKind::kText && compared_.holds_text(1 - text, atom.normal)) continue;
      unmatched.push_back(compared_.values[text].values[atom.index]);
      last = atom.index;
    }
  }

  ComparedTexts compared_;
};

}  // namespace

bool ComparedTexts::holds_text(size_t text, const std::string& normal) const {
  return letters_and_digits(texts[text].text).find(normal) != std::string::npos;
}

ValueDifferences compare_values(const LanguageText& source, const LanguageText& translation) {
  return Matcher(source, translation).differences();
}

}  // namespace heed::translate
