#include "train/tasks/guided_alignment.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "models/directory/loaded_model.h"
#include "text/tokenizers/translation_tokenizer.h"
#include "train/test_trainings.h"
#include "translate/words/word_alignment.h"

namespace heed::train {
namespace {

TEST(GuidedAlignment, LinksTheStepWithTheTokenAsInput) {
  const TestFolder folder;
  CorpusWriter writer(folder.path("links"), 2, 10);
  writer.add(std::vector<int32_t>{3, 1, 0, 1}, std::vector<int32_t>{4, 0, 1, 1});
  writer.add(std::vector<int32_t>{2}, std::vector<int32_t>{2});
  writer.commit({}, {.written = 2});
  const Corpus links(folder.path("links"));
  // The second sentence has no links; the first is given last.
  const std::vector<std::vector<int32_t>> sources{{5, 0}, {5, 6, 0}}, targets{{7, 0}, {7, 8, 9, 0}};
  const TranslationBatch batch = pack_translation(sources, targets, 1);
  const std::vector<uint64_t> order{1, 0};
  const auto found = guided_links(links, order, batch);
  ASSERT_EQ(found.size(), 3u);
  const std::vector<std::vector<float>> expected{{1, 1, 1, 1}, {1, 2, 0, 0.5F}, {1, 2, 1, 0.5F}};
  for (size_t n = 0; n < 3; ++n) {
    EXPECT_EQ(found[n].span, expected[n][0]);
    EXPECT_EQ(found[n].query, expected[n][1]);
    EXPECT_EQ(found[n].key, expected[n][2]);
    EXPECT_EQ(found[n].share, expected[n][3]);
  }
  const std::vector<uint64_t> wrong{0, 1};
  expect_error(ErrorKind::kFormat, "train.links", [&] { guided_links(links, wrong, batch); });
}

/// Pairs of a language whose words come in the opposite order in the other.
std::string reversed_pairs(size_t count, uint64_t seed) {
  Random random(RandomKey::from_seed(seed));
  std::string text;
  for (size_t n = 0; n < count; ++n) {
    std::string source, target;
    const auto words = 3 + random.below(3);
    for (uint64_t w = 0; w < words; ++w) {
      const char letter = static_cast<char>('a' + random.below(12));
      source += std::string(w > 0 ? " " : "") + letter;
      target = std::string(1, static_cast<char>(letter + 12)) + (w > 0 ? " " : "") + target;
    }
    text += source + "\t" + target + "\n";
  }
  return text;
}

TrainerOptions reversed_training(const TestFolder& folder, const std::string& output,
                                 const std::map<std::string, std::string>& more) {
  TrainerOptions options = small_training(folder, models::Task::kTranslation, output,
                                          small_recipe(models::Task::kTranslation, more));
  options.data = {.pairs = {.pairs = folder.write("reversed.tsv", reversed_pairs(300, 1))}};
  options.validation = {};
  return options;
}

/// AER of some heads, or without any of the last layer, where every word is linked to the one that stands as
/// far from the other end.
double error_rate(const std::string& directory, const std::vector<models::AlignmentHead>& heads) {
  const auto loaded = models::load_model(directory);
  const TranslationTokenizer tokenizer = TranslationTokenizer::load(directory);
  AlignmentScore score;
  std::istringstream lines(reversed_pairs(40, 2));
  for (std::string line; std::getline(lines, line);) {
    const std::string source = line.substr(0, line.find('\t')), target = line.substr(line.find('\t') + 1);
    const Encoding from = tokenizer.encode_source(source), to = tokenizer.encode_target(target);
    auto links = translate::word_alignment(
        translate::soft_alignment(loaded.seq2seq(), loaded.context(), from.ids, to.ids, {.heads = heads}),
        translate::words_of_spans(source, from.spans), translate::words_of_spans(target, to.spans));
    GoldAlignment gold;
    const int words = 1 + static_cast<int>(std::count(source.begin(), source.end(), ' '));
    for (int w = 0; w < words; ++w) gold.sure.emplace_back(w, words - 1 - w);
    gold.possible = gold.sure;
    std::sort(links.begin(), links.end());
    score.add(links, gold);
  }
  return score.error_rate();
}

TEST(GuidedAlignment, TheGuidedHeadLearnsToAlign) {
  const TestFolder folder;
  const std::map<std::string, std::string> settings{
      {"training.batch_tokens", "256"}, {"schedule.learning_rate", "5e-3"}, {"schedule.warmup_steps", "20"},
      {"schedule.kind", "constant"},    {"averaging.kind", "none"},         {"validation.every", "1000"}};
  auto guided = settings;
  guided["training.guided_alignment"] = "true";
  guided["training.guided_alignment_weight"] = "1";
  guided["training.guided_alignment_head"] = "2";
  TrainerOptions without = reversed_training(folder, "without", settings),
                 with = reversed_training(folder, "with", guided);
  without.max_steps = with.max_steps = 120;
  train(without);
  train(with);
  // The directory stores the head: the second head of the first of two decoder layers.
  const auto heads = models::ModelDirectory::open(with.output).generation().alignment_heads;
  ASSERT_EQ(heads, (std::vector<models::AlignmentHead>{{0, 1}}));
  EXPECT_LT(error_rate(with.output, heads), 0.1);
  EXPECT_GT(error_rate(without.output, heads), 0.4);

  // A training without guidance chooses heads at its end: of these weights, the one that was guided.
  TrainerOptions options = without;
  options.output = folder.path("further");
  options.recipe = make_recipe(
      "tiny", "", {{"training.from", with.output, "test"}, {"schedule.learning_rate", "1e-9", "test"}});
  options.max_steps = 1;
  train(options);
  const auto chosen = models::ModelDirectory::open(options.output).generation().alignment_heads;
  ASSERT_FALSE(chosen.empty());
  EXPECT_EQ(chosen[0], heads[0]);
}

TEST(GuidedAlignment, DoesNotDependOnThreadsOrResuming) {
  const TestFolder folder;
  const std::map<std::string, std::string> settings{{"training.guided_alignment", "true"},
                                                    {"schedule.fit", "false"}};  // to the last limit
  const auto run = [&](const std::string& output, int threads, std::vector<int64_t> ends) {
    TrainerOptions options = reversed_training(folder, output, settings);
    options.threads = threads;
    for (const int64_t end : ends) {
      options.max_steps = end;
      train(options);
    }
    return files_of(options.output);
  };
  const Files expected = run("at_once", 1, {6});
  EXPECT_TRUE(expected.contains("training/train.links"));
  EXPECT_EQ(different_files(expected, run("threads", 4, {6})), kNone);
  EXPECT_EQ(different_files(expected, run("paused", 2, {2, 6})), kNone);
  // The control: without it the weights are others.
  TrainerOptions without = reversed_training(folder, "without", {});
  without.max_steps = 6;
  train(without);
  EXPECT_THAT(different_files(expected, files_of(without.output)), testing::Contains("model.safetensors"));
}

TEST(GuidedAlignment, RefusesMissingHeads) {
  const TestFolder folder;
  const auto refused = [&](const std::string& part, std::map<std::string, std::string> settings) {
    settings["training.guided_alignment"] = "true";
    expect_error(ErrorKind::kUsage, part, [&] { train(reversed_training(folder, "refused", settings)); });
    EXPECT_FALSE(std::filesystem::exists(folder.path("refused")));
  };
  refused("training.guided_alignment_head is 3", {{"training.guided_alignment_head", "3"}});
  refused("training.guided_alignment_layer is 9", {{"training.guided_alignment_layer", "9"}});
}

}  // namespace
}  // namespace heed::train
