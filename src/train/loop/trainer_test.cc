// The output directory of a training: no data loss, and detection of damage.
#include "train/loop/trainer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <thread>

#include "base/log.h"
#include "base/text/json_file.h"
#include "gtest/gtest.h"
#include "models/directory/loaded_model.h"
#include "train/store/checksummed_tensors.h"
#include "train/test_trainings.h"

namespace heed::train {
namespace {

namespace fs = std::filesystem;

void flip_bit(const std::string& path, size_t byte, int bit) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(byte));
  const char value = static_cast<char>(file.get());
  file.seekp(static_cast<std::streamoff>(byte));
  file.put(static_cast<char>(value ^ (1 << bit)));
}

class TrainerTest : public ::testing::TestWithParam<models::Task> {
 protected:
  TrainerOptions options(const std::string& output, const std::map<std::string, std::string>& more = {}) {
    TrainerOptions made = small_training(folder_, GetParam(), output, small_recipe(GetParam(), more));
    made.on_message = [this](const std::string& text) { said_ += text + "\n"; };
    return made;
  }
  /// Simulates a kill: stops right after a step without saving.
  static void train_and_kill(TrainerOptions options, int64_t step) {
    options.on_step = [step](const Metrics& m) {
      if (m.step == step) throw std::runtime_error("killed");
    };
    EXPECT_THROW(train(options), std::runtime_error);
  }
  std::string weights(const std::string& output) const {
    return content_of(folder_.path(output + "/model.safetensors"));
  }
  std::string path(const std::string& name) const { return folder_.path(name); }

  TestFolder folder_;
  std::string said_;
};

TEST_P(TrainerTest, ResumesAfterAKillAtAnyStep) {
  for (const char* averaging : {"running", "last", "none"}) {
    const std::map<std::string, std::string> settings{
        {"averaging.kind", averaging}, {"averaging.snapshot_every", "1"}, {"averaging.snapshots", "2"}};
    const std::string whole = fmt::format("whole-{}", averaging);
    train(options(whole, settings));
    for (const int64_t step : {1, 2, 3, 4}) {
      const std::string name = fmt::format("{}-{}", averaging, step);
      train_and_kill(options(name, settings), step);
      EXPECT_NE(weights(name), weights(whole)) << "the control: it ended before it was killed";
      train(options(name, settings));
      EXPECT_EQ(different_files(files_of(path(name)), files_of(path(whole))), kNone) << name;
    }
  }
}

TEST_P(TrainerTest, OfEqualScoresTheLowerLossIsTheBest) {
  const std::map<models::Task, std::string> names{{models::Task::kTranslation, "bleu"},
                                                  {models::Task::kLanguageModel, "loss"},
                                                  {models::Task::kClassification, "accuracy"}};
  const std::map<std::string, std::string> settings{{"validation.metric", names.at(GetParam())},
                                                    {"validation.every", "1"}};
  train(options("whole", settings));
  std::optional<std::pair<double, double>> best;  // the score, and how low the loss is
  int ties = 0;
  for (const Metrics& m : read_metrics(path("whole/training/metrics.jsonl"))) {
    double score = -*m.valid_loss;
    for (const Score& each : m.scores) {
      if (each.name == names.at(GetParam())) score = each.value;
    }
    const std::pair now(score, -*m.valid_loss);
    const bool better = !best || now > *best;
    EXPECT_EQ(m.best, better) << "step " << m.step;
    if (better && best && now.first == best->first) ++ties;
    if (better) best = now;
  }
  EXPECT_EQ(ties > 0, GetParam() != models::Task::kLanguageModel) << "the control";
  for (const int64_t step : {1, 2, 3, 4}) {
    const std::string name = fmt::format("killed-{}", step);
    train_and_kill(options(name, settings), step);
    train(options(name, settings));
    EXPECT_EQ(different_files(files_of(path(name)), files_of(path("whole"))), kNone) << name;
  }
}

