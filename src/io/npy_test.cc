#include "io/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "test_folder.h"

namespace heed {
namespace {

TEST(Npy, HeaderAndValues) {
  const TestFolder folder;
  const std::vector<float> values{1, -2.5F, 0, 1e-8F, 3, 7};
  write_npy(folder.path("a.npy"), Tensor::from(values, {2, 3}));
  const std::string file = content_of(folder.path("a.npy"));
  ASSERT_EQ(file.size(), 128 + 6 * sizeof(float));
  EXPECT_EQ(file.substr(0, 6), "\x93NUMPY");
  EXPECT_EQ(file.substr(6, 4), std::string("\x01\x00\x76\x00", 4));
  EXPECT_EQ(file.substr(10, 62), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, ), } ");
  EXPECT_EQ(file[127], '\n');
  std::vector<float> read(values.size());
  std::memcpy(read.data(), file.data() + 128, file.size() - 128);
  EXPECT_EQ(read, values);
}

}  // namespace
}  // namespace heed
