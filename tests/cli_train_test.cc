// Command tests of heed train: errors, interruption, kills, and resuming.

#include <fmt/format.h>

#include <algorithm>

#include "tiny_model.h"
#include "train/store/metrics_log.h"

namespace heed {
namespace {

/// Waits until the training has completed this number of steps.
void wait_for_steps(const std::string& directory, int64_t steps) {
  EXPECT_TRUE(eventually([&] {
    const std::string metrics = content_of(directory + "/training/metrics.jsonl");
    return std::count(metrics.begin(), metrics.end(), '\n') >= steps;
  })) << steps
      << " steps are not done";
}

class TrainCommand : public ::testing::Test {
 protected:
  void SetUp() override { pairs_ = folder_.write("pairs.tsv", to_tsv(tiny_pairs(2000, 1))); }

  std::vector<std::string> training(const std::string& output, int steps,
                                    std::vector<std::string> more = {}) const {
    auto arguments = tiny_training(pairs_, folder_.path(output), steps);
    arguments.insert(arguments.end(), {"--set", "validation.every=10"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  std::string weights(const std::string& output) const {
    return content_of(folder_.path(output + "/model.safetensors"));
  }
  /// Expects a training with these settings to be refused before it begins.
  void expect_refused(const std::vector<std::string>& more, int status,
                      const std::vector<std::string>& parts) const {
    expect_failure(heed_command(training("refused", 5, more)), status, parts);
    EXPECT_FALSE(std::filesystem::exists(folder_.path("refused")));
  }

  TestFolder folder_;
  std::string pairs_;
};

TEST_F(TrainCommand, RefusesMalformedPairs) {
  const auto with_pairs = [&](const std::string& path) {
    return heed_command(tiny_training(path, folder_.path("model"), 5));
  };
  expect_failure(with_pairs(folder_.path("none.tsv")), 1,
                 {"cannot open '" + folder_.path("none.tsv"), "No such file"});
  expect_failure(with_pairs(folder_.path()), 1, {"cannot read '" + folder_.path(), "directory"});
  expect_failure(with_pairs(folder_.write("empty.tsv", "")), 1, {"empty.tsv", "pair"});
  expect_failure(with_pairs(folder_.write("blank.tsv", "\n \n")), 1,
                 {"blank.tsv", "none of the 2 lines has text"});
  expect_failure(with_pairs(folder_.write("gap.tsv", "ja\tyes\nnein no\n")), 1,
                 {"line 2", "gap.tsv", "tab", "source TAB target"});
  expect_failure(with_pairs(folder_.write("latin.tsv", "ja\tyes\nsch\xF6n\tnice\n")), 1,
                 {"line 2", "latin.tsv", "UTF-8"});
  EXPECT_FALSE(std::filesystem::exists(folder_.path("model")));
}

TEST_F(TrainCommand, RefusesFilesOfUnequalLength) {
  const std::string source = folder_.write("source.txt", "eins\nzwei\ndrei\n");
  const std::string target = folder_.write("target.txt", "one\ntwo\n");
  expect_failure(heed_command({"train", "--source", source, "--target", target, "--output",
                               folder_.path("model"), "--max-steps", "5"}),
                 1, {source, target, "3", "2"});
}

TEST_F(TrainCommand, RefusesInvalidSettings) {
  expect_refused({"--set", "model.widht=64"}, 2, {"unknown setting 'model.widht'", "'model.width'"});
  expect_refused({"--precision", "high"}, 2, {"training.precision", "one of highest, medium"});
  expect_refused({"--set", "model.width=wide"}, 2, {"'model.width' must be", "'wide'"});
  expect_refused({"--set", "model.width"}, 2, {"KEY=VALUE", "'model.width'"});
  expect_refused({"--set", "model.heads=5"}, 2, {"model.width (64)", "divisible by model.heads (5)"});
  expect_refused({"--set", "training.max_length=1000"}, 2,
                 {"training.max_length (1000)", "model.max_length"});
  expect_refused({"--preset", "tinny"}, 2, {"tinny", "'tiny'"});
  expect_refused({"--seed", "-1"}, 2, {"--seed"});
  expect_refused({"--batch-tokens", "0"}, 2, {"--batch-tokens"});
  expect_refused({"--max-steps", "many"}, 2, {"--max-steps"});
  for (const char* option : {"--max-steps", "--seed", "--batch-tokens", "--shards"}) {
    for (const char* value : {"99999999999999999999", "9223372036854775808", "-1", "1.5", "1e3", "٣"}) {
      expect_refused({option, value}, 2, {option, "takes an integer from"});
    }
  }
  for (const char* value : {"nan", "inf", "0", "-1", "1e999", "soon", ""}) {
    expect_refused({"--max-minutes", value}, 2, {"--max-minutes", "takes a number above 0"});
  }
  expect_refused({"--pair", "german"}, 2, {"two languages", "'german'"});
  expect_refused({"--valid-pairs", folder_.path("none.tsv")}, 1, {"cannot open", "none.tsv"});
  const std::string recipe = folder_.write("recipe.toml", "[optimizer]\nbeta_1 = 0.9\n");
  expect_refused({"--recipe", recipe}, 1, {recipe + ", line 2:", "optimizer.beta_1", "'optimizer.beta1'"});
  for (const char* value : {"\"high\"", "-1", "[1]", "nan"}) {
    folder_.write("recipe.toml", fmt::format("[optimizer]\n\nbeta1 = {}\n", value));
    expect_refused({"--recipe", recipe}, 1, {recipe + ", line 3: 'optimizer.beta1' must be"});
  }
  const std::string broken = folder_.write("broken.toml", "[optimizer\n");
  expect_refused({"--recipe", broken}, 1, {broken, "line 1"});
}

TEST_F(TrainCommand, NeedsAStoppingCriterion) {
  expect_failure(
      heed_command({"train", "--pairs", pairs_, "--output", folder_.path("model"), "--preset", "tiny"}), 2,
      {"no stopping criterion", "--max-steps", "--max-minutes"});
  EXPECT_FALSE(std::filesystem::exists(folder_.path("model/config.json")));
  // Without validations, none of them can be the last one.
  const std::vector<std::string> patient{"--set", "validation.patience=2"};
  expect_refused(patient, 2, {"validation.patience (2) needs validation data", "--valid-pairs"});
  if (HasFailure()) return;  // the next one would train for ever
  auto endless = patient;
  endless.insert(endless.begin(),
                 {"train", "--pairs", pairs_, "--output", folder_.path("model"), "--preset", "tiny"});
  expect_failure(heed_command(endless), 2,
                 {"validation.patience (2) needs validation data", "--valid-pairs", "--max-steps"});
  // A training of an earlier version can be resumed.
  ASSERT_EQ(heed_command(training("model", 2)).status, 0);
  const std::string recipe = folder_.path("model/training/recipe.toml");
  std::string text = content_of(recipe);
  const size_t at = text.find("patience = 0");
  ASSERT_NE(at, std::string::npos);
  folder_.write("model/training/recipe.toml", text.replace(at, 12, "patience = 2"));
  EXPECT_EQ(heed_command(training("model", 3, patient)).status, 0);
}

TEST_F(TrainCommand, RefusesOtherSettingsAndOtherTextForTheSameDirectory) {
  ASSERT_EQ(heed_command(training("model", 2)).status, 0);
  expect_failure(heed_command(training("model", 4, {"--seed", "7"})), 2, {"another recipe", "training.seed"});
  expect_failure(heed_command(training("model", 4, {"--pair", "en-de"})), 2, {"--pair en-de", "is of de-en"});
  folder_.write("pairs.tsv", to_tsv(tiny_pairs(2000, 5)));
  expect_failure(heed_command(training("model", 4)), 2, {"has changed since the training", "pairs.tsv"});
}

TEST_F(TrainCommand, DoesNotOverwriteAModelWithoutTrainingState) {
  ASSERT_EQ(heed_command(training("model", 2)).status, 0);
  std::filesystem::remove(folder_.path("model/training/checkpoint.safetensors"));
  const std::string before = weights("model"), config = content_of(folder_.path("model/config.json"));
  expect_failure(heed_command(training("model", 4, {"--seed", "7"})), 2,
                 {"is not overwritten", "another directory", "--from"});
  expect_failure(heed_command(tiny_training(folder_.path("none.tsv"), folder_.path("model"), 5)), 2,
                 {"is not overwritten"});
  EXPECT_EQ(weights("model"), before);
  EXPECT_EQ(content_of(folder_.path("model/config.json")), config);
  EXPECT_TRUE(std::filesystem::exists(folder_.path("model/vocab.json")));
}

TEST_F(TrainCommand, LocksItsDirectory) {
  Command first(training("model", 100000), {});
  wait_for_steps(folder_.path("model"), 1);
  expect_failure(heed_command(training("model", 100000)), 2,
                 {"in use by process " + std::to_string(first.process())});
  EXPECT_EQ(heed_command({"info", "--model", folder_.path("model")}).status, 0);
  first.send_signal(SIGKILL);
  first.wait();
  const CommandResult third = heed_command(training("model", 1));
  EXPECT_EQ(third.status, 0) << third.err;
}

TEST_F(TrainCommand, ShowsMetrics) {
  const std::string valid = folder_.write("valid.tsv", to_tsv(tiny_pairs(20, 2)));
  const CommandResult result =
      heed_command(training("model", 20, {"--valid-pairs", valid, "--threads", "1"}));
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find(" 1 thread\n"), std::string::npos) << result.err;
  const auto log = train::read_metrics(folder_.path("model/training/metrics.jsonl"));
  for (const size_t step : {10, 20}) {  // validations: one line each, for the ten steps before
    double loss = 0, seconds = log[step - 1].seconds - (step > 10 ? log[step - 11].seconds : 0);
    for (size_t n = step - 10; n < step; ++n) loss += log[n].loss / 10;
    const int64_t tokens = log[step - 1].target_tokens - (step > 10 ? log[step - 11].target_tokens : 0);
    // A line is also shown after the first step, so means start anew there.
    if (step == 10) {
      loss = (10 * loss - log[0].loss) / 9;
      seconds -= log[0].seconds;
    }
    const int64_t counted = tokens - (step == 10 ? log[0].target_tokens : 0);
    const std::string line = fmt::format("step {} ({}%)  loss {:.3f}  learning rate {:.2e}  ", step,
                                         100 * step / 20, loss, log[step - 1].learning_rate);
    EXPECT_NE(result.err.find(line), std::string::npos) << line << "\n" << result.err;
    const std::string rate = fmt::format("  {:.0f} tokens/s", static_cast<double>(counted) / seconds);
    EXPECT_NE(result.err.find(rate), std::string::npos) << rate << "\n" << result.err;
  }
}

// Which has vocabularies in other files than the original.
TEST_F(TrainCommand, FineTunesModelsOfCtranslate2) {
  const std::string from = folder_.path("ctranslate2"), output = folder_.path("further");
  ASSERT_EQ(heed_command({"convert", tiny_model(), from, "--to", "ctranslate2", "--quiet"}).status, 0);
  ASSERT_FALSE(std::filesystem::exists(from + "/vocab.json")) << "the control";
  const CommandResult result = heed_command({"train", "--from", from, "--pairs", pairs_, "--output", output,
                                             "--max-steps", "5", "--pair", "de-en"});
  ASSERT_EQ(result.status, 0) << result.err;
  for (const char* file : {"/vocab.json", "/source.spm", "/target.spm"})
    EXPECT_EQ(content_of(output + file), content_of(tiny_model() + file)) << file;
}

TEST_F(TrainCommand, MarksTheBestValidation) {
  const std::string valid = folder_.write("valid.tsv", to_tsv(tiny_pairs(20, 2)));
  // The learning rate is so high that the loss of the second validation is worse.
  const CommandResult result = heed_command(training(
      "model", 20,
      {"--valid-pairs", valid, "--set", "validation.metric=loss", "--set", "schedule.kind=constant", "--set",
       "schedule.learning_rate=0.05", "--set", "schedule.warmup_steps=100", "--set", "averaging.kind=none"}));
  ASSERT_EQ(result.status, 0) << result.err;
  const auto log = train::read_metrics(folder_.path("model/training/metrics.jsonl"));
  int64_t best = 0;
  for (const train::Metrics& each : log) {
    EXPECT_FALSE(each.best && !each.valid_loss);
    if (each.best) best = each.step;
  }
  ASSERT_TRUE(best == 10 || best == 20);
  size_t marks = 0;
  for (size_t at = result.err.find("(best so far)"); at != std::string::npos;
       at = result.err.find("(best so far)", at + 1)) {
    ++marks;
  }
  EXPECT_EQ(marks, best == 10 ? 1u : 2u) << result.err;
  EXPECT_EQ(result.err.find("weights of step 10, the best validation") != std::string::npos, best == 10)
      << result.err;
}

TEST_F(TrainCommand, EndsAfterMaxEpochs) {
  auto arguments = tiny_training(pairs_, folder_.path("model"), 0);
  const auto limit = std::ranges::find(arguments, "--max-steps");
  *limit = "--max-epochs";
  *(limit + 1) = "1.5";
  const CommandResult result = heed_command(arguments);
  ASSERT_EQ(result.status, 0) << result.err;
  const auto log = train::read_metrics(folder_.path("model/training/metrics.jsonl"));
  EXPECT_GE(log.back().epochs, 1.5);
  EXPECT_LT(log[log.size() - 2].epochs, 1.5);
  // Both epochs have all tokens; a batch has at most 1024.
  EXPECT_NEAR(log.back().epochs * static_cast<double>(log[0].target_tokens) / log[0].epochs,
              static_cast<double>(log.back().target_tokens),
              0.2 * static_cast<double>(log.back().target_tokens));
  const size_t steps = log.size();
  EXPECT_EQ(heed_command(arguments).status, 0);  // already finished
  EXPECT_EQ(train::read_metrics(folder_.path("model/training/metrics.jsonl")).size(), steps);
  *(limit + 1) = "0";
  expect_failure(heed_command(arguments), 2, {"--max-epochs", "above 0"});
}

TEST_F(TrainCommand, TinyTrainsItsTokenizerOnASample) {
  ASSERT_EQ(heed_command(training("model", 1)).status, 0);
  EXPECT_NE(content_of(folder_.path("model/training/recipe.toml")).find("input_sentence_size = 20000"),
            std::string::npos);
  ASSERT_EQ(heed_command(training("few", 1, {"--set", "tokenizer.input_sentence_size=50"})).status, 0);
  EXPECT_NE(content_of(folder_.path("few/vocab.json")), content_of(folder_.path("model/vocab.json")));
}

TEST_F(TrainCommand, WarnsIfTheScheduleEndsBeforeTheTraining) {
  const std::vector<std::string> linear{"--set", "schedule.kind=linear",  "--set", "schedule.warmup_steps=1",
                                        "--set", "schedule.total_steps=5"};
  const CommandResult late = heed_command(training("late", 7, linear));
  EXPECT_EQ(late.status, 0);
  EXPECT_NE(late.err.find("warning: the linear schedule ends at schedule.total_steps = 5"), std::string::npos)
      << late.err;
  EXPECT_EQ(heed_command(training("exact", 5, linear)).err.find("warning"), std::string::npos);
}

TEST_F(TrainCommand, DoesNotOverwriteOtherModels) {
  std::filesystem::create_directory(folder_.path("model"));
  folder_.write("model/config.json", "{}");
  expect_failure(heed_command(training("model", 2)), 2, {"was not trained there", "another directory"});
  EXPECT_EQ(content_of(folder_.path("model/config.json")), "{}");
}

TEST_F(TrainCommand, StopsAtNan) {
  // Each update multiplies the weights by 1 - 1000, so that they overflow after some 13, whatever the
  // gradients.
  std::vector<std::string> wild;
  for (const char* setting :
       {"schedule.kind=constant", "schedule.warmup_steps=1", "schedule.learning_rate=1000",
        "optimizer.kind=adamw", "optimizer.weight_decay=1"}) {
    wild.insert(wild.end(), {"--set", setting});
  }
  const CommandResult result = heed_command(training("model", 50, wild));
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("training stopped at step"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("schedule.learning_rate"), std::string::npos) << result.err;
}

TEST_F(TrainCommand, WritesAModelDirectoryAndItsMetrics) {
  const std::string valid = folder_.write("valid.tsv", to_tsv(tiny_pairs(20, 2)));
  const CommandResult result = heed_command(training("model", 20, {"--valid-pairs", valid}));
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "");
  for (const char* name : {"config.json", "generation_config.json", "model.safetensors", "source.spm",
                           "target.spm", "vocab.json", "tokenizer_config.json", "training/metrics.jsonl"}) {
    EXPECT_TRUE(std::filesystem::exists(folder_.path("model/" + std::string(name)))) << name;
  }
  const std::string metrics = content_of(folder_.path("model/training/metrics.jsonl"));
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 20);
  for (const char* key : {"step", "loss", "learning_rate", "target_tokens", "target_tokens_per_second",
                          "seconds", "valid_loss", "bleu", "chrf"}) {
    EXPECT_NE(metrics.find('"' + std::string(key) + "\":"), std::string::npos) << key;
  }
  EXPECT_EQ(heed_command(training("model", 20, {"--valid-pairs", valid, "--quiet"})).err, "");
}

TEST_F(TrainCommand, QuietLeavesOutWarnings) {
  const std::vector<std::string> large{"--set", "tokenizer.vocabulary=5000"};  // more than the text allows
  const auto errors = [&](const std::string& output, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = large;
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult result = heed_command(training(output, 1, arguments));
    EXPECT_EQ(result.status, 0) << result.err;
    return result.err;
  };
  EXPECT_NE(errors("heard", {}).find("vocabulary size reduced"), std::string::npos);
  EXPECT_NE(errors("no-quiet", {"--quiet", "--no-quiet"}).find("vocabulary size reduced"), std::string::npos);
  EXPECT_EQ(errors("quiet", {"--quiet"}), "");
}

TEST_F(TrainCommand, SameBitsForAnyNumberOfThreads) {
  const std::string valid = folder_.write("valid.tsv", to_tsv(tiny_pairs(20, 2)));
  for (const char* threads : {"1", "2", "4"}) {
    ASSERT_EQ(heed_command(training(threads, 12, {"--threads", threads, "--valid-pairs", valid})).status, 0);
  }
  EXPECT_EQ(weights("1"), weights("2"));
  EXPECT_EQ(weights("1"), weights("4"));
  // The control: another seed gives other bits.
  ASSERT_EQ(heed_command(training("other", 12, {"--seed", "9", "--valid-pairs", valid})).status, 0);
  EXPECT_NE(weights("1"), weights("other"));
}

TEST_F(TrainCommand, ResumesBitForBitAfterAKill) {
  ASSERT_EQ(heed_command(training("whole", 40)).status, 0);
  // Killed before and after the first checkpoint, at step 10.
  for (const int64_t steps : {3, 14}) {
    const std::string name = "killed-" + std::to_string(steps);
    {
      Command command(training(name, 40), {});
      wait_for_steps(folder_.path(name), steps);
      command.send_signal(SIGKILL);
      ASSERT_EQ(command.wait().status, 128 + SIGKILL);
    }
    EXPECT_NE(weights(name), weights("whole")) << "the training ended before it was killed";
    ASSERT_EQ(heed_command(training(name, 40)).status, 0);
    EXPECT_EQ(weights(name), weights("whole"));
    const std::string metrics = content_of(folder_.path(name + "/training/metrics.jsonl"));
    EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 40);
  }
}

TEST_F(TrainCommand, SavesWhenInterruptedAndTellsHowToResume) {
  ASSERT_EQ(heed_command(training("whole", 40)).status, 0);
  Command command(training("stopped", 40), {});
  wait_for_steps(folder_.path("stopped"), 3);
  command.send_signal(SIGINT);
  expect_failure(command.wait(), 130, {"stopped at step", "saved", "run the same command again to resume"});
  ASSERT_EQ(heed_command(training("stopped", 40)).status, 0);
  EXPECT_EQ(weights("stopped"), weights("whole"));

  // With validation data, the model has the weights of the best validation.
  const std::string valid = folder_.write("valid.tsv", to_tsv(tiny_pairs(5, 2)));
  Command validated(
      training("validated", 100000, {"--valid-pairs", valid, "--set", "validation.every=100000"}), {});
  wait_for_steps(folder_.path("validated"), 1);
  validated.send_signal(SIGINT);
  expect_failure(
      validated.wait(), 130,
      {"stopped at step", "and saved; the model has the weights that the training began with, since"});
}

/// Each task with a text whose preparation takes many seconds.
std::vector<std::vector<std::string>> long_trainings(const TestFolder& folder) {
  std::string pairs, text, labelled;
  Random random(RandomKey::from_seed(1));
  while (pairs.size() < 12'000'000) {
    std::string line;
    for (int word = 0; word < 8; ++word) {
      for (uint64_t letters = 2 + random.below(8); letters > 0; --letters) {
        line += static_cast<char>('a' + random.below(26));
      }
      line += ' ';
    }
    pairs += line + "\t" + line + "\n";
    text += line + "\n";
    labelled += (random.below(2) == 0 ? "good\t" : "bad\t") + line + "\n";
  }
  return {{"--pairs", folder.write("long.tsv", pairs)},
          {"--task", "lm", "--text", folder.write("long.txt", text), "--set", "tokenizer.type=bpe"},
          {"--task", "lm", "--text", folder.path("long.txt"), "--set", "tokenizer.type=unigram"},
          {"--task", "classify", "--text", folder.write("labelled.tsv", labelled)}};
}

TEST_F(TrainCommand, InterruptsEveryPhaseOfPreparation) {
  const int signals[] = {SIGTERM, SIGHUP, SIGINT};
  int number = 0;
  for (std::vector<std::string> arguments : long_trainings(folder_)) {
    for (const double seconds : {0.03, 0.3, 1.5}) {
      const std::string output = folder_.path(fmt::format("long-{}", number));
      SCOPED_TRACE(fmt::format("{} {} after {} s", arguments[0], arguments[1], seconds));
      auto all = arguments;
      all.insert(all.begin(), "train");
      all.insert(all.end(), {"--output", output, "--max-steps", "5", "--set", "tokenizer.vocabulary=8000"});
      Command command(all, {});
      ASSERT_TRUE(command.works_for(seconds));
      const int signal = signals[number++ % 3];
      command.send_signal(signal);
      const CommandResult result = command.wait();
      // The first may arrive before the signal handlers are installed.
      EXPECT_TRUE(result.status == 130 || (seconds <= 0.05 && result.status == 128 + signal))
          << result.status;
      EXPECT_LT(result.cpu_seconds - seconds, 5);
      EXPECT_FALSE(std::filesystem::exists(output + "/model.safetensors"));
    }
  }
}

TEST_F(TrainCommand, LeavesNoPartFiles) {
  ASSERT_EQ(heed_command(training("model", 10)).status, 0);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path("model"))) {
    EXPECT_EQ(entry.path().string().find(".part"), std::string::npos) << entry.path();
  }
}

}  // namespace
}  // namespace heed