TEST_P(TrainerTest, AModelWithoutTrainingStateIsNotOverwritten) {
  train(options("model"));
  const auto refused = [&](const std::map<std::string, std::string>& settings) {
    const Files before = files_of(path("model"));
    expect_error(ErrorKind::kUsage, "is not overwritten", [&] { train(options("model", settings)); });
    TrainerOptions without_text = options("model", settings);
    without_text.data = {.pairs = {.pairs = "none"}, .text = "none"};
    EXPECT_THROW(train(without_text), Error);
    EXPECT_EQ(different_files(files_of(path("model")), before), kNone);
  };
  fs::remove(path("model/training/checkpoint.safetensors"));
  refused({});
  refused({{"training.seed", "7"}});
  fs::remove_all(path("model/training"));
  refused({});
  EXPECT_FALSE(fs::exists(path("model/training")));
  for (const char* name : {"config.json", "vocab.json", "vocab.txt"})
    fs::remove(path(fmt::format("model/{}", name)));
  refused({{"training.seed", "7"}});
}

TEST_P(TrainerTest, AFolderOfOthersIsNotOverwritten) {
  for (const char* name : {"tokenizer/notes.txt", "recipe.toml", "metrics.jsonl", "train.ids"}) {
    const std::string output = fmt::format("with-{}", fs::path(name).stem().string());
    fs::create_directories(fs::path(path(output + "/training/" + name)).parent_path());
    folder_.write(output + "/training/" + name, "mine");
    expect_error(ErrorKind::kUsage, "is not the folder of a training", [&] { train(options(output)); });
    EXPECT_EQ(content_of(path(output + "/training/" + name)), "mine");
    EXPECT_EQ(files_of(path(output)).size(), name == std::string("metrics.jsonl") ? 0u : 1u);
    EXPECT_FALSE(fs::exists(path(output + "/training/lock")));
  }
  fs::create_directories(path("empty/training"));  // as a kill leaves it right at the beginning
  train(options("empty"));
}

TEST_P(TrainerTest, ARecipeInAFolderOfOthersDoesNotMakeAModelATraining) {
  train(options("model"));
  fs::remove(path("model/model.safetensors"));
  for (const auto& entry : fs::directory_iterator(path("model/training"))) {
    if (entry.path().filename() != "recipe.toml") fs::remove_all(entry.path());
  }
  const Files before = files_of(path("model"));
  EXPECT_THROW(train(options("model", {{"training.seed", "7"}})), Error);
  EXPECT_EQ(different_files(files_of(path("model")), before), kNone);
}

TEST_P(TrainerTest, ACopyWithoutTheLockResumes) {
  train_and_kill(options("model"), 3);
  fs::remove(path("model/training/lock"));
  train(options("model"));
  train(options("whole"));
  EXPECT_EQ(different_files(files_of(path("model")), files_of(path("whole"))), kNone);
}

TEST_P(TrainerTest, RefusesOtherSettingsAndTextOnResume) {
  train(options("model"));
  const Files before = files_of(path("model"));
  expect_error(ErrorKind::kUsage, "training.seed (1, now 7)", [&] {
    train(options("model", {{"training.seed", "7"}}));
  });
  TrainerOptions without_validation = options("model");
  without_validation.validation = {};
  expect_error(ErrorKind::kUsage, "has changed since the training", [&] { train(without_validation); });
  TrainerOptions other = options("model");
  other.data = small_text(folder_, GetParam(), "other", 61);
  expect_error(ErrorKind::kUsage, "has changed since the training", [&] { train(other); });
  fs::remove(path("model/training/train.ids"));  // which would be created again
  expect_error(ErrorKind::kUsage, "has changed since the training", [&] { train(other); });
  fs::remove(path("model/training/train.ids"));
  train(options("model"));
  EXPECT_EQ(different_files(files_of(path("model")), before), kNone);
}

