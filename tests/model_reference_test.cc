// The public Model on the reference cases of Hugging Face's library: logits and hidden states for given ids,
// and decodings step by step.
#include "heed/model.h"

#include <gtest/gtest.h>

#include "compare.h"
#include "model_reference.h"
#include "reference.h"

namespace heed {
namespace {

struct ModelCase {
  explicit ModelCase(const std::string& name)
      : reference(name, "", families_folder()), model((reference.folder() / "model").string()) {}
  double tolerance(const std::string& tensor) const { return reference.tolerance(tensor, "float32"); }

  ReferenceCase reference;
  Model model;
};

std::vector<int32_t> row_of(const Sequences& sequences, int row) {
  const auto ids = sequences[row];
  return {ids.begin(), ids.end()};
}

Tensor first_rows(const Tensor& padded, int row, int64_t count) {
  const Tensor one = padded.narrow(0, row, 1).narrow(1, 0, count).clone();
  return one.reshape({count, padded.dim(2)});
}

TEST(PublicModelReference, LanguageModels) {
  for_each_model_case<ModelCase>("decoder_families", [](const ModelCase& each) {
    const std::vector<int32_t> ids = row_of(sequences_of(each.reference.tensor("input.ids"), -1), 0);
    const ForwardResult result = each.model.forward(ids, {}, {.hidden_states = true});
    const Tensor first = each.reference.tensor("expected.logits");
    expect_close(result.logits.narrow(0, 0, first.dim(1)).clone(), first_rows(first, 0, first.dim(1)),
                 each.tolerance("expected.logits"), "logits");
    EXPECT_EQ(result.decoder.size(), static_cast<size_t>(each.model.layers(Stack::kDecoder)) + 1);
    // A prompt, and then step by step.
    Decoding decoding = each.model.start({ids.begin(), ids.begin() + 3});
    for (size_t n = 3; n < ids.size(); ++n) decoding.step({ids[n]});
    expect_close(decoding.logits(), each.reference.tensor("expected.last_logits"),
                 each.tolerance("expected.last_logits"), "last logits");
  });
}

TEST(PublicModelReference, TranslationModels) {
  for_each_model_case<ModelCase>("seq2seq_families", [](const ModelCase& each) {
    const int32_t padding = each.reference.hyperparameters().at("padding_id").get<int32_t>();
    const Sequences source = sequences_of(each.reference.tensor("input.source"), padding);
    const Tensor decoder_input = each.reference.tensor("input.decoder_input");
    EXPECT_EQ(each.model.start_id(), each.reference.hyperparameters().at("decoder_start_id").get<int32_t>());
    for (int row = 0; row < source.count(); ++row) {
      const std::vector<int32_t> ids = row_of(source, row);
      const Sequences target =
          sequences_of(each.reference.tensor("input.target").narrow(0, row, 1).clone(), padding);
      std::vector<int64_t> read = decoder_input.narrow(0, row, 1).clone().to_vector<int64_t>();
      read.resize(target.ids.size());  // without padding
      const std::vector<int32_t> decoder_ids(read.begin(), read.end());
      const ForwardResult result = each.model.forward(ids, decoder_ids, {.hidden_states = true});
      const auto count = static_cast<int64_t>(decoder_ids.size());
      const Tensor logits = first_rows(each.reference.tensor("expected.logits"), row, count);
      expect_close(result.logits, logits, each.tolerance("expected.logits"), "logits");
      expect_close(
          result.encoder.back(),
          first_rows(each.reference.tensor("expected.memory"), row, static_cast<int64_t>(ids.size())),
          each.tolerance("expected.memory"), "encoder");
      Decoding decoding = each.model.start(ids);
      for (size_t n = 1; n < decoder_ids.size(); ++n) decoding.step({decoder_ids[n]});
      expect_close(decoding.logits(), logits.narrow(0, count - 1, 1).clone(),
                   each.tolerance("expected.logits"), "last logits");
    }
  });
}

TEST(PublicModelReference, Encoders) {
  for_each_model_case<ModelCase>("encoder_families", [](const ModelCase& each) {
    EXPECT_FALSE(each.model.has_decoder());
    const auto& texts = each.reference.json().at("texts");
    const Tensor hidden = each.reference.tensor("expected.hidden");
    for (size_t n = 0; n < texts.size(); ++n) {
      const std::vector<int32_t> ids = ids_of(texts[n].at("ids"));
      const ForwardResult result = each.model.forward(ids, {}, {.hidden_states = true});
      expect_close(result.encoder.back(),
                   first_rows(hidden, static_cast<int>(n), static_cast<int64_t>(ids.size())),
                   each.tolerance("expected.hidden"), "hidden");
    }
    EXPECT_THROW(each.model.start({1}), Error);
  });
}

}  // namespace
}  // namespace heed
