#include "data/batch/packed_batch.h"

#include "test_folder.h"

namespace heed {
namespace {

using Ids = std::vector<int32_t>;

const std::vector<Ids> kSource{{5, 6, 0}, {7, 0}, {8, 9, 10, 0}};
const std::vector<Ids> kTarget{{11, 0}, {12, 13, 14, 0}, {0}};
constexpr int32_t kStart = 99;

void expect_packed(const TranslationBatch& batch) {
  EXPECT_EQ(batch.source.count(), 3);
  EXPECT_EQ(batch.source.ids, (Ids{5, 6, 0, 7, 0, 8, 9, 10, 0}));
  EXPECT_EQ(batch.source.offsets, (Ids{0, 3, 5, 9}));
  EXPECT_EQ(batch.decoder_input.ids, (Ids{99, 11, 99, 12, 13, 14, 99}));
  EXPECT_EQ(batch.decoder_input.offsets, (Ids{0, 2, 6, 7}));
  EXPECT_EQ(batch.labels, (Ids{11, 0, 12, 13, 14, 0, 0}));
}

TEST(PackTranslation, ShiftsTheTargetRightWithinEachSentence) {
  const TranslationBatch batch = pack_translation(kSource, kTarget, kStart);
  expect_packed(batch);
  const auto second = batch.decoder_input[1];
  EXPECT_EQ(Ids(second.begin(), second.end()), (Ids{99, 12, 13, 14}));
}

TEST(PackTranslation, AgreesWithACorpus) {
  const TestFolder folder;
  CorpusWriter writer(folder.path("c"), 2, 100);
  for (const size_t n : {2, 0, 1}) writer.add(kSource[n], kTarget[n]);
  writer.commit({}, {.written = 3});
  const Corpus corpus(folder.path("c"));
  const std::vector<uint64_t> order{1, 2, 0};
  expect_packed(pack_translation(corpus, order, kStart));
  EXPECT_EQ(pack_translation(corpus, {}, kStart).source.count(), 0);
}

TEST(PackTranslation, RefusesAnEmptyTarget) {
  EXPECT_THROW(pack_translation(std::vector<Ids>{{1}}, std::vector<Ids>{{}}, kStart), std::logic_error);
}

}  // namespace
}  // namespace heed