TEST_P(TrainerTest, KeepsTheConfigurationsOfAModelWhoseTrainingResumes) {
  train(options("model"));
  std::map<std::string, nlohmann::json> edited;
  for (const char* name : {"config.json", "generation_config.json"}) {
    const std::string file = path(fmt::format("model/{}", name));
    if (!fs::exists(file)) continue;
    nlohmann::json& json = edited[name] = JsonObject::read(file).json();
    json["transformers_version"] = "4.57.1";  // by hand
    write_json(file, json);
  }
  const bool translates = GetParam() == models::Task::kTranslation;
  EXPECT_EQ(edited.contains("generation_config.json"), GetParam() != models::Task::kClassification);
  if (translates) {
    ASSERT_TRUE(edited.at("generation_config.json").contains("alignment_heads"));
  }
  const auto expect_kept = [&](const char* after) {
    for (const auto& [name, json] : edited) {
      EXPECT_EQ(JsonObject::read(path("model/" + name)).json(), json) << name << " after " << after;
    }
  };
  TrainerOptions other = options("model");
  other.validation = {};
  EXPECT_THROW(train(other), Error);
  expect_kept("another text");
  std::atomic<bool> stop{false};
  TrainerOptions stopped = options("model");
  stopped.max_steps = 9;
  stopped.stop = &stop;
  stopped.on_step = [&](const Metrics&) { stop = true; };
  EXPECT_EQ(static_cast<int>(train(stopped).end), static_cast<int>(TrainingEnd::kStopped));
  expect_kept("a stop");
  train(options("model"));
  if (translates) edited["generation_config.json"].erase("alignment_heads");  // those of the newest weights
  for (const auto& [name, json] : edited) {
    nlohmann::json now = JsonObject::read(path("model/" + name)).json();
    EXPECT_EQ(now.erase("alignment_heads") == 1, translates && name == "generation_config.json");
    EXPECT_EQ(now, json) << name;
  }
  // What is missing is made again.
  for (const auto& [name, json] : edited) fs::remove(path("model/" + name));
  train(options("model"));
  models::load_model(path("model"));
  EXPECT_EQ(fs::exists(path("model/generation_config.json")), edited.contains("generation_config.json"));
}

// A finished training that is run again chooses no other heads than those that are there, if it does not
// train.
TEST_P(TrainerTest, KeepsTheAlignmentHeadsOfAFinishedTraining) {
  if (GetParam() != models::Task::kTranslation) GTEST_SKIP() << "has no alignment heads";
  const std::string file = path("model/generation_config.json");
  const auto heads = [&] { return JsonObject::read(file).json().at("alignment_heads"); };
  train(options("model"));
  const nlohmann::json chosen = heads(), other = {{0, 1}, {0, 0}};  // not sorted
  ASSERT_NE(chosen, other);
  nlohmann::json edited = JsonObject::read(file).json();
  edited["alignment_heads"] = other;
  write_json(file, edited);
  train(options("model"));
  EXPECT_EQ(heads(), other);
  TrainerOptions further = options("model");
  further.max_steps = 6;
  train(further);
  EXPECT_NE(heads(), other) << "the control: those of the newest weights";
}

TEST_P(TrainerTest, SampledSegmentationsNeedAUnigramModel) {
  if (GetParam() != models::Task::kTranslation) GTEST_SKIP() << "has no sampled segmentations";
  expect_error(ErrorKind::kUsage, "tokenizer.subword_regularization (2) needs a unigram model", [&] {
    train(options("refused", {{"tokenizer.type", "bpe"}, {"tokenizer.subword_regularization", "2"}}));
  });
  EXPECT_FALSE(fs::exists(path("refused")));
  train(options("bpe", {{"tokenizer.type", "bpe"}}));
  expect_error(ErrorKind::kUsage, "set tokenizer.subword_regularization to 0", [&] {
    TrainerOptions further = options("refused");
    further.recipe = make_recipe(
        "tiny", "",
        {{"training.from", path("bpe"), "test"}, {"tokenizer.subword_regularization", "2", "test"}});
    train(further);
  });
  EXPECT_FALSE(fs::exists(path("refused")));
}

TEST_P(TrainerTest, ShardsHaveTokens) {
  expect_error(ErrorKind::kUsage, "training.shards (65) must not be above training.batch_tokens (64)", [&] {
    train(options("refused", {{"training.shards", "65"}}));
  });
  EXPECT_FALSE(fs::exists(path("refused")));
  if (GetParam() == models::Task::kLanguageModel) return;  // whose batches have a block at least
  // As many as there are by default, of batches of one sentence.
  train(options("model", {{"training.batch_tokens", "1"}, {"training.shards", "0"}}));
  const auto metrics = read_metrics(path("model/training/metrics.jsonl"));
  ASSERT_EQ(metrics.size(), 5U);
  EXPECT_TRUE(metrics.back().valid_loss.has_value());
}

