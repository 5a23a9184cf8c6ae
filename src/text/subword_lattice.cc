#include "text/subword_lattice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace heed {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

double add_logs(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}

}  // namespace

SubwordLattice::SubwordLattice(std::vector<Entry> entries) : entries_(std::move(entries)) {
  std::ranges::sort(entries_, {}, &Entry::text);
  const auto twice = std::ranges::adjacent_find(entries_, {}, &Entry::text);
  if (twice != entries_.end()) {
    fail(ErrorKind::kFormat, "the piece '{}' is duplicated in a unigram model", twice->text);
  }
  if (!entries_.empty() && entries_.front().text.empty()) {
    fail(ErrorKind::kFormat, "a unigram model has an empty piece");
  }
}

std::vector<SubwordLattice::Segment> SubwordLattice::sample(std::string_view text, double alpha,
                                                            Random& random) const {
  // total[i]: log of the total weight of all segmentations of text[0, i); edges[i]: their last pieces.
  std::vector<double> total(text.size() + 1, kNever);
  std::vector<std::vector<Edge>> edges(text.size() + 1);
  total[0] = 0;
  for (size_t begin = 0; begin < text.size(); ++begin) {
    if (total[begin] == kNever) continue;
    // The entries that begin with text[begin, end) are adjacent in sorted order.
    auto first = entries_.begin(), last = entries_.end();
    for (size_t end = begin; end < text.size() && first != last; ++end) {
      const size_t depth = end - begin;
      const auto byte_at = [depth](const Entry& entry) {
        return depth < entry.text.size() ? static_cast<unsigned char>(entry.text[depth]) : -1;
      };
      const auto same = std::ranges::equal_range(
          first, last, static_cast<int>(static_cast<unsigned char>(text[end])), {}, byte_at);
      first = same.begin();
      last = same.end();
      if (first == last || first->text.size() != depth + 1) continue;
      const double weight = total[begin] + alpha * static_cast<double>(first->score);
      total[end + 1] = add_logs(total[end + 1], weight);
      edges[end + 1].push_back({begin, weight, first->number});
    }
  }
  std::vector<Segment> segments;
  if (total.back() == kNever) return segments;
  for (size_t end = text.size(); end > 0;) {
    double rest = random.uniform();
    const Edge* drawn = &edges[end].back();  // the default in case of rounding errors
    for (const Edge& edge : edges[end]) {
      rest -= std::exp(edge.weight - total[end]);
      if (rest < 0) {
        drawn = &edge;
        break;
      }
    }
    segments.push_back({drawn->begin, end, drawn->number});
    end = drawn->begin;
  }
  std::ranges::reverse(segments);
  return segments;
}

}  // namespace heed
