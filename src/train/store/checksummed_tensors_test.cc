#include "train/store/checksummed_tensors.h"

#include "test_folder.h"

namespace heed::train {
namespace {

constexpr const char* kFormat = "test 1";

ChecksummedTensors example() {
  ChecksummedTensors content;
  content.format = kFormat;
  content.texts = {{"state", R"({"step": 3})"}, {"empty", ""}};
  content.tensors = {{"values", Tensor::from(std::vector<float>{1, -2, 0.5F, 0, 3}, {5})},
                     {"other", Tensor::from(std::vector<float>{0, 0}, {1, 2})}};
  return content;
}

TEST(ChecksummedTensors, RoundTrip) {
  const TestFolder folder;
  write_checksummed(folder.path("a"), example());
  const ChecksummedTensors found = read_checksummed(folder.path("a"), kFormat);
  EXPECT_EQ(found.texts, example().texts);
  ASSERT_NE(found.find("values"), nullptr);
  EXPECT_EQ(found.find("values")->to_vector<float>(), (std::vector<float>{1, -2, 0.5F, 0, 3}));
  EXPECT_EQ(found.find("none"), nullptr);
}

TEST(ChecksummedTensors, EveryFlippedBitIsDetected) {
  const TestFolder folder;
  write_checksummed(folder.path("a"), example());
  const std::string whole = content_of(folder.path("a"));
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const std::string path = folder.write("b", damaged);
    EXPECT_THROW(read_checksummed(path, kFormat), Error) << "bit " << bit % 8 << " of byte " << bit / 8;
  }
}

TEST(ChecksummedTensors, EveryTruncationIsDetected) {
  const TestFolder folder;
  write_checksummed(folder.path("a"), example());
  const std::string whole = content_of(folder.path("a"));
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string path = folder.write("b", whole.substr(0, size));
    expect_error(ErrorKind::kFormat, "is damaged", [&] { read_checksummed(path, kFormat); });
  }
  expect_error(ErrorKind::kFormat, "is damaged",
               [&] { read_checksummed(folder.write("b", whole + " "), kFormat); });
}

TEST(ChecksummedTensors, DistinguishesOtherFormatsFromDamage) {
  const TestFolder folder;
  write_checksummed(folder.path("a"), example());
  expect_error(ErrorKind::kFormat, "is not a 'test 2' but a 'test 1'",
               [&] { read_checksummed(folder.path("a"), "test 2"); });
}

}  // namespace
}  // namespace heed::train