TEST_P(TrainerTest, PreparesAgainForOtherTextAndSettings) {
  train(options("whole"));
  // Killed once the tokenizer is there, or a corpus too where that is said.
  for (const int messages : {1, 2}) {
    const std::string name = fmt::format("model-{}", messages);
    TrainerOptions other = options(name, {{"training.seed", "7"}, {"tokenizer.vocabulary", "280"}});
    other.data = small_text(folder_, GetParam(), "other", 33);
    other.on_message = [said = 0, messages](const std::string&) mutable {
      if (++said == messages) throw std::runtime_error("killed");
    };
    EXPECT_THROW(train(other), std::runtime_error);
    EXPECT_TRUE(fs::exists(path(name + "/training/tokenizer_files.json")));
    if (fs::exists(path(name + "/model.safetensors"))) {  // the second message came when all was ready
      EXPECT_EQ(messages, 2);
      continue;
    }
    train(options(name));
    EXPECT_EQ(different_files(files_of(path(name)), files_of(path("whole"))), kNone);
  }
}

TEST_P(TrainerTest, ATextThatWasTokenizedForOtherSettingsIsTokenizedAgain) {
  std::map<std::string, std::string> settings{{"training.seed", "7"}};
  if (GetParam() != models::Task::kLanguageModel) settings["tokenizer.subword_regularization"] = "3";
  train(options("other", settings));
  train(options("whole"));
  EXPECT_EQ(content_of(path("other/training/train.ids")) == content_of(path("whole/training/train.ids")),
            GetParam() == models::Task::kLanguageModel)
      << "the control";
  // Killed before the first checkpoint.
  fs::remove(path("other/training/checkpoint.safetensors"));
  fs::remove(path("other/model.safetensors"));
  const std::string validation = path("other/training/valid.ids");
  const bool has_validation = fs::exists(validation);  // which other languages may change
  const fs::file_time_type old{};
  if (has_validation) fs::last_write_time(validation, old);
  train(options("other"));
  EXPECT_TRUE(!has_validation || fs::last_write_time(validation) != old);
  EXPECT_EQ(different_files(files_of(path("other")), files_of(path("whole"))), kNone);
}

TEST_P(TrainerTest, RestoresWeightsFromTheCheckpoint) {
  TrainerOptions o = options("model");
  o.validation = {};  // so that the latest weights are kept
  o.max_steps = 4;
  train(o);
  const Files whole = files_of(path("model"));
  const std::string file = path("model/model.safetensors");
  const auto expect_back = [&](const std::string& reason) {
    said_.clear();
    train(o);
    EXPECT_NE(said_.find(reason), std::string::npos) << said_;
    EXPECT_NE(said_.find("restored from the checkpoint"), std::string::npos) << said_;
    EXPECT_EQ(different_files(files_of(path("model")), whole), kNone);
  };
  fs::remove(file);
  expect_back("is missing");
  fs::resize_file(file, 0);
  expect_back("is damaged");
  fs::resize_file(file, fs::file_size(file) / 2);
  expect_back("is damaged");
  flip_bit(file, fs::file_size(file) - 2, 3);
  expect_back("is damaged");
  // Other weights, without hashes.
  std::string others = content_of(file);
  const std::string key = "heed_hashes";
  others.replace(others.find(key), key.size(), "some_hashes");
  others[others.size() - 2] = static_cast<char>(others[others.size() - 2] ^ 8);
  folder_.write("model/model.safetensors", others);
  expect_back("does not contain the weights of step 4");
  said_.clear();
  train(o);
  EXPECT_EQ(said_.find("restored from the checkpoint"), std::string::npos) << "the control: " << said_;
}

