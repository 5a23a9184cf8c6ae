#include "data/align/translation_table.h"

#include <algorithm>

#include "base/check.h"

namespace heed {

TranslationTable::TranslationTable(const Sequences& sources, const Sequences& targets, int64_t vocabulary,
                                   int iterations) {
  HEED_CHECK(sources.count() == targets.count());
  find_pairs(sources, targets, vocabulary);
  for (int n = 0; n < iterations; ++n) improve(sources, targets);
}

void TranslationTable::find_pairs(const Sequences& sources, const Sequences& targets, int64_t vocabulary) {
  std::vector<std::vector<int32_t>> met(static_cast<size_t>(vocabulary));
  std::vector<size_t> sorted(met.size());  // length of the sorted, duplicate-free prefix
  const auto sort = [&](size_t source) {
    std::vector<int32_t>& words = met[source];
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    sorted[source] = words.size();
  };
  // Allow as many unsorted elements as sorted ones, but at least this many: memory stays below twice the
  // minimum.
  constexpr size_t kUnsorted = 4096;
  for (int n = 0; n < sources.count(); ++n) {
    for (const int32_t source : sources[n]) {
      std::vector<int32_t>& words = met[source];
      words.insert(words.end(), targets[n].begin(), targets[n].end());
      if (words.size() > 2 * sorted[source] + kUnsorted) sort(source);
    }
  }
  offsets_.push_back(0);
  for (size_t source = 0; source < met.size(); ++source) {
    sort(source);
    targets_.insert(targets_.end(), met[source].begin(), met[source].end());
    offsets_.push_back(targets_.size());
    probabilities_.resize(targets_.size(), 1);  // uniform; the scale does not matter
    met[source] = {};
  }
}

size_t TranslationTable::entry_of(int32_t source, int32_t target) const {
  const auto begin = targets_.begin() + static_cast<std::ptrdiff_t>(offsets_[source]);
  const auto end = targets_.begin() + static_cast<std::ptrdiff_t>(offsets_[source + 1]);
  return static_cast<size_t>(std::lower_bound(begin, end, target) - targets_.begin());
}

size_t TranslationTable::find(int32_t source, int32_t target) const {
  const size_t at = entry_of(source, target);
  return at < offsets_[source + 1] && targets_[at] == target ? at : size();
}

void TranslationTable::set_counts(const std::vector<uint64_t>& counts) {
  HEED_CHECK(counts.size() == size());
  for (size_t source = 0; source + 1 < offsets_.size(); ++source) {
    double sum = 0;
    for (size_t at = offsets_[source]; at < offsets_[source + 1]; ++at)
      sum += static_cast<double>(counts[at]);
    for (size_t at = offsets_[source]; at < offsets_[source + 1]; ++at) {
      probabilities_[at] = sum > 0 ? static_cast<float>(static_cast<double>(counts[at]) / sum) : 0;
    }
  }
}

void TranslationTable::improve(const Sequences& sources, const Sequences& targets) {
  std::vector<float> counts(probabilities_.size());
  std::vector<size_t> entries;
  for (int n = 0; n < sources.count(); ++n) {
    for (const int32_t target : targets[n]) {
      entries.clear();
      float sum = 0;
      for (const int32_t source : sources[n]) {
        entries.push_back(entry_of(source, target));
        sum += probabilities_[entries.back()];
      }
      if (!(sum > 0)) continue;
      for (const size_t at : entries) counts[at] += probabilities_[at] / sum;
    }
  }
  for (size_t source = 0; source + 1 < offsets_.size(); ++source) {
    double sum = 0;
    for (size_t at = offsets_[source]; at < offsets_[source + 1]; ++at) sum += counts[at];
    for (size_t at = offsets_[source]; at < offsets_[source + 1]; ++at) {
      probabilities_[at] = sum > 0 ? static_cast<float>(counts[at] / sum) : 0;
    }
  }
}

std::vector<TranslationTable::Translation> TranslationTable::of(int32_t source) const {
  std::vector<Translation> found;
  for (size_t at = offsets_[source]; at < offsets_[source + 1]; ++at) {
    found.push_back({targets_[at], probabilities_[at]});
  }
  std::sort(found.begin(), found.end(), [](const Translation& a, const Translation& b) {
    return a.probability != b.probability ? a.probability > b.probability : a.word < b.word;
  });
  return found;
}

}  // namespace heed
