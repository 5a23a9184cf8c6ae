#include "data/augment/insertion.h"

#include <algorithm>

#include "data/augment/shared_spans.h"

namespace heed {
namespace {

/// A sentence and its final punctuation.
struct Ended {
  std::string_view sentence, mark;
};

Ended ended(std::string_view text) {
  size_t end = text.size();
  for (size_t before = end + 1; end < before;) {
    before = end;
    for (const std::string_view mark : {".", "!", "?", "\u2026"}) {
      if (text.substr(0, end).ends_with(mark)) end -= mark.size();
    }
  }
  return {text.substr(0, end), text.substr(end)};
}

}  // namespace

std::string_view without_marks(std::string_view text) {
  for (size_t before = text.size() + 1; text.size() < before;) {
    before = text.size();
    text = ended(text).sentence;
    for (const std::string_view mark : {"\u00a1", "\u00bf"}) {
      if (text.starts_with(mark)) text.remove_prefix(mark.size());
    }
  }
  return text;
}

PairText put_at_an_end(const PairText& pair, const std::string& inserted, Random& random) {
  const uint64_t kind = random.below(10);
  const bool keeps_mark = random.below(2) == 0;
  const auto put = [&](const std::string& text) {
    const auto [sentence, mark] = ended(text);
    const std::string before(sentence), end(mark);
    if (kind < 3) return before + ": " + inserted + (keeps_mark && mark == "." ? end : "");
    if (kind < 6) return before + " (" + inserted + ")" + end;
    if (kind < 8) return text + " " + inserted;
    if (kind < 9) return before + " \u2013 " + inserted;
    return inserted + (keeps_mark ? ": " : " ") + text;
  };
  return {put(pair.source), put(pair.target)};
}

PairText put_in(const PairText& pair, std::vector<std::string> spans,
                const std::vector<std::string>& inserted, Random& random) {
  shuffle(spans, random);
  PairText result = pair;
  const size_t replaced = std::min(spans.size(), inserted.size());
  for (size_t n = 0; n < replaced; ++n) {
    result.source = replace_span(result.source, spans[n], inserted[n]);
    result.target = replace_span(result.target, spans[n], inserted[n]);
  }
  const bool more = replaced < inserted.size() && (replaced == 0 || random.below(2) == 0);
  return more ? put_at_an_end(result, inserted[replaced], random) : result;
}

PairText put_emoji(const PairText& pair, const std::vector<std::string>& spans, const std::string& emoji,
                   Random& random) {
  const uint64_t kind = random.below(10);
  if (kind < 2 && !spans.empty()) {
    const std::string& span = spans[random.below(spans.size())];
    return {replace_span(pair.source, span, span + " " + emoji),
            replace_span(pair.target, span, span + " " + emoji)};
  }
  if (kind < 4 && std::ranges::count(pair.source, ',') == 1 && std::ranges::count(pair.target, ',') == 1) {
    const auto put = [&](std::string text) { return text.insert(text.find(',') + 1, " " + emoji); };
    return {put(pair.source), put(pair.target)};
  }
  const auto put = [&](const std::string& text) {
    if (kind < 7) return text + " " + emoji;
    if (kind < 8) return text + emoji;
    if (kind < 9) return std::string(ended(text).sentence) + " " + emoji;
    return emoji + " " + text;
  };
  return {put(pair.source), put(pair.target)};
}

}  // namespace heed