TEST_P(TrainerTest, ReportsLostBestWeights) {
  TrainerOptions o = options("model");
  train(o);  // whose checkpoint is of step 5
  TrainerOptions stopped = options("model");
  std::atomic<bool> stop{false};
  stopped.max_steps = 9;
  stopped.stop = &stop;
  stopped.on_step = [&](const Metrics& m) { stop = m.step == 7; };
  train(stopped);  // of step 7, without a validation
  const std::string file = path("model/model.safetensors");
  flip_bit(file, fs::file_size(file) - 2, 3);
  stop = false;
  expect_error(ErrorKind::kFormat, "Restore the file from a copy, or delete it", [&] { train(stopped); });
  fs::remove(file);
  said_.clear();
  stopped.max_steps = 7;
  train(stopped);
  EXPECT_NE(said_.find("are lost and replaced by those of step 7"), std::string::npos) << said_;
  models::load_model(path("model"));
}

TEST_P(TrainerTest, FlippedBitsAreDetectedOnResume) {
  const std::map<std::string, std::string> settings{
      {"averaging.kind", "last"}, {"averaging.snapshot_every", "2"}, {"averaging.snapshots", "2"}};
  train(options("model", settings));
  std::vector<std::string> names{"checkpoint.safetensors", "snapshot-4.safetensors", "train.ids"};
  if (GetParam() != models::Task::kClassification) names.emplace_back("valid.ids");
  TrainerOptions o = options("model", settings);
  o.max_steps = 6;
  for (const std::string& name : names) {
    const std::string file = path("model/training/" + name);
    const std::string whole = content_of(file);
    const size_t step = std::max<size_t>(1, whole.size() / 20);
    for (size_t byte = 0; byte < whole.size(); byte += step) {
      flip_bit(file, byte, static_cast<int>(byte % 8));
      EXPECT_THROW(train(o), Error) << name << ", byte " << byte;
      folder_.write("model/training/" + name, whole);
    }
  }
  for (const std::string& name : task_kind(GetParam()).tokenizer_files) {
    const std::string file = path("model/" + name);
    if (!fs::exists(file)) continue;
    const std::string whole = content_of(file);
    flip_bit(file, whole.size() / 2, 0);
    expect_error(ErrorKind::kFormat, "not the file that the training began with", [&] { train(o); });
    fs::remove(file);
    expect_error(ErrorKind::kFormat, "is missing", [&] { train(o); });
    folder_.write("model/" + name, whole);
  }
  EXPECT_EQ(train(o).resumed_from, 5) << "the control: all is as it was";
}

TEST_P(TrainerTest, ACheckpointWithoutAnAverageIsAnError) {
  train(options("model"));
  const std::string file = path("model/training/checkpoint.safetensors");
  ChecksummedTensors content = read_checksummed(file, "heed training checkpoint 2");
  std::erase_if(content.tensors, [](const auto& each) { return each.first == "average"; });
  write_checksummed(file, content);
  TrainerOptions o = options("model");
  o.max_steps = 6;
  expect_error(ErrorKind::kFormat, "has no 'average'", [&] { train(o); });
}

TEST_P(TrainerTest, RepeatsAnInterruptedValidation) {
  const auto long_validation = [&](const std::string& output) {
    TrainerOptions o =
        options(output, GetParam() == models::Task::kTranslation
                            ? std::map<std::string, std::string>{{"validation.sentences", "300"}}
                            : std::map<std::string, std::string>{});
    o.validation = small_text(folder_, GetParam(), "long", 3000);
    o.max_steps = 3;
    return o;
  };
  train(long_validation("whole"));
  std::atomic<bool> stop{false};
  TrainerOptions o = long_validation("model");
  o.stop = &stop;
  o.on_step = [&](const Metrics& m) { stop = m.step == 1; };
  train(o);
  // The second step ends with a validation, most of the time of what is left to do. The stop comes after
  // some delay, which is a matter of luck, so there are several.
  int interrupted = 0;
  for (int delay = 2; delay < 200 && interrupted < 2; delay += delay / 2) {
    fs::remove_all(path("copy"));
    fs::copy(path("model"), path("copy"), fs::copy_options::recursive);
    stop = false;
    o.output = path("copy");
    o.on_step = {};
    std::thread asks;
    o.on_ready = [&] {
      asks = std::thread([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(delay));
        stop = true;
      });
    };
    train(o);
    asks.join();
    const auto content =
        read_checksummed(path("copy/training/checkpoint.safetensors"), "heed training checkpoint 2");
    if (content.texts.at("state").find("unvalidated") != std::string::npos) {
      ++interrupted;
      // As if a resumed training had been killed between its log and its checkpoint.
      const std::string log = "/training/metrics.jsonl";
      MetricsLog(path("copy" + log), 1).append(read_metrics(path("whole" + log)).at(1));
    }
    stop = false;
    o.on_ready = {};
    train(o);
    EXPECT_EQ(different_files(files_of(path("copy")), files_of(path("whole"))), kNone) << delay << " ms";
    EXPECT_EQ(read_metrics(path("copy/training/metrics.jsonl")).size(), 3u);
  }
  EXPECT_GT(interrupted, 0) << "the control: no validation was interrupted";
}

