// Inserts the same string into both sides of a pair: in place of a shared word, or at an end.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "data/pairs_reader.h"

namespace heed {

struct PairText {
  std::string source, target;
};

/// Without ".", "!", "?" or "…" at the end, and Spanish marks in front.
std::string_view without_marks(std::string_view text);

/// After the sentence (behind a colon or a dash, in brackets, or bare), or before it.
PairText put_at_an_end(const PairText& pair, const std::string& inserted, Random& random);

/// As many of `inserted` as possible in the place of as many of `spans`, which both sides share and which are
/// drawn by chance. Of what is left, the first is put at an end: always where there are no spans, else half
/// of the times.
PairText put_in(const PairText& pair, std::vector<std::string> spans,
                const std::vector<std::string>& inserted, Random& random);

/// An emoji as people write it: behind the sentence or instead of its mark, seldom before it; or behind
/// `span`, where there is one, or the only comma.
PairText put_emoji(const PairText& pair, const std::vector<std::string>& spans, const std::string& emoji,
                   Random& random);

}  // namespace heed
