#include "inspect/trace/translation_trace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/error.h"
#include "inspect/trace/recorder.h"
#include "inspect/trace/weight_count.h"
#include "models/stacks/rnn_seq2seq.h"
#include "models/stacks/transformer.h"
#include "test_folder.h"

namespace heed {
namespace {

/// A Transformer with random weights, and a tokenizer with its vocabulary size.
struct SmallModel {
  SmallModel() {
    std::vector<std::string> lines{"der alte hund sieht den baum", "the old dog sees the tree",
                                   "ein mann geht", "a man walks"};
    TokenizerTrainOptions options;
    options.source.vocabulary_size = options.target.vocabulary_size = 40;
    options.source.byte_fallback = options.target.byte_fallback = false;
    const auto reader = [&lines] {
      return [lines, n = size_t{0}](std::string& line) mutable {
        if (n == 20 * lines.size()) return false;
        line = lines[n++ % lines.size()];
        return true;
      };
    };
    tokenizer.emplace(TranslationTokenizer::train(options, reader(), reader()));
    models::TransformerConfig config;
    config.vocabulary = static_cast<int64_t>(tokenizer->size());
    config.width = 16;
    config.encoder_layers = 3;
    config.decoder_layers = 2;
    config.encoder_heads = config.decoder_heads = 4;
    config.encoder_inner_width = config.decoder_inner_width = 32;
    config.max_length = 20;
    config.padding_id = config.start_id = tokenizer->pad_id();
    config.end_id = tokenizer->end_id();
    loaded.model = std::make_unique<models::Transformer>(config);
    loaded.values = nn::ParameterArray(loaded.model->table(), DType::kFloat32);
    nn::initialize(loaded.model->table(), loaded.values, RandomKey::from_seed(3));
    loaded.packed = std::make_unique<nn::PackedWeights>(loaded.model->table(), loaded.values);
  }
  std::optional<TranslationTokenizer> tokenizer;
  models::LoadedModel loaded;
};

double row_sum(const AttentionMatrix& matrix, int query) {
  double sum = 0;
  for (int key = 0; key < matrix.keys; ++key) sum += static_cast<double>(matrix.at(query, key));
  return sum;
}

TEST(TranslationTrace, ContainsEveryHeadOfEveryLayer) {
  const SmallModel model;
  const auto source = model.tokenizer->encode_source("der alte hund").ids;
  const auto target = model.tokenizer->encode_target("the dog").ids;
  const Trace trace = trace_translation(model.loaded, *model.tokenizer, {source, target});
  EXPECT_NO_THROW(check_trace(trace));
  ASSERT_EQ(trace.encoder.size(), 3u);
  ASSERT_EQ(trace.decoder.size(), 2u);
  ASSERT_EQ(trace.cross.size(), 2u);
  EXPECT_EQ(trace.source_tokens.size(), source.size());
  EXPECT_EQ(trace.target_tokens.back(), "</s>");
  EXPECT_EQ(trace.decoder_tokens.front(), "<pad>");  // the start token of this model
  EXPECT_EQ(trace.decoder_tokens.back(), trace.target_tokens[target.size() - 2]);
  for (const Stack stack : kStacks) {
    for (const auto& layer : stack_of(trace, stack)) {
      ASSERT_EQ(layer.size(), 4u);
      for (const AttentionMatrix& head : layer) {
        // A softmax of n floats sums to 1 within some n * 2^-24.
        for (int query = 0; query < head.queries; ++query) EXPECT_NEAR(row_sum(head, query), 1, 1e-5);
      }
    }
  }
  for (const auto& layer : trace.decoder) {
    for (const AttentionMatrix& head : layer) {
      for (int query = 0; query < head.queries; ++query) {
        for (int key = query + 1; key < head.keys; ++key) EXPECT_EQ(head.at(query, key), 0);
        EXPECT_GT(head.at(query, query), 0);
      }
    }
  }
}

int64_t weights_in(const Trace& trace) {
  int64_t count = 0;
  for (const Stack stack : kStacks) {
    for (const auto& layer : stack_of(trace, stack)) {
      for (const AttentionMatrix& head : layer) count += static_cast<int64_t>(head.weights.size());
    }
  }
  return count;
}

TEST(TranslationTrace, LimitsTheWeights) {
  const SmallModel model;
  TraceRequest request{.source = "der alte hund sieht", .search = {.max_new = 5, .max_length_factor = 0}};
  for (const std::string target : {"the dog", ""}) {
    request.target = target;
    request.max_weights = 0;
    const Trace trace = trace_text(model.loaded, *model.tokenizer, request);
    const TraceLengths lengths{.encoder = static_cast<int64_t>(trace.source_tokens.size()),
                               .decoder = static_cast<int64_t>(trace.target_tokens.size())};
    const int64_t count = weights_in(trace);
    EXPECT_EQ(count, count_weights(*model.loaded.model, lengths));
    request.max_weights = count;
    EXPECT_EQ(weights_in(trace_text(model.loaded, *model.tokenizer, request)), count);
    request.max_weights = count - 1;
    expect_error(ErrorKind::kUsage, fmt::format("{} attention weights", count),
                 [&] { trace_text(model.loaded, *model.tokenizer, request); });
  }
}

TEST(TranslationTrace, CountsTheWeightsOfARecurrentNetwork) {
  models::RnnConfig config;
  config.vocabulary = config.source_vocabulary = 8;
  const models::RnnSeq2Seq model(config);
  EXPECT_EQ(count_weights(model, {.encoder = 7, .decoder = 5}), 35);
}

/// Scores are q k^T / sqrt(d_k), and the softmax of those that the mask leaves is the weights.
TEST(TranslationTrace, DetailsExplainTheWeights) {
  const SmallModel model;
  const auto source = model.tokenizer->encode_source("der alte hund").ids;
  const auto target = model.tokenizer->encode_target("the dog").ids;
  EXPECT_TRUE(trace_translation(model.loaded, *model.tokenizer, {source, target}).details[0].empty());
  const Trace trace = trace_translation(model.loaded, *model.tokenizer, {source, target}, true);
  for (const Stack stack : kStacks) {
    const auto& layers = trace.details[static_cast<size_t>(stack)];
    ASSERT_EQ(layers.size(), stack_of(trace, stack).size());
    for (size_t layer = 0; layer < layers.size(); ++layer) {
      ASSERT_EQ(layers[layer].size(), 4u);
      for (size_t head = 0; head < 4; ++head) {
        const HeadDetail& detail = layers[layer][head];
        const AttentionMatrix& matrix = stack_of(trace, stack)[layer][head];
        ASSERT_EQ(detail.width, 4);
        EXPECT_EQ(detail.scale, 0.5F);
        ASSERT_EQ(detail.value.size(), static_cast<size_t>(4 * matrix.keys));
        for (int query = 0; query < matrix.queries; ++query) {
          double sum = 0;
          std::vector<double> expected;
          for (int key = 0; key < matrix.keys; ++key) {
            double product = 0;
            for (int n = 0; n < 4; ++n) {
              product += static_cast<double>(detail.query[4 * query + n]) *
                         static_cast<double>(detail.key[4 * key + n]);
            }
            EXPECT_NEAR(detail.scores[query * matrix.keys + key], product / 2, 1e-5);
            expected.push_back(stack == Stack::kDecoder && key > query ? 0 : std::exp(product / 2));
            sum += expected.back();
          }
          for (int key = 0; key < matrix.keys; ++key)
            EXPECT_NEAR(matrix.at(query, key), expected[key] / sum, 1e-5);
        }
      }
    }
  }
}

TEST(TranslationTrace, ContainsTokenLogProbabilities) {
  const SmallModel model;
  const auto source = model.tokenizer->encode_source("der alte hund").ids;
  const auto target = model.tokenizer->encode_target("the dog").ids;
  const Trace trace = trace_translation(model.loaded, *model.tokenizer, {source, target});
  ASSERT_EQ(trace.log_probabilities.size(), target.size());
  models::Sequences sources, inputs;
  sources.append(source);
  std::vector<int32_t> read{model.loaded.seq2seq().start_id()};
  read.insert(read.end(), target.begin(), target.end() - 1);
  inputs.append(read);
  nn::Context context = model.loaded.context();
  const Tensor logits = model.loaded.seq2seq().logits(context, sources, inputs);
  const auto all = logits.to_vector<float>();
  for (size_t n = 0; n < target.size(); ++n) {
    double sum = 0;
    for (int64_t id = 0; id < logits.dim(1); ++id)
      sum += std::exp(static_cast<double>(all[n * logits.dim(1) + id]));
    EXPECT_NEAR(trace.log_probabilities[n],
                static_cast<double>(all[n * logits.dim(1) + target[n]]) - std::log(sum), 1e-4);
  }
}

TEST(TranslationTrace, RecordingChangesNothing) {
  const SmallModel model;
  models::Sequences source, target;
  source.append(model.tokenizer->encode_source("ein mann").ids);
  target.append(model.tokenizer->encode_target("a man").ids);
  nn::Context context = model.loaded.context();
  const auto silent = model.loaded.seq2seq().logits(context, source, target).to_vector<float>();
  AttentionRecorder recorder;
  context.sink = &recorder;
  const auto heard = model.loaded.seq2seq().logits(context, source, target).to_vector<float>();
  ASSERT_EQ(silent.size(), heard.size());
  // Two ways to the same sums of some 50 products: they differ by rounding alone.
  for (size_t n = 0; n < silent.size(); ++n)
    EXPECT_NEAR(silent[n], heard[n], 1e-4 * (1 + std::abs(silent[n])));
  EXPECT_EQ(recorder.stack(Stack::kEncoder).size(), 3u);
}

TEST(TranslationTrace, RefusesTooLongInput) {
  const SmallModel model;
  const auto target = model.tokenizer->encode_target("the dog").ids;
  const std::vector<int32_t> none, many(21, target[0]);
  EXPECT_THROW(trace_translation(model.loaded, *model.tokenizer, {none, target}), Error);
  EXPECT_THROW(trace_translation(model.loaded, *model.tokenizer, {many, target}), Error);
  EXPECT_THROW(trace_translation(model.loaded, *model.tokenizer, {target, many}), Error);
}

TEST(AttentionRecorder, RecordsOneSentenceAtATime) {
  AttentionRecorder recorder;
  const auto layout = ops::AttentionLayout::padded(2, 3, 3);
  EXPECT_THROW(recorder.receive({}, Tensor::zeros({2 * 9}), layout, 1), Error);
  EXPECT_NO_THROW(recorder.receive({}, Tensor::zeros({9}), ops::AttentionLayout::padded(1, 3, 3), 1));
}

}  // namespace
}  // namespace heed
