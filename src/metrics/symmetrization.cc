#include "metrics/symmetrization.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "base/check.h"

namespace heed {
namespace {

/// A set of links with the sets of aligned words.
class Links {
 public:
  void add(const WordLink& link) {
    links_.insert(link);
    sources_.insert(link.first);
    targets_.insert(link.second);
  }
  bool has(const WordLink& link) const { return links_.contains(link); }
  bool has_source(int word) const { return sources_.contains(word); }
  bool has_target(int word) const { return targets_.contains(word); }
  const std::set<WordLink>& all() const { return links_; }

 private:
  std::set<WordLink> links_;
  std::set<int> sources_, targets_;
};

/// Links of targets and sources in this order, in which the published algorithm visits them.
std::set<WordLink> by_target(const std::set<WordLink>& links) {
  std::set<WordLink> result;
  for (const auto& [source, target] : links) result.emplace(target, source);
  return result;
}

/// Repeatedly adds links of the union that are adjacent to an existing link, also diagonally, and have an
/// unaligned word. The neighbours in the order of Koehn et al., those to the sides first: a diagonal one that
/// is added first can leave no unaligned word to one between them.
void grow_diagonally(Links& links, const std::set<WordLink>& both) {
  static constexpr std::array<WordLink, 8> kNeighbours{
      {{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}}};
  std::set<WordLink> points = by_target(links.all());
  for (size_t before = 0; before < points.size();) {
    before = points.size();
    for (const auto& [target, source] : points) {  // also those that are added behind
      for (const auto& [dt, ds] : kNeighbours) {
        const WordLink beside{source + ds, target + dt};
        if (links.has(beside) || !both.contains(beside)) continue;
        if (links.has_source(beside.first) && links.has_target(beside.second)) continue;
        links.add(beside);
        points.emplace(beside.second, beside.first);
      }
    }
  }
}

void add_between_unaligned(Links& links, const std::vector<WordLink>& candidates) {
  for (const auto& [target, source] : by_target({candidates.begin(), candidates.end()})) {
    if (!links.has_source(source) && !links.has_target(target)) links.add({source, target});
  }
}

}  // namespace

Symmetrization parse_symmetrization(const std::string& name) {
  if (name == "intersection") return Symmetrization::kIntersection;
  if (name == "union") return Symmetrization::kUnion;
  if (name == "grow-diag") return Symmetrization::kGrowDiag;
  if (name == "grow-diag-final-and") return Symmetrization::kGrowDiagFinalAnd;
  fail(ErrorKind::kUsage,
       "unknown symmetrization '{}': choose intersection, union, grow-diag or grow-diag-final-and", name);
}

std::vector<WordLink> symmetrize(std::vector<WordLink> forward, std::vector<WordLink> backward,
                                 Symmetrization method) {
  std::sort(forward.begin(), forward.end());
  std::sort(backward.begin(), backward.end());
  std::set<WordLink> both(forward.begin(), forward.end());
  both.insert(backward.begin(), backward.end());
  if (method == Symmetrization::kUnion) return {both.begin(), both.end()};
  std::set<WordLink> shared;
  std::set_intersection(forward.begin(), forward.end(), backward.begin(), backward.end(),
                        std::inserter(shared, shared.end()));
  if (method == Symmetrization::kIntersection) return {shared.begin(), shared.end()};
  Links links;
  for (const WordLink& link : shared) links.add(link);
  grow_diagonally(links, both);
  if (method == Symmetrization::kGrowDiagFinalAnd) {
    add_between_unaligned(links, forward);
    add_between_unaligned(links, backward);
  }
  return {links.all().begin(), links.all().end()};
}

}  // namespace heed
