// Properties of every trainable architecture, each on its task. New rows of the table are tested
// automatically.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/files/file.h"
#include "base/files/fingerprint.h"
#include "base/memory_pool.h"
#include "base/rng.h"
#include "gtest/gtest.h"
#include "kernels/simd/isa.h"
#include "models/architecture.h"
#include "models/directory/fine_tuning.h"
#include "models/directory/loaded_model.h"
#include "test_folder.h"
#include "train/loop/trainer.h"
#include "train/recipe/recipe_fields.h"
#include "train/recipe/training_options.h"
#include "train/tasks/task.h"

namespace heed::train {
namespace {

/// Sentences of four words and their word-by-word translations.
std::vector<std::pair<std::string, std::string>> sentences(size_t count, uint64_t seed) {
  static const std::vector<std::pair<std::string, std::string>> words{
      {"Hund", "dog"}, {"Mann", "man"}, {"Baum", "tree"}, {"sieht", "sees"}, {"kennt", "knows"},
      {"alte", "old"}, {"rote", "red"}, {"heute", "now"}, {"hier", "here"},  {"groß", "big"}};
  Random random(RandomKey::from_seed(seed));
  std::vector<std::pair<std::string, std::string>> all(count);
  for (auto& [source, target] : all) {
    for (int n = 0; n < 4; ++n) {
      const auto& [german, english] = words[random.below(words.size())];
      source += (n > 0 ? " " : "") + german;
      target += (n > 0 ? " " : "") + english;
    }
  }
  return all;
}

/// The training text of a task.
TrainingText write_text(const TestFolder& folder, models::Task task, const std::string& name, size_t count,
                        uint64_t seed) {
  std::string text;
  for (const auto& [source, target] : sentences(count, seed)) {
    const bool seen = source.find("sieht") != std::string::npos;
    switch (task) {
      case models::Task::kTranslation:
        text += fmt::format("{}\t{}\n", source, target);
        break;
      case models::Task::kClassification:
        text += fmt::format("{}\t{}\n", seen ? "seen" : "unseen", source);
        break;
      default:
        text += source + ".\n";
    }
  }
  const std::string path = folder.write(name, text);
  if (task == models::Task::kTranslation) return {.pairs = {.pairs = path}};
  return {.text = path};
}

/// An architecture with its tiny preset, or with other settings.
struct Variant {
  std::string name, architecture;
  std::map<std::string, std::string> settings = {};
};
std::ostream& operator<<(std::ostream& stream, const Variant& variant) {
  return stream << variant.name;
}

class EveryArchitecture : public ::testing::TestWithParam<Variant> {
 protected:
  static const std::string& arch() { return GetParam().architecture; }

  void SetUp() override {
    task_ = models::architecture_named(arch()).task;
    training_ = write_text(folder_, task_, "train", 400, 1);
    validation_ = write_text(folder_, task_, "valid", 20, 2);
  }

  /// The tiny preset with small batches, a small vocabulary, and additional settings.
  Recipe recipe(const std::map<std::string, std::string>& more = {}) const {
    std::map<std::string, std::string> values{
        {"model.arch", arch()}, {"training.shards", "3"}, {"validation.every", "4"}};
    if (task_ == models::Task::kTranslation) values["tokenizer.vocabulary"] = "300";
    for (const auto& [key, value] : GetParam().settings) values[key] = value;
    for (const auto& [key, value] : more) values[key] = value;
    return make_recipe("tiny", "", small_settings(values));
  }
  /// Small batches and these settings, over them.
  std::vector<Setting> small_settings(std::map<std::string, std::string> values) const {
    values.insert({{"training.batch_tokens", "256"}, {"validation.metric", "loss"}});
    if (task_ == models::Task::kLanguageModel) values.insert({"training.block_size", "32"});
    std::vector<Setting> settings;
    for (const auto& [key, value] : values) settings.push_back({key, value, "test"});
    return settings;
  }

  TrainerOptions options(const std::string& output, int64_t steps, const Recipe& with) const {
    TrainerOptions o;
    o.output = folder_.path(output);
    o.data = training_;
    o.validation = validation_;
    o.recipe = with;
    o.threads = 2;
    o.max_steps = steps;
    return o;
  }

