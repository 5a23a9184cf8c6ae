// Inserts the same string into both sides of a pair, in place of a shared word or at an end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "data/corpus/readers/pairs_reader.h"

namespace heed {

struct PairText {
  std::string source, target;
};

/// Removes final ".", "!", "?" or "…" and initial Spanish punctuation.
std::string_view without_marks(std::string_view text);

/// Inserts after the sentence (after a colon or dash, in brackets, or plain) or before it.
PairText put_at_an_end(const PairText& pair, const std::string& inserted, Random& random);

/// Replaces random `spans`, which occur on both sides, by as many of `inserted` as possible. The first
/// remaining one is put at an end: always if there are no spans, else with probability 1/2.
PairText put_in(const PairText& pair, std::vector<std::string> spans,
                const std::vector<std::string>& inserted, Random& random);

/// Inserts an emoji as in real text: after the sentence or instead of its punctuation, rarely before it; or
/// after a span or the only comma.
PairText put_emoji(const PairText& pair, const std::vector<std::string>& spans, const std::string& emoji,
                   Random& random);

}  // namespace heed
