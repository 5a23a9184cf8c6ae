// BERT against Hugging Face's BertForSequenceClassification and BertForMaskedLM: encoder outputs, attention
// weights, pooled outputs, logits, and predictions of masked tokens.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "model_reference.h"
#include "models/directory/loaded_model.h"
#include "models/stacks/encoder_heads.h"
#include "reference.h"
#include "text/tokenizers/encoder_tokenizer.h"

namespace heed {
namespace {

using models::EncoderInput;

/// The texts and pairs of a case, tokenized by Heed.
EncoderInput input_of(const ReferenceCase& reference) {
  const ModelTokenizer tokenizer = load_encoder_tokenizer((reference.folder() / "model").string());
  const EncodeOptions options{.max_length = reference.hyperparameters().at("longest"), .read_mask = true};
  EncoderInput input;
  const auto add = [&](const Encoding& encoding) {
    input.text.append(encoding.ids);
    input.types.insert(input.types.end(), encoding.types.begin(), encoding.types.end());
  };
  for (const auto& each : reference.json().at("texts")) {
    add(tokenizer.encode(each.at("text").get<std::string>(), options));
  }
  for (const auto& each : reference.json().value("pairs", nlohmann::json::array())) {
    add(tokenizer.encode(each.at("first").get<std::string>(), each.at("second").get<std::string>(), options));
  }
  return input;
}

/// Some texts of a batch.
EncoderInput pick(const EncoderInput& input, const std::vector<int64_t>& rows) {
  EncoderInput picked;
  for (const int64_t row : rows) {
    const auto b = static_cast<int>(row);
    picked.text.append(input.text[b]);
    picked.types.insert(picked.types.end(), input.types.begin() + input.text.offsets[b],
                        input.types.begin() + input.text.offsets[b + 1]);
  }
  return picked;
}

/// The queries and keys of (B, H, T, T) that the reference contains.
KeepAll::Weights first_places(const KeepAll::Weights& all, int64_t places) {
  KeepAll::Weights kept{Tensor(), {}, all.heads};
  std::vector<float> flat;
  for (const AttentionSpan& span : all.layout.spans) {
    const int64_t side = std::min<int64_t>(span.queries(), places);
    AttentionSpan part = span;
    part.query_end = part.query_begin + static_cast<int32_t>(side);
    part.key_end = part.key_begin + static_cast<int32_t>(side);
    part.pairs_begin = static_cast<int64_t>(flat.size()) / all.heads;
    kept.layout.spans.push_back(part);
    const float* from = all.flat.data<float>() + all.heads * span.pairs_begin;
    for (int head = 0; head < all.heads; ++head) {
      for (int64_t query = 0; query < side; ++query) {
        const float* row = from + (head * span.queries() + query) * span.keys();
        flat.insert(flat.end(), row, row + side);
      }
    }
  }
  kept.flat = Tensor::from(flat, {static_cast<int64_t>(flat.size())});
  return kept;
}

std::vector<std::string> cases_of(const std::string& kind) {
  std::vector<std::string> names = fixture_cases("bert");
  std::erase_if(names, [&](const std::string& name) { return name.find(kind) == std::string::npos; });
  return names;
}

TEST(BertReference, PooledLogitsAndAttentions) {
  const auto cases = cases_of("classifier");
  if (cases.empty()) GTEST_SKIP() << missing_fixtures();
  for (const std::string& name : cases) {
    const ReferenceCase reference(name);
    const models::LoadedModel loaded = models::load_model((reference.folder() / "model").string());
    const auto& model = dynamic_cast<const models::EncoderClassifier&>(loaded.classifier());
    EXPECT_EQ(model.labels(), reference.hyperparameters().at("labels").get<std::vector<std::string>>());
    const EncoderInput input = input_of(reference);
    const auto tolerance = [&](const std::string& what) { return reference.tolerance(what, "float32"); };
    for (const bool packed : {false, true}) {
      nn::Context context = loaded.context();
      if (!packed) context.packed = nullptr;
      const Var hidden = model.encode(context, input);
      expect_close(model.pool(context, hidden, input.text).value(), reference.tensor("expected.pooled"),
                   tolerance("expected.pooled"), name + " pooled");
      expect_close(model.logits(context, input), reference.tensor("expected.logits"),
                   tolerance("expected.logits"), name + " logits");
    }

    const std::vector<int64_t> rows = reference.tensor("input.attended").to_vector<int64_t>();
    const EncoderInput attended = pick(input, rows);
    nn::Context context = loaded.context();
    KeepAll sink;
    context.sink = &sink;
    expect_rows(model.encode(context, attended).value(), reference.tensor("expected.hidden"),
                attended.text.offsets, tolerance("expected.hidden"), name + " hidden");
    EXPECT_EQ(sink.all.size(), reference.tensor_names("expected.attention.").size());
    for (const auto& [place, weights] : sink.all) {
      const std::string key = "expected.attention." + std::to_string(std::get<1>(place));
      const Tensor expected = reference.tensor(key);
      expect_weights(first_places(weights, expected.dim(2)), expected, tolerance(key),
                     fmt::format("{} {}", name, key));
    }
  }
}

TEST(BertReference, MaskedTokens) {
  const auto cases = cases_of("masked_lm");
  if (cases.empty()) GTEST_SKIP() << missing_fixtures();
  for (const std::string& name : cases) {
    const ReferenceCase reference(name);
    const models::LoadedModel loaded = models::load_model((reference.folder() / "model").string());
    const auto& model = dynamic_cast<const models::EncoderMaskedLm&>(*loaded.model);
    const EncoderInput input = input_of(reference);
    std::vector<int32_t> places;
    const std::vector<int64_t> masks = reference.tensor("input.mask_positions").to_vector<int64_t>();
    for (size_t n = 0; n < masks.size(); n += 2) {
      places.push_back(input.text.offsets[masks[n]] + static_cast<int32_t>(masks[n + 1]));
    }
    nn::Context context = loaded.context();
    const Tensor logits = model.logits(context, input, places);
    expect_close(logits, reference.tensor("expected.logits"),
                 reference.tolerance("expected.logits", "float32"), name);
    for (size_t n = 0; n < places.size(); ++n) {
      const float* row = logits.data<float>() + static_cast<int64_t>(n) * logits.dim(1);
      const auto best = reference.json().at("best")[n].at("ids").get<std::vector<int32_t>>();
      std::vector<int32_t> order(static_cast<size_t>(logits.dim(1)));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return row[a] > row[b]; });
      order.resize(best.size());
      EXPECT_EQ(order, best) << name << ", gap " << n;
    }
  }
}

}  // namespace
}  // namespace heed
