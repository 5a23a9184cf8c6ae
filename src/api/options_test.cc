// Every option of the public headers that makes no sense is an error that names it, and so is text that is
// not UTF-8.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "heed/attention.h"
#include "heed/generator.h"
#include "heed/inspector.h"
#include "heed/norms.h"
#include "heed/picture.h"
#include "heed/translator.h"
#include "models/stacks/transformer.h"
#include "models/test_models.h"
#include "search/test_seq2seq.h"
#include "test_folder.h"
#include "text/tokenizers/language_tokenizer.h"

namespace heed {
namespace {

/// An untrained model that translates.
void write_translator(const std::string& directory) {
  models::write_untrained(directory, models::Transformer(search::small_translator_config()), 5);
  search::small_tokenizer().save(directory);
}

void write_generator(const std::string& directory) {
  models::write_untrained(directory, models::small_llama(256), 5);
  byte_tokenizer().save(directory);
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr const char* kNoText = "\xff\xfe";

TEST(PublicOptions, OfATranslator) {
  const TestFolder folder;
  write_translator(folder.path());
  const Translator translator(folder.path(), 1);
  EXPECT_FALSE(translator.alternatives("The house.", {.beam = 3, .nbest = 2}).empty());
  for (const TranslateOptions& options : std::vector<TranslateOptions>{{.beam = -3},
                                                                       {.beam = 1025},
                                                                       {.nbest = 0},
                                                                       {.nbest = -1},
                                                                       {.beam = 2, .nbest = 3},
                                                                       {.max_length = 1},
                                                                       {.no_repeat_ngram = -1},
                                                                       {.require = {" "}},
                                                                       {.temperature = 0.5},
                                                                       {.top_k = 3},
                                                                       {.beam = 2, .sample = true},
                                                                       {.sample = true, .temperature = -0.5},
                                                                       {.sample = true, .top_p = 1.5},
                                                                       {.ablate = {"cross:99:1"}},
                                                                       {.length_penalty = kNan},
                                                                       {.length_penalty = kInfinity}}) {
    expect_error(ErrorKind::kUsage, "", [&] { translator.translate("The house.", options); });
    expect_error(ErrorKind::kUsage, "", [&] { translator.alternatives("The house.", options); });
  }
  const auto greedy = translator.alternatives("The house.", {.sample = true, .temperature = 0});
  EXPECT_EQ(greedy[0].score, translator.alternatives("The house.", {.beam = 1})[0].score);
  expect_error(ErrorKind::kUsage, "threads", [&] { Translator(folder.path(), -1); });
  expect_error(ErrorKind::kUsage, "precision", [&] { Translator(folder.path(), 1, {}, "int3"); });
  expect_error(ErrorKind::kUsage, "format", [&] { translator.translate_document("a", "pdf"); });
  expect_error(ErrorKind::kUsage, "nbest", [&] { translator.translate_document("a", "html", {.nbest = 2}); });
  for (const auto& act : std::vector<std::function<void()>>{
           [&] { translator.translate(kNoText); }, [&] { translator.translate("a", {.prefix = kNoText}); },
           [&] { translator.translate("a", {.require = {kNoText}}); },
           [&] { translator.translate("a", {.forbid = {kNoText}}); },
           [&] { translator.translate_document(kNoText, "html"); },
           [&] {
             translator.translate(std::vector<std::string>{"a", kNoText});
           },
           [&] { translator.alternatives(kNoText); }, [&] { translator.attend(kNoText); },
           [&] { translator.attend("a", kNoText); }, [&] { translator.log_probability("a", kNoText); },
           [&] { translator.log_probability(kNoText, "a"); }}) {
    expect_error(ErrorKind::kText, "not UTF-8, at byte 0", act);
  }
  const std::vector<std::string> lines{"a", "b", std::string("c") + kNoText};
  const std::string where = "line 3 is not UTF-8, at byte 1";
  expect_error(ErrorKind::kText, where, [&] { translator.translate(lines); });
  expect_error(ErrorKind::kText, where, [&] { translator.alternatives(lines); });
}

TEST(PublicOptions, OfAnInspector) {
  const TestFolder folder;
  write_translator(folder.path());
  const Inspector inspector(folder.path(), 1);
  const auto expect = [&](const AttributionOptions& options) {
    expect_error(ErrorKind::kText, "not UTF-8, at byte 0", [&] { inspector.attribute("The", options); });
  };
  expect({.target = kNoText});
  expect({.token = kNoText});
  expect({.token = "1", .instead = kNoText});
  expect({.token = "1", .baseline = kNoText});
  expect_error(ErrorKind::kText, "the token is not UTF-8",
               [&] { inspector.patch("The", "house", {.token = kNoText}); });
}

TEST(PublicOptions, OfAGenerator) {
  const TestFolder folder;
  write_generator(folder.path());
  const Generator generator(folder.path(), 1);
  for (const GenerateOptions& options : std::vector<GenerateOptions>{{.max_tokens = 0},
                                                                     {.max_tokens = -5},
                                                                     {.beam = -3},
                                                                     {.greedy = true, .beam = 4},
                                                                     {.temperature = -1},
                                                                     {.temperature = kNan},
                                                                     {.top_k = -1},
                                                                     {.top_p = 0},
                                                                     {.top_p = 1.5},
                                                                     {.min_p = -0.5},
                                                                     {.repetition_penalty = 0},
                                                                     {.draft_tokens = -1},
                                                                     {.beam = 2, .draft_tokens = 3},
                                                                     {.repetition_penalty = kInfinity},
                                                                     {.stop = {""}}}) {
    expect_error(ErrorKind::kUsage, "", [&] { generator.generate("Once", options); });
  }
  EXPECT_EQ(generator.generate("Once", {.temperature = 0}), generator.generate("Once", {.greedy = true}));
  EXPECT_EQ(generator.generate("Once", {.greedy = true, .draft_tokens = 0}),
            generator.generate("Once", {.greedy = true, .draft_tokens = 8}));
  EXPECT_NE(generator.generate("Once", {.temperature = 1}), generator.generate("Once", {.greedy = true}));
  expect_error(ErrorKind::kUsage, "count must be", [&] { generator.samples("Once", 0); });
  expect_error(ErrorKind::kUsage, "count is 3", [&] { generator.samples("Once", 3, {.greedy = true}); });
  expect_error(ErrorKind::kUsage, "count is 3, which requires a beam",
               [&] { generator.samples("Once", 3, {.beam = 2}); });
  expect_error(ErrorKind::kText, "prompt 2 is not UTF-8, at byte 0", [&] {
    generator.generate(std::vector<std::string>{"a", kNoText});
  });
  expect_error(ErrorKind::kUsage, "threads", [&] { Generator(folder.path(), -1); });
  for (const auto& act : std::vector<std::function<void()>>{
           [&] { generator.generate(kNoText); }, [&] { generator.samples(kNoText, 2); },
           [&] { generator.log_probability(kNoText); }, [&] { generator.perplexity(kNoText); },
           [&] { generator.attend(kNoText); }, [&] { generator.generate("a", {.stop = {kNoText}}); }}) {
    expect_error(ErrorKind::kText, "not UTF-8, at byte 0", act);
  }
}

// What a directory says holds where the options say nothing.
TEST(PublicOptions, OfAGeneratorAreItsDirectorysWhereNotSet) {
  const TestFolder folder;
  write_generator(folder.path());
  folder.write("generation_config.json", R"({"max_new_tokens": 3, "do_sample": false})");
  const Generator generator(folder.path(), 1);
  EXPECT_EQ(generator.generate("Once"), generator.generate("Once", {.max_tokens = 3, .greedy = true}));
  EXPECT_NE(generator.generate("Once"), generator.generate("Once", {.max_tokens = 4, .greedy = true}));
  EXPECT_NE(generator.generate("Once", {.temperature = 1}), generator.generate("Once"));
}

TEST(PublicOptions, OfLayersAndNorms) {
  const Tensor x = Tensor::zeros({2, 4});
  for (const double epsilon : {-1e-5, kNan, kInfinity}) {
    expect_error(ErrorKind::kUsage, "epsilon", [&] { layer_norm(x, {.epsilon = epsilon}); });
    expect_error(ErrorKind::kUsage, "epsilon", [&] { rms_norm(x, {.epsilon = epsilon}); });
    expect_error(ErrorKind::kUsage, "epsilon", [&] { batch_norm(x, {}, {.epsilon = epsilon}); });
    expect_error(ErrorKind::kUsage, "epsilon", [&] { batch_norm_training(x, {.epsilon = epsilon}); });
  }
  for (const double momentum : {-0.1, 1.1, kNan}) {
    BatchMoments moments{.momentum = momentum};
    expect_error(ErrorKind::kUsage, "momentum", [&] { batch_norm_training(x, {}, &moments); });
  }
  for (const double scale : {kNan, kInfinity}) {
    expect_error(ErrorKind::kUsage, "scale", [&] { scaled_dot_product_attention(x, x, x, {}, scale); });
    expect_error(ErrorKind::kUsage, "scale", [&] { attention_scores(x, x, scale); });
    expect_error(ErrorKind::kUsage, "scale", [&] { self_attention(x, {x, x, x}, {}, scale); });
  }
  for (const MultiHeadAttentionOptions& options : std::vector<MultiHeadAttentionOptions>{
           {.d_model = 0},
           {.d_model = -8},
           {.d_model = 8, .heads = 0},
           {.d_model = 8, .heads = -1},
           {.d_model = 8, .heads = 3},
           {.d_model = 8, .key_width = -1},
           {.d_model = 8, .dropout = 1},
           {.d_model = 8, .dropout = kNan},
           {.d_model = 8, .dtype = DType::kInt32},
           {.d_model = 8,
           .heads = 2,
           .positions = {.kind = PositionKind::kRelative, .max_relative_distance = 0}},
           {.d_model = 8,
           .heads = 2,
           .positions = {.kind = PositionKind::kRelative, .max_relative_distance = int64_t{1} << 40}},
           {.d_model = 8, .heads = 2, .positions = {.kind = PositionKind::kBuckets, .buckets = 1}},
           {.d_model = 8,
           .heads = 2,
           .positions = {.kind = PositionKind::kBuckets, .bucket_max_distance = int64_t{1} << 40}},
           {.d_model = 8, .heads = 2, .positions = {.kind = PositionKind::kRotary, .rotary_base = 0}},
           {.d_model = 8, .heads = 2, .positions = {.kind = PositionKind::kRotary, .rotary_base = kNan}}}) {
    EXPECT_THROW(MultiHeadAttention{options}, Error) << options.d_model << " " << options.heads;
  }
  EXPECT_THROW(look_ahead_mask(-1), Error);
  EXPECT_THROW(padding_mask({}, -1), Error);
}

TEST(PublicOptions, OfPictures) {
  const TestFolder folder;
  const std::string path = folder.path("picture.svg");
  const std::vector<Heatmap> maps{{.title = "one", .values = Tensor::zeros({2, 2})}};
  for (const HeatmapOptions& options : std::vector<HeatmapOptions>{{.least = 1, .most = 0},
                                                                   {.least = kNan},
                                                                   {.most = kInfinity},
                                                                   {.decimals = -2},
                                                                   {.decimals = 100},
                                                                   {.per_row = -1}}) {
    expect_error(ErrorKind::kUsage, "", [&] { save_heatmaps(path, maps, options); });
  }
  Trace trace;
  trace.source_tokens = {"a"};
  trace.encoder = {{{1, 1, {1}}}};
  EXPECT_NO_THROW(save_attention(path, trace));
  expect_error(ErrorKind::kUsage, "heads_per_row",
               [&] { save_attention(path, trace, {.heads_per_row = -1}); });
  expect_error(ErrorKind::kUsage, "columns", [&] { attention_text(trace, -5); });
  expect_error(ErrorKind::kUsage, "bins", [&] { save_histogram(path, {1, 2}, {}, -1); });
}

}  // namespace
}  // namespace heed
