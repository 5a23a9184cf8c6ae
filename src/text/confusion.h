// How well texts were put into classes: which class was taken for which, and what follows from that.
//
//   precision of a class   of the texts put into it, the share that belongs there
//   recall of a class      of the texts that belong to it, the share that was put there
//   F1                     2 P R / (P + R), the harmonic mean of both;  0 where both are 0
//   macro F1               the mean of F1 over the classes, so that rare ones count as much as frequent ones
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
  /// Texts that belong to a class; texts that were put into it.
  int64_t support(int label) const;
  int64_t predicted(int label) const;

  /// All of these are 0 where there is nothing to divide by.
  double accuracy() const;
  double precision(int label) const;
  double recall(int label) const;
  double f1(int label) const;
  /// Over the classes that occur, in the texts or in the predictions.
  double macro_f1() const;

 private:
  size_t at(int truth, int predicted) const;

  std::vector<std::string> labels_;
  std::vector<int64_t> counts_;  // (classes, classes), row-major: truth, then prediction
};

}  // namespace heed
