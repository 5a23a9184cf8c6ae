// Language models against Hugging Face's GPT2LMHeadModel and LlamaForCausalLM: logits, attention weights,
// perplexity, and generated text.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "model_reference.h"
#include "models/directory/loaded_model.h"
#include "models/stacks/decoder_only.h"
#include "reference.h"
#include "search/search.h"

namespace heed {
namespace {

/// A batch (B, T) of ids without padding.
Sequences sequences_in(const Tensor& ids) {
  return sequences_of(ids, -1);
}

/// The first `rows` rows of each sequence of T.
Tensor first_rows(const Tensor& packed, int64_t sequences, int64_t length, int64_t rows) {
  const int64_t width = packed.dim(1);
  return packed.reshape({sequences, length, width}).narrow(1, 0, rows).clone();
}

class LanguageModelReference : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto cases = fixture_cases(GetParam());
    if (cases.empty()) GTEST_SKIP() << missing_fixtures();
    reference_ = std::make_unique<ReferenceCase>(GetParam());
    loaded_ = models::load_model((reference_->folder() / "model").string());
    ids_ = reference_->tensor("input.ids");
  }
  double tolerance(const std::string& tensor) const { return reference_->tolerance(tensor, "float32"); }

  std::unique_ptr<ReferenceCase> reference_;
  models::LoadedModel loaded_;
  Tensor ids_;  // (B, T)
};

TEST_P(LanguageModelReference, Logits) {
  const Tensor expected = reference_->tensor("expected.logits");  // (B, rows, V)
  const int64_t batch = ids_.dim(0), length = ids_.dim(1);
  for (const bool packed : {true, false}) {
    nn::Context context = loaded_.context();
    if (!packed) context.packed = nullptr;
    const Tensor logits = loaded_.language_model().logits(context, sequences_in(ids_));  // (B T, V)
    expect_close(first_rows(logits, batch, length, expected.dim(1)), expected, tolerance("expected.logits"),
                 packed ? "packed" : "not packed");
    if (!reference_->has("expected.last_logits")) continue;
    const Tensor last = logits.reshape({batch, length, logits.dim(1)}).narrow(1, length - 1, 1).clone();
    expect_close(last.reshape({batch, logits.dim(1)}), reference_->tensor("expected.last_logits"),
                 tolerance("expected.last_logits"), "last position");
  }
}

TEST_P(LanguageModelReference, Attention) {
  const std::string prefix = "expected.attention.";
  const auto names = reference_->tensor_names(prefix);
  ASSERT_FALSE(names.empty());
  const int64_t length = reference_->tensor(names[0]).dim(3);
  Sequences text;
  for (int64_t b = 0; b < ids_.dim(0); ++b) {
    Sequences row = sequences_in(ids_.narrow(0, b, 1).clone());
    row.ids.resize(static_cast<size_t>(length));
    text.append(row.ids);
  }
  KeepAll sink;
  nn::Context context = loaded_.context();
  context.sink = &sink;
  loaded_.language_model().logits(context, text);
  EXPECT_EQ(sink.all.size(), names.size());
  for (const std::string& name : names) {
    const auto found = sink.all.find({Stack::kDecoder, std::stoi(name.substr(prefix.size()))});
    ASSERT_NE(found, sink.all.end()) << name;
    expect_weights(found->second, reference_->tensor(name), tolerance(name), name);
  }
}

TEST_P(LanguageModelReference, Perplexity) {
  if (!reference_->has("expected.nll")) GTEST_SKIP() << "the case has none";
  nn::Context context = loaded_.context();
  const Sequences text = sequences_in(ids_);
  Sequences input;
  input.append(std::span(text.ids).first(text.ids.size() - 1));
  const std::vector<int32_t> labels(text.ids.begin() + 1, text.ids.end());
  const auto loss = loaded_.language_model().loss(context, input, labels, {});
  const double perplexity = std::exp(loss.negative_log_likelihood / static_cast<double>(labels.size()));
  const double expected = reference_->tensor("expected.perplexity").to_vector<double>()[0];
  EXPECT_NEAR(perplexity, expected, tolerance("expected.perplexity"));
  double sum = 0;
  for (const double each : reference_->tensor("expected.nll").to_vector<double>()) sum += each;
  EXPECT_NEAR(loss.negative_log_likelihood, sum,
              tolerance("expected.nll") * static_cast<double>(labels.size()));
}

struct Prompt {
  std::vector<int32_t> ids, greedy;
  bool sturdy = true;
};

std::vector<Prompt> prompts_of(const ReferenceCase& reference) {
  std::vector<Prompt> prompts;
  const bool text = reference.json().contains("generation");
  const auto& rows = text ? reference.json()["generation"]["rows"] : reference.json()["greedy"]["rows"];
  for (const auto& row : rows) {
    prompts.push_back({ids_of(row.at(text ? "prompt_ids" : "prompt")),
                       ids_of(row.at(text ? "greedy" : "ids")),
                       row.at(text ? "greedy_sturdy" : "sturdy").get<bool>()});
  }
  return prompts;
}

/// All prompts in one batch, with different lengths and ends.
TEST_P(LanguageModelReference, GreedyContinuations) {
  const std::vector<Prompt> prompts = prompts_of(*reference_);
  ASSERT_FALSE(prompts.empty());
  size_t most = 0;
  std::vector<search::SearchSentence> sentences;
  for (size_t n = 0; n < prompts.size(); ++n) {
    sentences.push_back({n, prompts[n].ids});
    most = std::max(most, prompts[n].greedy.size());
  }
  search::SearchOptions options = search::continuation_options();
  options.beam_size = 1;
  options.max_new = static_cast<int64_t>(most);
  const search::Search search(loaded_.language_model(), loaded_.context(), options);
  const auto found = search.run(sentences);
  size_t compared = 0;
  for (size_t n = 0; n < prompts.size(); ++n) {
    if (!prompts[n].sturdy) continue;
    EXPECT_EQ(found[n][0].ids, prompts[n].greedy) << "prompt " << n;
    ++compared;
  }
  EXPECT_GT(compared, 0U);
}

TEST_P(LanguageModelReference, BeamContinuations) {
  if (!reference_->json().contains("generation")) GTEST_SKIP() << "the case has none";
  for (const auto& row : reference_->json()["generation"]["rows"]) {
    if (!row.at("beam_sturdy").get<bool>()) continue;
    const auto& expected = row.at("beam");
    search::SearchOptions options = search::continuation_options();
    options.beam_size = options.nbest = static_cast<int>(expected.size());
    options.max_new = static_cast<int64_t>(row.at("greedy").size());
    const search::Search search(loaded_.language_model(), loaded_.context(), options);
    const auto found = search.run({{0, ids_of(row.at("prompt_ids"))}});
    ASSERT_EQ(found[0].size(), expected.size());
    for (size_t rank = 0; rank < expected.size(); ++rank) {
      EXPECT_EQ(found[0][rank].ids, ids_of(expected[rank].at("ids"))) << "rank " << rank;
      // The mean log-probability per token.
      EXPECT_NEAR(found[0][rank].score, expected[rank].at("score").get<double>(), 1e-4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, LanguageModelReference, testing::Values("gpt2", "llama"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace heed
