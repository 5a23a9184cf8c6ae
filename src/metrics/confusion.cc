#include "metrics/confusion.h"

#include "base/check.h"

namespace heed {
namespace {

double share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

ConfusionMatrix::ConfusionMatrix(std::vector<std::string> labels)
    : labels_(std::move(labels)), counts_(labels_.size() * labels_.size()) {}

size_t ConfusionMatrix::at(int truth, int predicted) const {
  const auto classes = static_cast<int>(labels_.size());
  HEED_CHECK(truth >= 0 && truth < classes && predicted >= 0 && predicted < classes);
  return static_cast<size_t>(truth) * labels_.size() + static_cast<size_t>(predicted);
}

void ConfusionMatrix::add(int truth, int predicted) {
  ++counts_[at(truth, predicted)];
}

int64_t ConfusionMatrix::total() const {
  int64_t sum = 0;
  for (const int64_t count : counts_) sum += count;
  return sum;
}

int64_t ConfusionMatrix::support(int label) const {
  int64_t sum = 0;
  for (int other = 0; other < static_cast<int>(labels_.size()); ++other) sum += count(label, other);
  return sum;
}

int64_t ConfusionMatrix::predicted(int label) const {
  int64_t sum = 0;
  for (int other = 0; other < static_cast<int>(labels_.size()); ++other) sum += count(other, label);
  return sum;
}

double ConfusionMatrix::accuracy() const {
  int64_t right = 0;
  for (int label = 0; label < static_cast<int>(labels_.size()); ++label) right += count(label, label);
  return share(right, total());
}

double ConfusionMatrix::precision(int label) const {
  return share(count(label, label), predicted(label));
}

double ConfusionMatrix::recall(int label) const {
  return share(count(label, label), support(label));
}

double ConfusionMatrix::f1(int label) const {
  return share(2 * count(label, label),
               predicted(label) + support(label));  // the same, without dividing twice
}

double ConfusionMatrix::macro_f1() const {
  double sum = 0;
  int occurring = 0;
  for (int label = 0; label < static_cast<int>(labels_.size()); ++label) {
    if (support(label) + predicted(label) == 0) continue;
    sum += f1(label);
    ++occurring;
  }
  return occurring == 0 ? 0 : sum / occurring;
}

}  // namespace heed
