// The confusion matrix of a classifier, and the metrics computed from it.
//
//   precision P   correct predictions of a class / all predictions of the class
//   recall R      correct predictions of a class / all texts of the class
//   F1            2 P R / (P + R); 0 if both are 0
//   macro F1      the mean of F1 over the classes
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heed {

class ConfusionMatrix {
 public:
  explicit ConfusionMatrix(std::vector<std::string> labels);
  /// Both from 0 to the number of classes - 1.
  void add(int truth, int predicted);

  const std::vector<std::string>& labels() const { return labels_; }
  int64_t count(int truth, int predicted) const { return counts_[at(truth, predicted)]; }
  int64_t total() const;
  /// The number of texts of a class, and the number of predictions of a class.
  int64_t support(int label) const;
  int64_t predicted(int label) const;

  /// The metrics are 0 if the denominator is 0.
  double accuracy() const;
  double precision(int label) const;
  double recall(int label) const;
  double f1(int label) const;
  /// Over the classes that occur in texts or predictions.
  double macro_f1() const;

 private:
  size_t at(int truth, int predicted) const;

  std::vector<std::string> labels_;
  std::vector<int64_t> counts_;  // (classes, classes), row-major: truth, then prediction
};

}  // namespace heed
