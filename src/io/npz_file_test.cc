#include "io/npz_file.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "npz_writer.h"
#include "test_folder.h"

namespace heed {
namespace {

class NpzFileTest : public testing::Test {
 protected:
  std::string write(const std::string& array, const std::string& name = "a.npy") {
    ZipWriter zip;
    zip.add(name, array);
    return folder_.write("file.npz", zip.finish());
  }
  void expect_refusal(const std::string& message, const std::string& array,
                      const std::string& name = "a.npy") {
    const std::string path = write(array, name);
    expect_error(ErrorKind::kFormat, message, [&] { NpzFile::open(path); });
  }

  TestFolder folder_;
};

TEST_F(NpzFileTest, ReadsArrays) {
  ZipWriter zip;
  zip.add("matrix.npy", npy(Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3})));
  zip.add("special:model.yml.npy", npy("|i1", {4}, std::string_view("a: 1", 4)));
  zip.add("number.npy", npy("{\"shape\": (), \"descr\": \"<f8\", \"fortran_order\": False}",
                            std::string_view("\0\0\0\0\0\0\xf0\x3f", 8)));
  zip.add("text.npy", npy("<U3", {1}, std::string(12, '\0')));
  const NpzFile file = NpzFile::open(folder_.write("file.npz", zip.finish()));
  ASSERT_EQ(file.infos().size(), 4u);
  EXPECT_EQ(file.read("matrix").shape(), (Shape{2, 3}));
  EXPECT_EQ(file.read("matrix").to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(file.read_rows("matrix", 1, 1).to_vector<float>(), (std::vector<float>{4, 5, 6}));
  EXPECT_EQ(file.read("special:model.yml").to_vector<int8_t>(), (std::vector<int8_t>{'a', ':', ' ', '1'}));
  EXPECT_EQ(file.read("number").to_vector<double>(), std::vector<double>{1});
  EXPECT_FALSE(file.info("text").readable);
  expect_error(ErrorKind::kFormat, "<U3", [&] { file.read("text"); });
}

TEST_F(NpzFileTest, RefusesOtherContent) {
  const std::string floats(8, '\0');
  expect_refusal("not an array of NumPy", floats, "a.txt");
  expect_refusal("not an array of NumPy", "\x93NUMPX");
  expect_refusal("not an array of NumPy", npy("<f4", {2}, floats).substr(0, 30));
  expect_refusal("has 8 bytes of elements", npy("<f4", {3}, floats));
  expect_refusal("has 8 bytes of elements", npy("<f4", {1}, floats));
  expect_refusal("larger than any memory",
                 npy("{'descr': '<f4', 'shape': (4611686018427387904, 4)}", floats));
  expect_refusal("Fortran order", npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2)}", floats));
  expect_refusal("shape is malformed",
                 npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", floats));
  expect_refusal("malformed", npy("{'descr': '<f4', 'shape': (2,)]", floats));
  expect_refusal("unknown key 'other'", npy("{'other': '<f4', 'shape': (2,)}", floats));
  expect_refusal("lacks the type or the shape", npy("{'shape': (2,)}", floats));
  expect_refusal("something follows", npy("{'descr': '<f4', 'shape': (2,)} {}", floats));
  expect_refusal("quotation mark", npy("{'descr", floats));
  const std::string path = folder_.write("text.npz", "no zip file");
  expect_error(ErrorKind::kFormat, "not an .npz file", [&] { NpzFile::open(path); });
}

// Any damaged byte of the file gives an error, or the same array: in a date, for example.
TEST_F(NpzFileTest, DamagedFilesGiveErrors) {
  ZipWriter zip;
  zip.add("a.npy", npy(Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3})));
  const std::string whole = zip.finish();
  int refused = 0;
  for (size_t position = 0; position < whole.size(); ++position) {
    std::string damaged = whole;
    damaged[position] = static_cast<char>(damaged[position] ^ 0x11);
    const std::string path = folder_.write("file.npz", damaged);
    try {
      const NpzFile file = NpzFile::open(path);
      for (const TensorInfo& info : file.infos()) {
        EXPECT_EQ(file.read(info.name).to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}))
            << position;
      }
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 150);
}

}  // namespace
}  // namespace heed
