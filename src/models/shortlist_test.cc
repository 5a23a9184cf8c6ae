#include "models/shortlist.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/safetensors.h"
#include "test_folder.h"

namespace heed::models {
namespace {

using Ids = std::vector<int32_t>;

TEST(Shortlist, JoinsWhatAllWordsOfASourceNeed) {
  std::vector<Ids> translations(71);
  translations[1] = {5, 3};
  translations[2] = {3, 69};
  const Shortlist list({0, 70}, translations);
  EXPECT_EQ(list.words(Ids{}), (Ids{0, 70}));
  EXPECT_EQ(list.words(Ids{1}), (Ids{0, 1, 3, 5, 70}));
  EXPECT_EQ(list.words(Ids{2, 1, 2, 64}), (Ids{0, 1, 2, 3, 5, 64, 69, 70}));
  EXPECT_EQ(list.vocabulary(), 71);
  EXPECT_EQ(list.size(), 4);
  EXPECT_EQ(list.common_words(), 2);
}

TEST(Shortlist, IsTheSameWhenReadAgain) {
  const TestFolder folder;
  EXPECT_FALSE(Shortlist::is_in(folder.path()));
  std::vector<Ids> translations(100);
  for (int32_t id = 0; id < 100; ++id) translations[id] = {(id * 7) % 100, (id * 11) % 100};
  const Shortlist list({1, 2, 3}, translations);
  list.write(folder.path());
  EXPECT_TRUE(Shortlist::is_in(folder.path()));
  const Shortlist again = Shortlist::read(folder.path(), 100);
  for (int32_t id = 0; id < 100; ++id) EXPECT_EQ(again.words(Ids{id, 5}), list.words(Ids{id, 5}));
  expect_error(ErrorKind::kFormat, "is a list for 100 words, and the model has 99",
               [&] { Shortlist::read(folder.path(), 99); });
}

TEST(Shortlist, DamagedFilesSayWhatIsWrong) {
  const TestFolder folder;
  const auto row = [](const Ids& ids) { return Tensor::from(ids, {static_cast<int64_t>(ids.size())}); };
  const auto expect_refused = [&](const Ids& common, const Ids& offsets, const Ids& words,
                                  const std::string& message) {
    write_safetensors(folder.path(Shortlist::kFileName),
                      {{"common", row(common)}, {"offsets", row(offsets)}, {"words", row(words)}});
    expect_error(ErrorKind::kFormat, message, [&] { Shortlist::read(folder.path(), 3); });
  };
  expect_refused({0}, {0, 1, 1, 1}, {3}, "holds the id 3, outside the vocabulary of 3");
  expect_refused({-1}, {0, 1, 1, 1}, {2}, "holds the id -1");
  expect_refused({0}, {0, 2, 1, 1}, {2}, "the offsets do not divide");
  expect_refused({0}, {0, 1, 1, 2}, {2}, "the offsets do not divide");
  expect_refused({0}, {1, 1, 1, 1}, {2}, "the offsets do not divide");
  expect_refused({}, {0, 1, 1, 1}, {2}, "no common words");
  expect_refused({0}, {}, {2}, "a list for -1 words");
  write_safetensors(folder.path(Shortlist::kFileName),
                    {{"common", Tensor::zeros({2})}, {"offsets", row({0, 0, 0, 0})}, {"words", row({})}});
  expect_error(ErrorKind::kFormat, "'common' must be a row of I32",
               [&] { Shortlist::read(folder.path(), 3); });
  folder.write(Shortlist::kFileName, "no tensors");
  EXPECT_THROW(Shortlist::read(folder.path(), 3), Error);
}

}  // namespace
}  // namespace heed::models
