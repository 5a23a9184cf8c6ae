#include "metrics/confusion.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(ConfusionMatrix, FollowsTheDefinitions) {
  // scikit-learn's accuracy_score, precision_recall_fscore_support and f1_score(average="macro") of
  // truth [0,0,0,0,1,1,2,2,2], predicted [0,0,1,2,1,0,2,2,2].
  ConfusionMatrix matrix({"a", "b", "c"});
  const std::vector<int> truth{0, 0, 0, 0, 1, 1, 2, 2, 2}, predicted{0, 0, 1, 2, 1, 0, 2, 2, 2};
  for (size_t n = 0; n < truth.size(); ++n) matrix.add(truth[n], predicted[n]);
  EXPECT_EQ(matrix.total(), 9);
  EXPECT_EQ(matrix.count(0, 2), 1);
  EXPECT_EQ(matrix.count(2, 0), 0);
  EXPECT_EQ(matrix.support(0), 4);
  EXPECT_EQ(matrix.predicted(0), 3);
  EXPECT_DOUBLE_EQ(matrix.accuracy(), 6.0 / 9);
  EXPECT_DOUBLE_EQ(matrix.precision(0), 2.0 / 3);
  EXPECT_DOUBLE_EQ(matrix.recall(0), 0.5);
  EXPECT_DOUBLE_EQ(matrix.f1(0), 4.0 / 7);
  EXPECT_DOUBLE_EQ(matrix.f1(1), 0.5);
  EXPECT_DOUBLE_EQ(matrix.f1(2), 6.0 / 7);
  EXPECT_DOUBLE_EQ(matrix.macro_f1(), (4.0 / 7 + 0.5 + 6.0 / 7) / 3);
}

TEST(ConfusionMatrix, ClassesThatNeverOccurDoNotCount) {
  ConfusionMatrix matrix({"a", "b", "never"});
  EXPECT_EQ(matrix.accuracy(), 0);
  EXPECT_EQ(matrix.macro_f1(), 0);
  matrix.add(0, 0);
  EXPECT_EQ(matrix.macro_f1(), 1);
  matrix.add(0, 1);  // now "b" was predicted, wrongly
  EXPECT_DOUBLE_EQ(matrix.macro_f1(), (2.0 / 3 + 0) / 2);
  EXPECT_EQ(matrix.precision(2), 0);
}

}  // namespace
}  // namespace heed