  /// A hash of the best weights so far.
  uint64_t weights(const std::string& output) const {
    return fingerprint(content_of(folder_.path(output + "/model.safetensors")));
  }
  /// The training state, without the times in the header.
  uint64_t state(const std::string& output) const {
    const std::string file = content_of(folder_.path(output + "/training/checkpoint.safetensors"));
    uint64_t header = 0;
    std::memcpy(&header, file.data(), sizeof header);
    return fingerprint(file.substr(sizeof header + header));
  }
  std::vector<Metrics> metrics(const std::string& output) const {
    return read_metrics(folder_.path(output + "/training/metrics.jsonl"));
  }

  static uint64_t fingerprint(const std::string& bytes) {
    Fingerprint all;
    all.add(bytes);
    return all.value();
  }

  TestFolder folder_;
  models::Task task_ = models::Task::kTranslation;
  TrainingText training_, validation_;
};

TEST_P(EveryArchitecture, SameBitsForAnyNumberOfThreads) {
  for (const int threads : {1, 2, 4}) {
    TrainerOptions o = options(std::to_string(threads), 6, recipe());
    o.threads = threads;
    train(o);
  }
  EXPECT_EQ(weights("1"), weights("2"));
  EXPECT_EQ(weights("1"), weights("4"));
  EXPECT_EQ(state("1"), state("2"));
  EXPECT_EQ(state("1"), state("4"));
  // The control: another seed gives other bits.
  train(options("other", 6, recipe({{"training.seed", "9"}})));
  EXPECT_NE(weights("1"), weights("other"));
}

TEST_P(EveryArchitecture, ResumesBitForBit) {
  train(options("whole", 14, recipe()));
  for (const int64_t stop_at : {1, 6}) {
    const std::string name = std::to_string(stop_at);
    std::atomic<bool> stop{false};
    TrainerOptions o = options(name, 14, recipe());
    o.stop = &stop;
    o.on_step = [&](const Metrics& m) { stop = m.step == stop_at; };
    EXPECT_EQ(static_cast<int>(train(o).end), static_cast<int>(TrainingEnd::kStopped));
    EXPECT_NE(state(name), state("whole")) << "the control: it ended before it was stopped";
    stop = false;
    EXPECT_EQ(train(o).resumed_from, stop_at);
    EXPECT_EQ(state(name), state("whole"));
    EXPECT_EQ(weights(name), weights("whole"));
    const auto one = metrics(name), other = metrics("whole");
    ASSERT_EQ(one.size(), other.size());
    for (size_t n = 0; n < one.size(); ++n) {
      EXPECT_EQ(one[n].loss, other[n].loss) << "step " << n + 1;
      EXPECT_EQ(one[n].valid_loss, other[n].valid_loss) << "step " << n + 1;
    }
  }
}

/// The number of shards changes only the order of additions. It also changes dropout masks, so there is no
/// dropout here, and the batches of batch norm.
TEST_P(EveryArchitecture, ShardsChangeOnlyRounding) {
  std::map<std::string, std::string> settings{{"training.shards", "1"}};
  for (const std::string& name : models::architecture_named(arch()).settings) {
    if (name.find("dropout") != std::string::npos) settings["model." + name] = "0";
  }
  const auto first_step = [&](const char* shards, const char* seed) {
    settings["training.shards"] = shards;
    settings["training.seed"] = seed;
    const std::string name = fmt::format("{}-{}", shards, seed);
    train(options(name, 1, recipe(settings)));
    return metrics(name).at(0);
  };
  const Metrics one = first_step("1", "1"), five = first_step("5", "1"), other = first_step("1", "2");
  // Sums of some hundred float32 losses and of gradients of some thousand parameters.
  if (GetParam().settings.contains("model.norm") && GetParam().settings.at("model.norm") == "batch") {
    EXPECT_GT(std::abs(five.loss - one.loss), 1e-5 * one.loss);
    return;
  }
  EXPECT_NEAR(five.loss, one.loss, 1e-5 * one.loss);
  EXPECT_NEAR(five.gradient_norm, one.gradient_norm, 1e-4 * one.gradient_norm);
  EXPECT_GT(std::abs(other.loss - one.loss), 1e-5 * one.loss) << "the control";
}

TEST_P(EveryArchitecture, MediumPrecisionIsCloseAndDiffersWhereItIsFasterAlone) {
  const bool inexact = isa_name() == "avx512bf16" || isa_name() == "amx";
  std::map<std::string, Metrics> last;
  for (const char* precision : {"highest", "medium"}) {
    train(options(precision, 3, recipe({{"training.precision", precision}})));
    last[precision] = metrics(precision).back();
  }
  const double loss = last["highest"].loss;
  EXPECT_NEAR(last["medium"].loss, loss, 2e-2 * loss);
  EXPECT_EQ(last["medium"].loss != loss, inexact);
}

TEST_P(EveryArchitecture, TrainsAModelDirectory) {
  train(options("model", 60, recipe()));
  const auto log = metrics("model");
  ASSERT_EQ(log.size(), 60u);
  double first = 0, last = 0;
  for (size_t n = 0; n < 10; ++n) {
    first += log[n].loss;
    last += log[log.size() - 1 - n].loss;
  }
  EXPECT_LT(last, 0.9 * first);
  ASSERT_TRUE(log.back().valid_loss.has_value());
  EXPECT_LT(*log.back().valid_loss, *log[3].valid_loss);
  EXPECT_FALSE(log.back().scores.empty());
  const models::LoadedModel loaded = models::load_model(folder_.path("model"));
  EXPECT_EQ(static_cast<int>(loaded.model->task()), static_cast<int>(task_));
  if (loaded.model_type != "marian") return;
  // Other toolkits start the decoder of a Marian model from zero, whatever the row says.
  const nn::ParameterTable& table = loaded.model->table();
  const int64_t start = loaded.seq2seq().start_id();
  const auto size_of_row = [&](int64_t row) {
    double squares = 0;
    for (const double x : loaded.values.view(table, {0, 1}).narrow(0, row, 1).to_vector<double>())
      squares += x * x;
    return squares;
  };
  EXPECT_EQ(table[0].name, "model.shared.weight");
  EXPECT_EQ(size_of_row(start), 0);
  EXPECT_GT(size_of_row(start - 1), 0);
}

/// After all lengths have occurred, steps reuse the memory of previous steps.
TEST_P(EveryArchitecture, AllocatesNoMemoryAfterTheFirstEpoch) {
  TrainerOptions o = options("model", 90, recipe({{"validation.every", "1000"}}));
  o.threads = 1;
  std::map<int64_t, uint64_t> asked;
  o.on_step = [&](const Metrics& m) { asked[m.step] = pool_statistics().system_allocations; };
  train(o);
  EXPECT_EQ(asked.at(89), asked.at(45));
  EXPECT_GT(asked.at(89), 0u);
}

TEST_P(EveryArchitecture, FineTunesAnotherModel) {
  train(options("base", 60, recipe()));
  const auto further_settings = [&](const std::map<std::string, std::string>& more = {}) {
    std::map<std::string, std::string> values = more;
    values.insert({"training.from", folder_.path("base")});
    values.insert({"schedule.fit", "false"});  // it is stopped by another number of steps than it has
    values.insert({"validation.every", "1"});  // as a run also does where it stops
    return small_settings(values);
  };
  const auto further = [&](const std::map<std::string, std::string>& more = {}) {
    return make_recipe("tiny", "", further_settings(more));  // whose architecture is the model's
  };
  const auto generation_of = [&](const std::string& run) {
    return JsonObject::read(folder_.path(run + "/generation_config.json")).json();
  };
  nlohmann::json generation = nlohmann::json::object();
  if (task_ != models::Task::kClassification) generation = generation_of("base");
  if (task_ == models::Task::kTranslation) {
    generation.update({{"length_penalty", 0.5}, {"max_length", 17}, {"num_beams", 6}});
  } else if (task_ == models::Task::kLanguageModel) {
    generation.update({{"do_sample", true},
                       {"eos_token_id", {2, 5}},
                       {"max_length", 17},
                       {"repetition_penalty", 1.5},
                       {"temperature", 0.5},
                       {"top_k", 9},
                       {"top_p", 0.75}});
  }
  if (!generation.empty()) write_json(folder_.path("base/generation_config.json"), generation);
  generation.erase("alignment_heads");  // which are chosen again
  training_ = write_text(folder_, task_, "more", 100, 3);
  TrainerOptions o = options("further", 8, further());
  train(o);
  // Tokenizer and trained weights are used from the first step.
  EXPECT_EQ(further().arch, arch());
  EXPECT_LT(metrics("further").at(0).loss, 0.9 * metrics("base").at(0).loss);
  for (const std::string& name : task_kind(task_).tokenizer_files) {
    if (!std::filesystem::exists(folder_.path("base/" + name))) continue;
    EXPECT_EQ(content_of(folder_.path("further/" + name)), content_of(folder_.path("base/" + name)));
  }
  // It can be stopped and resumed even if the initial model no longer exists.
  train(options("stopped", 3, further()));
  const std::string lengths = fmt::format("{} {}", further().max_length, further().block_size);
  // Earlier versions recorded a relative path as it was given.
  const std::string recorded = folder_.path("stopped/training/recipe.toml");
  std::string text = content_of(recorded);
  text.replace(text.find(folder_.path("base")), folder_.path("base").size(), "models/base");
  write_file(recorded, text);
  Recipe moved = further();
  moved.from = folder_.path("elsewhere/base");
  expect_error(ErrorKind::kUsage, "training.from (", [&] { train(options("further", 8, moved)); });
  std::filesystem::rename(folder_.path("base"), folder_.path("gone"));
  EXPECT_NO_THROW(train(options("further", 8, moved)));
  const Recipe same =
      trainer_options({.output = folder_.path("stopped"), .preset = "tiny"}, further_settings()).recipe;
  EXPECT_EQ(fmt::format("{} {}", same.max_length, same.block_size), lengths);
  Recipe another = same;
  another.from = folder_.path("another");
  expect_error(ErrorKind::kUsage, "training.from (", [&] { train(options("stopped", 8, another)); });
  train(options("stopped", 8, same));
  EXPECT_EQ(state("stopped"), state("further"));
  EXPECT_EQ(weights("stopped"), weights("further"));
  for (const auto& [key, value] : generation.items()) {
    EXPECT_EQ(generation_of("further").value(key, nlohmann::json()), value) << key;
    EXPECT_EQ(generation_of("stopped").value(key, nlohmann::json()), value) << key;
  }
  std::filesystem::rename(folder_.path("gone"), folder_.path("base"));

  expect_error(ErrorKind::kUsage,
               "'model.max_length' cannot be set: fine-tuning keeps sizes and tokenizer of", [&] {
                 further({{"model.max_length", "99"}});
               });
  // Of the model's settings, only dropouts can change; unset ones keep their value.
  const auto dropouts = [](const std::string& run, const std::vector<std::string>& keys) {
    std::vector<double> values;
    for (const std::string& key : keys) values.push_back(JsonObject::read(run + "/config.json").number(key));
    return values;
  };
  for (const auto& [setting, field, keys] : models::architecture_named(arch()).dropouts) {
    const std::string run = "other-" + setting, key = "model." + setting;
    const Recipe other = further({{key, "0.125"}});
    EXPECT_EQ(differences(further(), other),
              std::vector<std::string>{key + " (the model's value, now 0.125)"});
    EXPECT_EQ(differences(other, make_recipe("tiny", "", read_settings(to_toml(other), "test"))),
              std::vector<std::string>{});
    train(options(run, 2, other));
    EXPECT_EQ(dropouts(folder_.path(run), keys), std::vector<double>(keys.size(), 0.125));
    EXPECT_EQ(dropouts(folder_.path("further"), keys), dropouts(folder_.path("base"), keys));
  }
  expect_error(ErrorKind::kUsage, "'tokenizer.vocabulary' cannot be set", [&] {
    further({{"tokenizer.vocabulary", "99"}});
  });
  expect_error(ErrorKind::kUsage, "noam", [&] { further({{"schedule.kind", "noam"}}); });
  expect_error(ErrorKind::kNotFound, "nowhere", [&] { further({{"training.from", "nowhere"}}); });
  const std::string other = arch() == "gpt2" ? "llama" : "gpt2";
  expect_error(ErrorKind::kUsage, "is a model of the architecture " + arch(), [&] {
    models::read_for_fine_tuning(models::ModelDirectory::open(folder_.path("base")),
                                 models::architecture_named(other), {});
  });
}

TEST_P(EveryArchitecture, FineTunesForOtherClasses) {
  if (task_ != models::Task::kClassification) GTEST_SKIP() << "no classes";
  train(options("base", 8, recipe()));
  TrainerOptions o =
      options("three", 4, make_recipe("tiny", "", {{"training.from", folder_.path("base"), "test"}}));
  o.data.text = o.validation.text = folder_.write("labels", "one\tHund\ntwo\tBaum\nthree\tMann\n");
  std::string said;
  o.on_message = [&](const std::string& text) { said += text + "\n"; };
  train(o);
  // The output of the classifier alone.
  EXPECT_TRUE(said.find("initialized at random: classifier.weight, classifier.bias\n") != std::string::npos ||
              said.find("initialized at random: classifier.out_proj.weight, classifier.out_proj.bias\n") !=
                  std::string::npos)
      << said;
  const models::LoadedModel loaded = models::load_model(folder_.path("three"));
  EXPECT_EQ(loaded.classifier().labels(), (std::vector<std::string>{"one", "three", "two"}));
}

/// The keys of recipes that this task does not have.
std::vector<RecipeKey> keys_of_other_tasks(models::Task task) {
  std::vector<RecipeKey> keys;
  Recipe recipe;
  visit_recipe(recipe, [&](const RecipeKey& key, const auto&...) {
    if (!key.tasks.empty() && std::ranges::count(key.tasks, task) == 0) keys.push_back(key);
  });
  return keys;
}

TEST_P(EveryArchitecture, RecipeRoundTripAndUnknownSettings) {
  for (const char* size : {"tiny", "small", "base"}) {
    const Recipe made = make_recipe(size, "", {{"model.arch", arch(), "test"}});
    const std::string text = to_toml(made);
    EXPECT_EQ(differences(made, make_recipe("tiny", "", read_settings(text, "test"))),
              std::vector<std::string>{})
        << text;
    const bool blocks = task_ == models::Task::kLanguageModel;
    EXPECT_LE(blocks ? made.block_size : made.max_length, made.model.max_length);
  }
  for (const TaskKind& other : task_kinds()) {
    if (other.task == task_) continue;
    expect_error(ErrorKind::kUsage, "does not support the task '" + other.name + "'", [&] {
      make_recipe("tiny", other.name, {{"model.arch", arch(), "test"}});
    });
  }
  for (const RecipeKey& key : keys_of_other_tasks(task_)) {
    expect_error(ErrorKind::kUsage, "'" + key.name + "'", [&] { recipe({{key.name, "1"}}); });
  }
  expect_error(ErrorKind::kUsage, "unknown setting 'model.widht'", [&] { recipe({{"model.widht", "3"}}); });
}

std::vector<Variant> trained_architectures() {
  std::vector<Variant> variants;
  for (const auto& architecture : models::architectures())
    variants.push_back({architecture.name, architecture.name});
  variants.push_back({"transformer_shaw", "transformer", {{"model.positions", "relative"}}});
  variants.push_back({"transformer_buckets", "transformer", {{"model.positions", "buckets"}}});
  variants.push_back({"transformer_rotary",
                      "transformer",
                      {{"model.positions", "rotary"}, {"model.norm", "rms"}, {"model.norm_first", "true"}}});
  variants.push_back(
      {"transformer_batch", "transformer", {{"model.positions", "learned"}, {"model.norm", "batch"}}});
  return variants;
}

INSTANTIATE_TEST_SUITE_P(, EveryArchitecture, ::testing::ValuesIn(trained_architectures()),
                         [](const auto& each) {
                           std::string name = each.param.name;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace heed::train
