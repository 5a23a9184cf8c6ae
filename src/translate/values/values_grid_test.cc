// All numbers below a thousand, all times, all days: what a language writes, it reads; two languages agree on
// the same value and disagree on others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "translate/values/compare_values.h"
#include "translate/values/write_value.h"

namespace heed::translate {
namespace {

const std::array<const ValueLanguage*, 3> kLanguages{&german_values(), &english_values(), &spanish_values()};

/// All ways to write a value, in words around it. For times, those of Spanish have their article.
std::vector<std::string> sentences(const Value& value, const ValueLanguage& language) {
  std::vector<std::string> texts;
  for (const std::string& form : write_value(value, "", language)) texts.push_back("xx " + form + " xx.");
  return texts;
}

/// Expects all ways to write `value` to agree, in all pairs of languages, and to disagree with `other`.
void expect_agreement(const Value& value, const Value& other) {
  for (const ValueLanguage* from : kLanguages) {
    for (const ValueLanguage* to : kLanguages) {
      const std::vector<std::string> wrong = sentences(other, *to);
      for (const std::string& source : sentences(value, *from)) {
        for (const std::string& translation : sentences(value, *to)) {
          EXPECT_EQ(compare_values({source, *from}, {translation, *to}).count(), 0U)
              << source << " | " << translation;
        }
        EXPECT_GT(compare_values({source, *from}, {wrong[0], *to}).count(), 0U)
            << source << " | " << wrong[0];
      }
    }
  }
}

Value number(int value) {
  Value result;
  result.normal = std::to_string(value);
  return result;
}

Value time_at(int minute, bool half_day) {
  Value time;
  time.kind = ValueKind::kTime;
  time.minute = minute;
  time.half_day = half_day;
  return time;
}

TEST(ValuesGrid, NumbersInWordsAndFigures) {
  for (int n = 4; n < 1000; ++n) {
    // A hundred may be an estimate; only its figures are certain.
    if (n != 100) expect_agreement(number(n), number(n == 999 ? 4 : n + 1));
  }
}

TEST(ValuesGrid, NegativeNumbersInWords) {
  const Value half{.normal = "-2.5", .in_words = true}, whole{.normal = "-5", .in_words = true};
  const auto first = [](const Value& value, const ValueLanguage& language) {
    return write_value(value, "", language)[0];
  };
  EXPECT_EQ(first(half, english_values()), "minus two and a half");
  EXPECT_EQ(first(half, german_values()), "minus zweieinhalb");
  EXPECT_EQ(first(half, spanish_values()), "menos 2,5");
  EXPECT_EQ(first(whole, spanish_values()), "menos cinco");
}

TEST(ValuesGrid, Weekdays) {
  const auto weekday = [](int n) {
    Value day = number(n);
    day.kind = ValueKind::kWeekday;
    return day;
  };
  for (int n = 1; n <= 7; ++n) expect_agreement(weekday(n), weekday(n % 7 + 1));
}

TEST(ValuesGrid, LargeNumbersInWordsAndFigures) {
  for (int n = 1001; n < 1000000; n += 12347) expect_agreement(number(n), number(n + 10));
}

TEST(ValuesGrid, Halves) {
  for (int n = 1; n < 1000; ++n) {
    Value half = number(n), other = number(n == 999 ? 1 : n + 1);
    half.in_words = other.in_words = true;
    // The whole number alone is wrong, and so is another half.
    const Value whole = number(n == 1 ? 10 : n);
    half.normal += ".5";
    other.normal += ".5";
    expect_agreement(half, other);
    expect_agreement(half, whole);
  }
}

TEST(ValuesGrid, NumberWordsAreReadAsTheyAreWritten) {
  for (const ValueLanguage* language : kLanguages) {
    for (int n = 0; n < 1000000; n += n < 2000 ? 1 : 997) {
      const std::string words = language->write_words(n);
      const auto tokens = tokenize_values(words);
      const auto read = language->read_words(tokens);
      ASSERT_TRUE(read.has_value()) << words;
      EXPECT_EQ(read->value, n) << words;
      EXPECT_EQ(read->tokens, tokens.size()) << words;
    }
  }
}

TEST(ValuesGrid, TimesOnTheFaceOfAClock) {
  for (int minute = 60; minute < 13 * 60; minute += 5) {
    expect_agreement(time_at(minute % 720, true), time_at((minute + 35) % 720, true));
  }
}

TEST(ValuesGrid, TimesOfTheDay) {
  for (int minute = 0; minute < 1440; minute += 7) {
    expect_agreement(time_at(minute, false), time_at((minute + 720) % 1440, false));
    expect_agreement(time_at(minute, false), time_at((minute + 61) % 1440, false));
  }
}

TEST(ValuesGrid, Dates) {
  for (int month = 1; month <= 12; ++month) {
    for (int day = 1; day <= 28; ++day) {
      for (const int year : {0, 1987, 2024}) {
        Value date, other;
        date.kind = other.kind = ValueKind::kDate;
        date.day = day;
        date.month = month;
        date.year = other.year = year;
        other.day = day % 28 + 1;
        other.month = month;
        expect_agreement(date, other);
        other.day = day;
        other.month = month % 12 + 1;
        expect_agreement(date, other);
      }
    }
  }
}

TEST(ValuesGrid, Amounts) {
  for (const Unit unit :
       {Unit::kPercent, Unit::kEuro, Unit::kDollar, Unit::kDegree, Unit::kCent, Unit::kPenny, Unit::kKilogram,
        Unit::kMetre, Unit::kMile, Unit::kKilometresPerHour, Unit::kFahrenheit, Unit::kBeforeChrist}) {
    for (const char* amount : {"7", "1249.5", "19.99", "1500", "25000", "0.5", "1250000", "-3"}) {
      if (amount[0] == '-' && !is_same_unit(unit, Unit::kDegree)) continue;
      Value value = number(0), other;
      value.normal = amount;
      value.unit = unit;
      other = value;
      other.normal += "5";
      if (other.normal.find('.') == std::string::npos) other.normal = amount[0] == '-' ? "3" : "8";
      expect_agreement(value, other);
    }
  }
}

}  // namespace
}  // namespace heed::translate
