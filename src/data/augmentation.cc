#include "data/augmentation.h"

#include <unicode/locid.h>
#include <unicode/unistr.h>

#include <algorithm>

namespace heed {
namespace {

std::string in_capitals(std::string_view text) {
  icu::UnicodeString letters = icu::UnicodeString::fromUTF8({text.data(), static_cast<int32_t>(text.size())});
  std::string capitals;
  return letters.toUpper(icu::Locale::getRoot()).toUTF8String(capitals);
}

/// As many digits, or one more or fewer; no zero in front.
std::string another_number(const std::string& number, Random& random) {
  const uint64_t digits = std::max<uint64_t>(2, number.size() + random.below(3) - 1);
  std::string other;
  for (uint64_t n = 0; n < digits; ++n) {
    other += static_cast<char>('0' + (n == 0 ? 1 + random.below(9) : random.below(10)));
  }
  return other;
}

/// Without ".", "!", "?" or "…" at the end, and Spanish marks in front.
std::string_view without_marks(std::string_view text) {
  for (size_t before = text.size() + 1; text.size() < before;) {
    before = text.size();
    for (const std::string_view mark : {".", "!", "?", "\u2026"}) {
      if (text.ends_with(mark)) text.remove_suffix(mark.size());
    }
    for (const std::string_view mark : {"\u00a1", "\u00bf"}) {
      if (text.starts_with(mark)) text.remove_prefix(mark.size());
    }
  }
  return text;
}

}  // namespace

Augmentation::Augmentation(PairSource& pairs, const AugmentationOptions& options) : options_(options) {
  if (options.names == 0 && options.copies == 0) return;
  Pair pair;
  while (pairs.next(pair)) {
    for (const std::string& name : shared_names(pair.source, pair.target)) names_.learn(name);
  }
}

void Augmentation::add(const Take& take, std::string_view source, std::string_view target) {
  take(source, target);
  ++added_;
}

void Augmentation::extend(const Pair& pair, const Take& take) {
  Random random(options_.key.fold(seen_++));
  const auto replace = [&](const std::string& word, const std::string& other) {
    add(take, replace_word(pair.source, word, other), replace_word(pair.target, word, other));
  };
  if (options_.names > 0) {
    const std::vector<std::string> names = shared_names(pair.source, pair.target);
    for (int n = 0; n < options_.names && !names.empty(); ++n) {
      replace(names[random.below(names.size())], names_.invent(random));
    }
  }
  if (options_.numbers > 0) {
    const std::vector<std::string> numbers = shared_numbers(pair.source, pair.target);
    for (int n = 0; n < options_.numbers && !numbers.empty(); ++n) {
      const std::string& number = numbers[random.below(numbers.size())];
      replace(number, another_number(number, random));
    }
  }
  if (random.uniform() < options_.capitals) add(take, in_capitals(pair.source), in_capitals(pair.target));
  if (options_.joined > 0) {
    if (!others_.empty() && random.uniform() < options_.joined) join(pair, random, take);
    remember(pair, random);
  }
  if (random.uniform() < options_.bare) {
    const std::string_view source = without_marks(pair.source), target = without_marks(pair.target);
    const bool marked = source.size() < pair.source.size() && target.size() < pair.target.size();
    if (marked && !source.empty() && !target.empty()) add(take, source, target);
  }
  if (random.uniform() < options_.copies) {
    const std::string same = name_or_number(random);
    add(take, same, same);
  }
}

std::string Augmentation::name_or_number(Random& random) const {
  if (names_.known() > 0 && random.below(2) == 0) return names_.invent(random);
  std::string number = another_number(std::string(1 + random.below(5), '0'), random);
  if (number.size() == 4 && random.below(3) == 0)
    number.insert(number.begin() + 2, ':');  // a time, or nearly
  return number;
}

void Augmentation::join(const Pair& pair, Random& random, const Take& take) {
  std::string source(pair.source), target(pair.target);
  for (uint64_t more = 1 + random.below(7); more > 0; --more) {
    const auto& [other_source, other_target] = others_[random.below(others_.size())];
    source += " " + other_source;
    target += " " + other_target;
  }
  add(take, source, target);
}

/// A uniform sample of all pairs so far (Vitter, "Random sampling with a reservoir", 1985, algorithm R).
void Augmentation::remember(const Pair& pair, Random& random) {
  constexpr size_t kOthers = 4096;
  if (others_.size() < kOthers) {
    others_.emplace_back(pair.source, pair.target);
  } else if (const uint64_t place = random.below(seen_); place < kOthers) {
    others_[place] = {std::string(pair.source), std::string(pair.target)};
  }
}

}  // namespace heed
