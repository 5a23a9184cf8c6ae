#include "models/shortlist.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "base/files/model_inventory.h"
#include "io/safetensors/safetensors.h"
#include "models/directory/loaded_model.h"
#include "models/stacks/transformer.h"
#include "models/test_untrained_models.h"
#include "test_folder.h"

namespace heed::models {
namespace {

using Ids = std::vector<int32_t>;

TEST(Shortlist, UnionOverSourceTokens) {
  std::vector<Ids> translations(71);
  translations[1] = {5, 3};
  translations[2] = {3, 69};
  const Shortlist list({0, 70}, translations);
  EXPECT_EQ(list.tokens(Ids{}), (Ids{0, 70}));
  EXPECT_EQ(list.tokens(Ids{1}), (Ids{0, 1, 3, 5, 70}));
  EXPECT_EQ(list.tokens(Ids{2, 1, 2, 64}), (Ids{0, 1, 2, 3, 5, 64, 69, 70}));
  EXPECT_EQ(list.vocabulary(), 71);
  EXPECT_EQ(list.size(), 4);
}

TEST(Shortlist, RoundTrip) {
  const TestFolder folder;
  std::vector<Ids> translations(100);
  for (int32_t id = 0; id < 100; ++id) translations[id] = {(id * 7) % 100, (id * 11) % 100};
  const Shortlist list({1, 2, 3}, translations);
  list.write(folder.path());
  const Shortlist again = Shortlist::read(folder.path(), 100);
  for (int32_t id = 0; id < 100; ++id) EXPECT_EQ(again.tokens(Ids{id, 5}), list.tokens(Ids{id, 5}));
  expect_error(ErrorKind::kFormat, "is a shortlist for a vocabulary of 100, but the model has 99",
               [&] { Shortlist::read(folder.path(), 99); });
}

TEST(Shortlist, RefusesDamagedFiles) {
  const TestFolder folder;
  const auto row = [](const Ids& ids) { return Tensor::from(ids, {static_cast<int64_t>(ids.size())}); };
  const auto expect_refused = [&](const Ids& common, const Ids& offsets, const Ids& words,
                                  const std::string& message) {
    write_safetensors(folder.path(model_file::kShortlist),
                      {{"common", row(common)}, {"offsets", row(offsets)}, {"words", row(words)}});
    expect_error(ErrorKind::kFormat, message, [&] { Shortlist::read(folder.path(), 3); });
  };
  expect_refused({0}, {0, 1, 1, 1}, {3}, "contains the id 3, which is out of range for a vocabulary of 3");
  expect_refused({-1}, {0, 1, 1, 1}, {2}, "contains the id -1");
  expect_refused({0}, {0, 2, 1, 1}, {2}, "the offsets of the lists are invalid");
  expect_refused({0}, {0, 1, 1, 2}, {2}, "the offsets of the lists are invalid");
  expect_refused({0}, {1, 1, 1, 1}, {2}, "the offsets of the lists are invalid");
  expect_refused({}, {0, 1, 1, 1}, {2}, "no common tokens");
  expect_refused({0}, {}, {2}, "a shortlist for a vocabulary of -1");
  write_safetensors(folder.path(model_file::kShortlist),
                    {{"common", Tensor::zeros({2})}, {"offsets", row({0, 0, 0, 0})}, {"words", row({})}});
  expect_error(ErrorKind::kFormat, "'common' must be a vector of I32",
               [&] { Shortlist::read(folder.path(), 3); });
  folder.write(model_file::kShortlist, "no tensors");
  EXPECT_THROW(Shortlist::read(folder.path(), 3), Error);
}

TEST(Shortlist, IsForModelsWithOneVocabulary) {
  TransformerConfig config;
  config.vocabulary = 20;
  config.width = 8;
  config.encoder_layers = config.decoder_layers = 1;
  config.encoder_heads = config.decoder_heads = 2;
  config.encoder_inner_width = config.decoder_inner_width = 8;
  config.max_length = 16;
  config.share_embeddings = false;
  for (const int64_t source : {20, 640, 10}) {
    config.source_vocabulary = source;
    const TestFolder folder;
    write_untrained(folder.path(), Transformer(config), 1);
    Shortlist({1}, std::vector<Ids>(20)).write(folder.path());
    EXPECT_EQ(load_model(folder.path()).shortlist, nullptr);  // not used in float32
    const auto load = [&] { return load_model(folder.path(), {.shortlist = true}); };
    if (source == config.vocabulary) {
      EXPECT_EQ(load().shortlist->tokens(Ids{19}), (Ids{1, 19}));
      EXPECT_THROW(load().shortlist->tokens(Ids{20}), std::logic_error);
    } else {
      expect_error(
          ErrorKind::kFormat,
          fmt::format(
              "has a shortlist.safetensors, which is for models with one vocabulary, and this one has {} "
              "tokens for the source and 20 for the target: remove the file",
              source),
          load);
    }
  }
}

}  // namespace
}  // namespace heed::models
