#include "io/tensors_in_memory.h"

#include <gtest/gtest.h>

#include "compare.h"
#include "test_folder.h"

namespace heed {
namespace {

TEST(TensorsInMemory, AreReadLikeThoseOfAFile) {
  const Tensor matrix = Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  const TensorsInMemory tensors("made.bin", {{"a", matrix}, {"rows", matrix.narrow(0, 1, 1)}});
  expect_equal(tensors.read("a"), matrix, "a");
  expect_equal(tensors.read_rows("a", 1, 1), matrix.narrow(0, 1, 1).clone(), "a row");
  expect_equal(tensors.read("rows"), matrix.narrow(0, 1, 1).clone(), "rows");
  EXPECT_EQ(tensors.info("rows").begin, tensors.info("a").end);
  EXPECT_EQ(tensors.info("a").type, "F32");
  expect_error(ErrorKind::kNotFound, "'made.bin' has no tensor 'b'", [&] { tensors.read("b"); });
}

}  // namespace
}  // namespace heed