TEST_P(TrainerTest, StoppedWithoutValidationDataKeepsTheNewestWeights) {
  for (const char* averaging : {"running", "last", "none"}) {
    const auto made = [&](const std::string& output, int64_t steps) {
      TrainerOptions o = options(fmt::format("{}-{}", averaging, output), {{"averaging.kind", averaging},
                                                                           {"averaging.snapshot_every", "2"},
                                                                           {"schedule.fit", "false"},
                                                                           {"validation.every", "100"}});
      o.validation = {};
      o.max_steps = steps;
      return o;
    };
    const auto weights_of = [&](const TrainerOptions& o) {
      return content_of(o.output + "/model.safetensors");
    };
    const TrainerOptions whole = made("whole", 5), three = made("three", 3);
    train(whole);
    train(three);
    std::atomic<bool> stop{false};
    TrainerOptions stopped = made("stopped", 5);
    stopped.stop = &stop;
    stopped.on_step = [&](const Metrics& m) { stop = m.step == 3; };
    const TrainingSummary summary = train(stopped);
    EXPECT_EQ(static_cast<int>(summary.end), static_cast<int>(TrainingEnd::kStopped));
    EXPECT_EQ(summary.steps, 3);
    EXPECT_EQ(summary.best_step, 3);
    EXPECT_EQ(weights_of(stopped), weights_of(three)) << averaging;
    train(made("stopped", 5));
    EXPECT_EQ(different_files(files_of(stopped.output), files_of(whole.output)), kNone) << averaging;
  }
}

TEST_P(TrainerTest, WarnsOnceThatTheScheduleHasEnded) {
  const auto warnings = [&] {
    size_t count = 0;
    for (size_t at = said_.find("learning rate is 0"); at != std::string::npos;
         at = said_.find("learning rate is 0", at + 1))
      ++count;
    return count;
  };
  for (const char* kind : {"linear", "cosine"}) {
    const std::map<std::string, std::string> settings{
        {"schedule.kind", kind}, {"schedule.warmup_steps", "1"}, {"schedule.total_steps", "3"}};
    said_.clear();
    train(options(kind, settings));
    EXPECT_EQ(warnings(), 1u) << said_;
    // A busy machine may not get past the end of the schedule at first.
    size_t by_time_warnings = 0;
    for (double minutes = 0.002; by_time_warnings == 0 && minutes < 1; minutes *= 8) {
      said_.clear();
      TrainerOptions by_time = options(fmt::format("{}-for-{}", kind, minutes), settings);
      by_time.max_steps = 0;
      by_time.max_minutes = minutes;
      train(by_time);
      by_time_warnings = warnings();
    }
    EXPECT_EQ(by_time_warnings, 1u) << said_;
  }
  said_.clear();
  train(options("long", {{"schedule.kind", "linear"}, {"schedule.total_steps", "6"}}));
  EXPECT_EQ(warnings(), 0u) << said_;
  for (const char* kind : {"linear", "inverse_sqrt"}) {  // which has not ended, or has no end
    const std::map<std::string, std::string> settings{
        {"schedule.kind", kind}, {"schedule.learning_rate", "0"}, {"schedule.total_steps", "6"}};
    train(options(fmt::format("{}-without-rate", kind), settings));
    EXPECT_EQ(warnings(), 0u) << said_;
  }
}

