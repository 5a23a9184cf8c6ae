// One Marian model in every format that people have (file format, type of the weights, tied or not, one
// vocabulary or two, ...) against Hugging Face's MarianMTModel: ids, logits, cross-attention, greedy and beam
// search.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model_reference.h"
#include "models/directory/loaded_model.h"
#include "models/seq2seq.h"
#include "reference.h"
#include "search/search.h"
#include "test_folder.h"
#include "text/tokenizers/translation_tokenizer.h"

namespace heed {
namespace {

class MarianFormats : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(families_folder())) GTEST_SKIP() << missing_families();
    for (const std::string& name : fixture_cases("marian_formats", families_folder())) {
      ReferenceCase reference(name, "", families_folder());
      (reference.json().contains("search") ? cases_ : others_).push_back(std::move(reference));
    }
    ASSERT_FALSE(cases_.empty());
  }
  static std::string model_of(const ReferenceCase& reference) {
    return (reference.folder() / "model").string();
  }

  std::vector<ReferenceCase> cases_, others_;
};

TEST_F(MarianFormats, LogitsAndCrossAttention) {
  for (const ReferenceCase& reference : cases_) {
    SCOPED_TRACE(reference.name());
    const models::LoadedModel loaded = models::load_model(model_of(reference));
    const int64_t padding = reference.hyperparameters().at("padding_id");
    const Sequences source = sequences_of(reference.tensor("input.source"), padding);
    const Sequences target = sequences_of(reference.tensor("input.target"), padding);
    const Tensor padded_input = reference.tensor("input.decoder_input");
    Sequences input;
    for (int b = 0; b < target.count(); ++b) {
      const std::vector<int64_t> row = padded_input.narrow(0, b, 1).to_vector<int64_t>();
      const auto count = target.offsets[b + 1] - target.offsets[b];
      input.append(std::vector<int32_t>(row.begin(), row.begin() + count));
    }
    KeepAll sink;
    nn::Context context = loaded.context();
    context.sink = &sink;
    expect_rows(loaded.seq2seq().logits(context, source, input), reference.tensor("expected.logits"),
                input.offsets, reference.tolerance("expected.logits", "float32"), "logits");
    int last = -1;
    for (const auto& [place, weights] : sink.all) {
      if (std::get<0>(place) == Stack::kCross) last = std::max(last, std::get<1>(place));
    }
    expect_weights(sink.all.at({Stack::kCross, last}), reference.tensor("expected.cross_attention"),
                   reference.tolerance("expected.cross_attention", "float32"), "cross-attention");
  }
}

TEST_F(MarianFormats, GreedyAndBeamSearch) {
  for (const ReferenceCase& reference : cases_) {
    const models::LoadedModel loaded = models::load_model(model_of(reference));
    const TranslationTokenizer tokenizer = TranslationTokenizer::load(model_of(reference));
    const auto& rows = reference.json().at("search").at("rows");
    const double tolerance = reference.json().at("search").at("score_tolerance").at("absolute");
    std::vector<search::SearchSentence> sentences;
    for (const auto& row : rows) {
      sentences.push_back({sentences.size(), row.at("source").get<std::vector<int32_t>>()});
    }
    search::SearchOptions options = search::search_options_of(loaded);
    options.max_length = reference.hyperparameters().at("max_length");
    options.max_length_factor = 0;
    options.length_penalty = 1;
    options.renormalize = true;  // the reference's scores; old configs lack the key
    options.beam_size = 1;
    const auto greedy = search::Search(loaded.seq2seq(), loaded.context(), options).run(sentences);
    options.beam_size = options.nbest = 4;
    const auto beam = search::Search(loaded.seq2seq(), loaded.context(), options).run(sentences);
    for (size_t n = 0; n < rows.size(); ++n) {
      SCOPED_TRACE(reference.name() + ": " + rows[n].at("text").get<std::string>());
      EXPECT_EQ(tokenizer.encode_source(rows[n].at("text").get<std::string>()).ids, sentences[n].source);
      if (rows[n].at("greedy_sturdy").get<bool>()) {
        EXPECT_EQ(greedy[n][0].ids, rows[n].at("greedy").get<std::vector<int32_t>>());
        EXPECT_EQ(tokenizer.decode(greedy[n][0].ids), rows[n].at("decoded").get<std::string>());
      }
      if (!rows[n].contains("beam")) continue;
      const auto& expected = rows[n].at("beam");
      ASSERT_EQ(beam[n].size(), expected.size());
      for (size_t h = 0; h < expected.size(); ++h) {
        EXPECT_NEAR(beam[n][h].score, expected[h].at("score").get<double>(), tolerance);
        if (rows[n].at(h == 0 ? "beam_sturdy_best" : "beam_sturdy_all").get<bool>()) {
          EXPECT_EQ(beam[n][h].ids, expected[h].at("ids").get<std::vector<int32_t>>());
        }
      }
    }
  }
}

// Copies of a tied matrix that differ: toolkits use one of them, or each for what its name says, so no guess
// is right.
TEST_F(MarianFormats, DifferentCopiesOfATiedMatrixAreRefused) {
  bool found = false;
  for (const ReferenceCase& reference : others_) {
    if (!reference.json().contains("transformers_takes")) continue;
    found = true;
    expect_error(ErrorKind::kFormat, "which are tied in this model, with different values",
                 [&] { models::load_model(model_of(reference)); });
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace heed
