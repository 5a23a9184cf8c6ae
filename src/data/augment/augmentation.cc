#include "data/augment/augmentation.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "data/augment/shared_spans.h"
#include "data/augment/text_case.h"
#include "text/terms/placeholder_piece.h"

namespace heed {
namespace {

/// A number with the same number of digits, or one more or fewer; no leading zero.
std::string another_number(const std::string& number, Random& random) {
  const uint64_t digits = std::max<uint64_t>(2, number.size() + random.below(3) - 1);
  std::string other;
  for (uint64_t n = 0; n < digits; ++n) {
    other += static_cast<char>('0' + (n == 0 ? 1 + random.below(9) : random.below(10)));
  }
  return other;
}

}  // namespace

Augmentation::Augmentation(PairSource& pairs, const AugmentationOptions& options, RandomKey key,
                           int placeholder_pieces)
    : options_(options), key_(key), placeholder_pieces_(placeholder_pieces) {
  HEED_CHECK(options.placeholders == 0 || placeholder_pieces > 0);
  if (options.names == 0 && options.copied_spans == 0 && options.addresses == 0) return;
  Random random(key.fold(uint64_t{1} << 63));
  Pair pair;
  while (pairs.next(pair)) {
    if (options.addresses > 0) {
      literals_.learn(pair.source, random);
      literals_.learn(pair.target, random);
    }
    for (const std::string& name : shared_names(pair.source, pair.target)) names_.learn(name);
  }
}

uint64_t Augmentation::added() const {
  return std::accumulate(added_.begin(), added_.end(), uint64_t{0});
}

std::string Augmentation::added_by_kind() const {
  static constexpr std::array<const char*, kKinds> names{
      "names",     "numbers",       "uppercase",  "concatenated", "no_final_punctuation", "copied_spans",
      "lowercase", "uncapitalized", "title_case", "addresses",    "placeholders",         "emoji"};
  std::vector<std::string> parts;
  for (size_t kind = 0; kind < kKinds; ++kind) {
    if (added_[kind] > 0) parts.push_back(fmt::format("{} {}", added_[kind], names[kind]));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void Augmentation::add(const Take& take, Kind kind, std::string_view source, std::string_view target) {
  take(source, target);
  ++added_[kind];
}

std::string Augmentation::some_name(Random& random) const {
  const bool invented = options_.names_from == NamesFrom::kInvented || names_.known() < 2 ||
                        (options_.names_from == NamesFrom::kBoth && random.below(2) == 0);
  return invented ? names_.invent(random) : names_.pick(random);
}

void Augmentation::extend(const Pair& pair, const Take& take) {
  const RandomKey key = key_.fold(seen_++);
  Random random(key);
  const auto replace = [&](Kind kind, const std::string& word, const std::string& other) {
    add(take, kind, replace_word(pair.source, word, other), replace_word(pair.target, word, other));
  };
  if (options_.names > 0) {
    const std::vector<std::string> names = shared_names(pair.source, pair.target);
    for (int n = 0; n < options_.names && !names.empty(); ++n) {
      std::string other = some_name(random);
      const std::string& name = names[random.below(names.size())];
      while (other == name) other = some_name(random);
      replace(kNames, name, other);
    }
  }
  if (options_.numbers > 0) {
    const std::vector<std::string> numbers = shared_numbers(pair.source, pair.target);
    for (int n = 0; n < options_.numbers && !numbers.empty(); ++n) {
      const std::string& number = numbers[random.below(numbers.size())];
      replace(kNumbers, number, another_number(number, random));
    }
  }
  if (random.uniform() < options_.uppercase) {
    add(take, kUppercase, in_capitals(pair.source), in_capitals(pair.target));
  }
  if (options_.concatenated > 0) {
    if (!others_.empty() && random.uniform() < options_.concatenated) join(pair, random, take);
    remember(pair, random);
  }
  if (random.uniform() < options_.no_final_punctuation) {
    const std::string_view source = without_marks(pair.source), target = without_marks(pair.target);
    const bool marked = source.size() < pair.source.size() && target.size() < pair.target.size();
    if (marked && !source.empty() && !target.empty()) add(take, kNoFinalPunctuation, source, target);
  }
  if (random.uniform() < options_.copied_spans) {
    const std::string same = name_or_number(random);
    add(take, kCopiedSpans, same, same);
  }
  // Each kind has its own random stream, so that it does not affect the others.
  change_case(pair, key, take);
  if (options_.inserts()) insert(pair, key, take);
}

void Augmentation::change_case(const Pair& pair, RandomKey key, const Take& take) {
  const auto chosen = [&](Kind kind, double share) {
    return share > 0 && Random(key.fold(kind)).uniform() < share;
  };
  const auto add_if_other = [&](Kind kind, const std::string& source) {
    if (source != pair.source) add(take, kind, source, pair.target);
  };
  if (chosen(kLowercase, options_.lowercase)) add_if_other(kLowercase, in_lower_case(pair.source));
  if (chosen(kUncapitalized, options_.uncapitalized)) {
    add_if_other(kUncapitalized, without_first_capital(pair.source));
  }
  if (chosen(kTitleCase, options_.title_case)) {
    const std::string_view source = without_marks(pair.source), target = without_marks(pair.target);
    const auto words = std::ranges::count(source, ' ') + 1;
    const std::string title = in_title_case(source);
    if (words >= 2 && words <= 10 && !target.empty() && title != source) add(take, kTitleCase, title, target);
  }
}

std::vector<std::string> Augmentation::some_placeholders(Random& random) const {
  const uint64_t kind = random.below(10);
  const int count = std::min(kind < 6 ? 1 : kind < 9 ? 2 : 3, placeholder_pieces_);
  std::vector<int> numbers;
  while (static_cast<int>(numbers.size()) < count) {
    const auto number = static_cast<int>(random.below(static_cast<uint64_t>(placeholder_pieces_)));
    if (std::ranges::count(numbers, number) == 0) numbers.push_back(number);
  }
  std::vector<std::string> pieces;
  for (const int number : numbers) pieces.push_back(placeholder_piece(number));
  return pieces;
}

void Augmentation::insert(const Pair& pair, RandomKey key, const Take& take) {
  // Fewer copies of pairs without shared spans, where the insertion is at an end.
  constexpr double kSharing = 4, kOthers = 0.5;
  static const auto begins_with_letter = [](const std::string& span) {
    return span[0] < '0' || span[0] > '9';
  };
  std::optional<std::vector<std::string>> shared;
  const auto chosen = [&](double share, Random& random) {
    const double drawn = share > 0 ? random.uniform() : 1;
    if (drawn >= kSharing * share) return false;
    if (!shared) shared = shared_spans(pair.source, pair.target);
    return !shared->empty() || drawn < kOthers * share;
  };
  const PairText text{std::string(pair.source), std::string(pair.target)};
  const auto add_pair = [&](Kind kind, const PairText& made) { add(take, kind, made.source, made.target); };
  if (Random random(key.fold(kAddresses)); chosen(options_.addresses, random)) {
    const std::string address = literals_.invent(random);
    if (random.below(6) == 0) {
      add(take, kAddresses, address, address);
    } else {
      std::vector<std::string> spans = *shared;  // an address replaces a name rather than a number
      std::erase_if(spans, [](const std::string& span) { return !begins_with_letter(span); });
      add_pair(kAddresses, put_in(text, spans, {address}, random));
    }
  }
  if (Random random(key.fold(kPlaceholders)); chosen(options_.placeholders, random)) {
    const std::vector<std::string> pieces = some_placeholders(random);
    if (random.below(12) == 0) {
      add(take, kPlaceholders, pieces[0], pieces[0]);
    } else {
      add_pair(kPlaceholders, put_in(text, *shared, pieces, random));
    }
  }
  if (Random random(key.fold(kEmoji)); chosen(options_.emoji, random)) {
    add_pair(kEmoji, put_emoji(text, *shared, invent_emoji(random), random));
  }
}

std::string Augmentation::name_or_number(Random& random) const {
  if (names_.known() > 0 && random.below(2) == 0) return some_name(random);
  std::string number = another_number(std::string(1 + random.below(5), '0'), random);
  if (number.size() == 4 && random.below(3) == 0)
    number.insert(number.begin() + 2, ':');  // similar to a time
  return number;
}

void Augmentation::join(const Pair& pair, Random& random, const Take& take) {
  std::string source(pair.source), target(pair.target);
  uint64_t more = 1;
  if (options_.concatenation_length == ConcatenationLength::kUniform) {
    more = 1 + random.below(7);
  } else {
    while (more < 6 && random.below(2) == 0) ++more;
  }
  for (; more > 0; --more) {
    const auto& [other_source, other_target] = others_[random.below(others_.size())];
    source += " " + other_source;
    target += " " + other_target;
  }
  add(take, kConcatenated, source, target);
}

/// A uniform sample of all pairs so far (Vitter, "Random sampling with a reservoir", 1985, algorithm R).
void Augmentation::remember(const Pair& pair, Random& random) {
  constexpr size_t kOthers = 4096;
  if (others_.size() < kOthers) {
    others_.emplace_back(pair.source, pair.target);
  } else if (const uint64_t slot = random.below(seen_); slot < kOthers) {
    others_[slot] = {std::string(pair.source), std::string(pair.target)};
  }
}

}  // namespace heed