INSTANTIATE_TEST_SUITE_P(, TrainerTest,
                         ::testing::Values(models::Task::kTranslation, models::Task::kLanguageModel,
                                           models::Task::kClassification),
                         [](const auto& each) { return task_kind(each.param).name; });

TEST(MetricsLog, MalformedLinesAreSkippedOnOpen) {
  const TestFolder folder;
  std::string text;
  for (int step = 1; step <= 4; ++step) {
    Metrics m;
    m.step = step;
    text += step == 2 ? "{\"step\": rubbish\n" : to_line(m);
  }
  const std::string path = folder.write("metrics.jsonl", text + R"({"step": 5, "lo)");
  std::string said;
  const MetricsLog log(path, 3, [&](const std::string& message) { said += message + "\n"; });
  EXPECT_NE(said.find("line 2"), std::string::npos) << said;
  EXPECT_EQ(said.find("line 5"), std::string::npos)
      << "a line that a kill has cut is nothing to tell: " << said;
  const auto kept = read_metrics(path);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].step, 1);
  EXPECT_EQ(kept[1].step, 3);
}

TEST(MetricsLog, MayBeLargerThanAGigabyte) {
  const TestFolder folder;
  const std::string path = folder.path("metrics.jsonl");
  constexpr uintmax_t kHole = uintmax_t{1} << 25;  // takes no disk
  const auto append = [&](const std::string& text) { std::ofstream(path, std::ios::app) << text; };
  Metrics m;
  m.step = 1;
  append(to_line(m));
  for (int n = 0; n < 33; ++n) {
    fs::resize_file(path, fs::file_size(path) + kHole);
    append("\n");
  }
  m.step = 2;
  append(to_line(m));
  ASSERT_GT(fs::file_size(path), uintmax_t{1} << 30);
  EXPECT_EQ(read_metrics(path).size(), 2u);
  int left_out = 0;
  MetricsLog log(path, 2, [&](const std::string&) { ++left_out; });
  EXPECT_EQ(left_out, 33);
  m.step = 3;
  log.append(m);
  EXPECT_EQ(read_metrics(path).size(), 3u);
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(MetricsLog, LinesWithScoresThatAreNotFiniteAreKept) {
  const TestFolder folder;
  Metrics m;
  m.step = 1;
  m.valid_loss = 800;
  m.scores = {{"bits_per_character", 400}, {"perplexity", std::exp(800)}};
  const std::string line = to_line(m);
  EXPECT_EQ(line.find("perplexity"), std::string::npos) << line;
  // As earlier versions wrote it.
  const std::string text = line + R"({"step": 2, "loss": 1, "learning_rate": 1, "target_tokens": 9, )" +
                           R"("target_tokens_per_second": 9, "seconds": 1, "valid_loss": null, )" +
                           R"("bits_per_character": 3, "perplexity": null})" + "\n";
  const std::string path = folder.write("metrics.jsonl", text);
  std::string said;
  const MetricsLog log(path, 2, [&](const std::string& message) { said += message; });
  EXPECT_EQ(said, "");
  EXPECT_EQ(content_of(path), text);
  const auto metrics = read_metrics(path);
  ASSERT_EQ(metrics.size(), 2U);
  EXPECT_EQ(metrics[0].valid_loss, 800);
  EXPECT_EQ(metrics[1].valid_loss, std::nullopt);
  for (const Metrics& each : metrics) {
    ASSERT_EQ(each.scores.size(), 1U);
    EXPECT_EQ(each.scores[0].name, "bits_per_character");
  }
}

TEST(MetricsLog, MalformedLinesAreSkippedWithAWarning) {
  const TestFolder folder;
  std::string text;
  for (int step = 1; step <= 3; ++step) {
    Metrics m;
    m.step = step;
    text += step == 2 ? "{\"step\": rubbish\n" : to_line(m);
  }
  const std::string path = folder.write("metrics.jsonl", text);
  std::string said;
  set_log_handler([&](LogLevel, const std::string& message) { said += message + "\n"; });
  const auto metrics = read_metrics(path);
  set_log_handler({});
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0].step, 1);
  EXPECT_EQ(metrics[1].step, 3);
  EXPECT_NE(said.find("line 2"), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

TEST(TrainingState, OfAnEarlierVersionHasNoLossOfTheBest) {
  TrainingState state;
  state.has_best = true;
  state.best = 0.1;
  state.best_loss = 1.0 / 3;
  const std::string text = to_text(state);
  EXPECT_EQ(state_from_text(text).best_loss, state.best_loss);
  nlohmann::json earlier = nlohmann::json::parse(text);
  ASSERT_EQ(earlier.erase("best_loss"), 1U);
  const TrainingState read = state_from_text(earlier.dump());
  EXPECT_EQ(read.best_loss, std::nullopt);
  EXPECT_EQ(read.best, 0.1);
}

TEST(RenamedKeys, AreErrorsThatNameTheNewKey) {
  const auto refused = [](const char* key, const char* value, const char* present) {
    expect_error(ErrorKind::kUsage, fmt::format("'{}' is now called '{}'", key, present), [&] {
      small_recipe(models::Task::kTranslation, {{key, value}});
    });
  };
  refused("schedule.rate", "1e-3", "schedule.learning_rate");
  refused("tokenizer.sampled_cuts", "4", "tokenizer.subword_regularization");
  refused("model.longest", "64", "model.max_length");
  expect_error(ErrorKind::kFormat,
               "old.toml, line 2: the setting 'optimizer.clip' is now called 'optimizer.clip_norm'",
               [] { make_recipe("tiny", "", read_settings("[optimizer]\nclip = 1\n", "old.toml")); });
}

// Earlier versions stored recipes with other keys.
TEST_P(TrainerTest, ResumesWithRenamedKeys) {
  train(options("whole"));
  train_and_kill(options("model"), 2);
  const std::string recipe = path("model/training/recipe.toml");
  std::string text = content_of(recipe);
  for (const auto& [present, old] :
       {std::pair("\nlearning_rate =", "\nrate ="), std::pair("\nwarmup_steps =", "\nwarmup ="),
        std::pair("\nclip_norm =", "\nclip ="), std::pair("\nmax_length =", "\nlongest =")}) {
    const size_t at = text.find(present);
    ASSERT_NE(at, std::string::npos) << present;
    text.replace(at, std::strlen(present), old);
  }
  write_file(recipe, text);
  EXPECT_THROW(make_recipe("tiny", "", read_settings(text, recipe)), Error) << "the control: old keys";
  train(options("model"));
  EXPECT_EQ(weights("model"), weights("whole"));
}

TEST(RecipeNumbers, IntegersAreExact) {
  for (const char* seed : {"9223372036854775807", "9007199254740993", "0"}) {
    const Recipe recipe = small_recipe(models::Task::kLanguageModel, {{"training.seed", seed}});
    EXPECT_EQ(std::to_string(recipe.seed), seed);
    const Recipe again = make_recipe("tiny", "", read_settings(to_toml(recipe), "test"));
    EXPECT_EQ(std::to_string(again.seed), seed);
  }
  for (const char* wrong : {"9223372036854775808", "-1", "1.5", "1e18", "1 ", "", "three", "0x10"}) {
    expect_error(ErrorKind::kUsage, "must be an integer from 0 to 9223372036854775807", [&] {
      small_recipe(models::Task::kLanguageModel, {{"training.seed", wrong}});
    });
  }
  expect_error(ErrorKind::kUsage, "an integer from 1 to 1000000000", [&] {
    small_recipe(models::Task::kLanguageModel, {{"schedule.warmup_steps", "99999999999999999999"}});
  });
  expect_error(ErrorKind::kFormat, "test",
               [&] { read_settings("[training]\nseed = 9223372036854775808\n", "test"); });
  EXPECT_EQ(small_recipe(models::Task::kLanguageModel, {{"schedule.warmup_steps", "1e3"}}).warmup_steps,
            1000);
}

}  // namespace
}  // namespace heed::train
