#include "train/recipe.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <type_traits>

#include "base/check.h"
#include "base/nearest_word.h"
#include "models/architecture.h"
#include "models/further_training.h"
#include "train/recipe_fields.h"
#include "train/task.h"

namespace heed::train {
namespace {

/// A bound of a range as a whole number; those beyond what fits are the largest.
int64_t whole(double bound) {
  return bound >= static_cast<double>(kLargest) ? kLargest : static_cast<int64_t>(bound);
}

/// "512", and "1e6" as long as doubles hold it exactly.
std::optional<int64_t> parse_whole(const std::string& text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  if (const auto read = std::from_chars(text.data(), end, number);
      read.ec == std::errc() && read.ptr == end) {
    return number;
  }
  double real = 0;
  const auto read = std::from_chars(text.data(), end, real);
  const bool exact = std::abs(real) <= static_cast<double>(int64_t{1} << 53) && real == std::trunc(real);
  if (read.ec != std::errc() || read.ptr != end || !exact) return std::nullopt;
  return static_cast<int64_t>(real);
}

std::optional<double> parse_real(const std::string& text) {
  double real = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, real);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return real;
}

/// What a field is set from: "256", "true", "adam".
struct Setter {
  const std::string& wanted;
  const std::string& value;
  std::string problem;
  std::vector<std::string> keys;
  bool found = false;

  template <typename Number>
  requires std::is_arithmetic_v<Number>
  void operator()(const std::string& key, Number& field, Range range) {
    keys.push_back(key);
    if (key != wanted) return;
    found = true;
    if constexpr (std::is_integral_v<Number>) {
      const int64_t least = whole(range.least);
      const int64_t most = static_cast<int64_t>(
          std::min<uint64_t>(static_cast<uint64_t>(whole(range.most)), std::numeric_limits<Number>::max()));
      const std::optional<int64_t> number = parse_whole(value);
      if (!number || *number < least || *number > most) {
        problem = fmt::format("a whole number from {} to {}", least, most);
        return;
      }
      field = static_cast<Number>(*number);
    } else {
      const std::optional<double> number = parse_real(value);
      if (!number || !(*number >= range.least && *number <= range.most)) {
        problem = fmt::format("a number from {} to {}", range.least, range.most);
        return;
      }
      field = *number;
    }
  }
  void operator()(const std::string& key, bool& field) {
    keys.push_back(key);
    if (key != wanted) return;
    found = true;
    if (value != "true" && value != "false") problem = "true or false";
    field = value == "true";
  }
  void operator()(const std::string& key, std::string& field) {
    keys.push_back(key);
    if (key != wanted) return;
    found = true;
    field = value;
  }
  template <typename Value>
  void operator()(const std::string& key, Value& field, const Words<Value>& words) {
    keys.push_back(key);
    if (key != wanted) return;
    found = true;
    std::vector<std::string> allowed;
    for (const auto& [word, meaning] : words) {
      allowed.push_back(word);
      if (word == value) {
        field = meaning;
        return;
      }
    }
    problem = fmt::format("one of {}", fmt::join(allowed, ", "));
  }
};

/// Whether it is a setting of a [[corpus]]: "corpus.2.weight".
bool is_corpus_setting(const std::string& key) {
  return key.starts_with(std::string(kCorpus) + ".");
}

std::string absolute_path(const std::string& path, const std::string& folder) {
  namespace fs = std::filesystem;
  return fs::absolute(fs::path(folder) / path).lexically_normal().string();
}

void apply_corpus_setting(Recipe& recipe, const Setting& setting) {
  const std::string rest = setting.key.substr(std::string(kCorpus).size() + 1);
  const size_t dot = std::min(rest.find('.'), rest.size());
  const std::string key = rest.substr(std::min(dot + 1, rest.size()));
  const auto number = parse_whole(rest.substr(0, dot));
  if (!number || *number < 1) {
    fail(setting.kind,
         "{}: '{}' must say which corpus is meant, as 'corpus.1.weight' does; in a recipe, each "
         "is a table of its own, headed [[corpus]]",
         setting.origin, setting.key);
  }
  const auto place = static_cast<size_t>(*number - 1);
  if (place > recipe.corpora.size()) {
    fail(setting.kind, "{}: '{}': there are {} corpora before it", setting.origin, setting.key,
         recipe.corpora.size());
  }
  if (place == recipe.corpora.size()) recipe.corpora.emplace_back();
  Setter setter{key, setting.value, {}, {}};
  visit_corpus(recipe.corpora[place], setter);
  if (!setter.found) {
    fail(setting.kind, "{}: a corpus has no setting '{}'{}; it has {}", setting.origin, key,
         did_you_mean(key, setter.keys), fmt::join(setter.keys, ", "));
  }
  if (!setter.problem.empty()) {
    fail(setting.kind, "{}: '{}' must be {}, not '{}'", setting.origin, setting.key, setter.problem,
         setting.value);
  }
  CorpusSettings& corpus = recipe.corpora[place];
  for (const auto& [name, path] : std::initializer_list<std::pair<const char*, std::string*>>{
           {"pairs", &corpus.pairs}, {"source", &corpus.source}, {"target", &corpus.target}}) {
    if (key == name && !path->empty()) *path = absolute_path(*path, setting.folder);
  }
}

constexpr const char* kArchitecture = "model.arch";
constexpr const char* kFrom = "training.from";

/// "dropout" of "model.dropout"; empty for keys of other sections.
std::string model_setting(const std::string& key) {
  const std::string section = "model.";
  return key.starts_with(section) ? key.substr(section.size()) : "";
}

/// The dropout that a key sets; nullptr for other keys, and where the architecture has no such dropout.
const models::Dropout* dropout_of(const Recipe& recipe, const std::string& key) {
  const auto& dropouts = models::architecture_named(recipe.arch).dropouts;
  const auto found = std::ranges::find(dropouts, model_setting(key), &models::Dropout::setting);
  return found == dropouts.end() ? nullptr : &*found;
}

/// Whether a model that is trained further brings it with it.
bool comes_with_model(const Recipe& recipe, const std::string& key) {
  static const std::vector<std::string> learnt{"tokenizer.type",          "tokenizer.vocabulary",
                                               "tokenizer.joint",         "tokenizer.normalization",
                                               "tokenizer.byte_fallback", "tokenizer.character_coverage",
                                               "tokenizer.lowercase",     "tokenizer.split_digits",
                                               "tokenizer.placeholders",  "tokenizer.sentences"};
  if (std::ranges::count(learnt, key) > 0) return true;
  return !model_setting(key).empty() && key != kArchitecture && dropout_of(recipe, key) == nullptr;
}

void apply(Recipe& recipe, const Setting& setting) {
  const auto& [key, value, origin, error, folder] = setting;
  Setter setter{key, value, {}, {}};
  visit_recipe(recipe, setter);
  if (!setter.found) {
    std::erase_if(setter.keys, [&](const std::string& each) { return !has_field(recipe, each); });
    fail(error, "{}: there is no setting '{}'{}", origin, key, did_you_mean(key, setter.keys));
  }
  if (!setter.problem.empty()) {
    fail(error, "{}: '{}' must be {}, not '{}'", origin, key, setter.problem, value);
  }
  if (!recipe.from.empty() && comes_with_model(recipe, key)) {
    fail(error, "{}: '{}' cannot be set: sizes and tokenizer are those of '{}', which is trained further",
         origin, key, recipe.from);
  }
  const TaskKind& kind = task_kind(recipe.task());
  if (!has_field(recipe, key)) {
    if (key.starts_with("model.")) {
      fail(error, "{}: the architecture {} has no setting '{}'; it has model.{}", origin, recipe.arch, key,
           fmt::join(models::architecture_named(recipe.arch).settings, ", model."));
    }
    fail(error, "{}: '{}' is no setting of {}", origin, key, kind.training);
  }
  const auto words = kind.settings.find(key);
  if (words != kind.settings.end() && !words->second.empty() &&
      std::ranges::count(words->second, value) == 0) {
    fail(error, "{}: '{}' must be one of {} for {}, not '{}'", origin, key, fmt::join(words->second, ", "),
         kind.training, value);
  }
}

/// The name of the architecture that is to be trained.
std::string choose_architecture(const std::string& task, const std::string& from,
                                const std::vector<Setting>& settings) {
  std::optional<models::Task> wanted;
  std::vector<std::string> names;
  for (const auto& [name, value] : task_names()) {
    if (name == task) wanted = value;
    names.push_back(name);
  }
  if (!task.empty() && !wanted) {
    fail(ErrorKind::kUsage, "there is no task '{}'; there are {}{}", task, fmt::join(names, ", "),
         did_you_mean(task, names));
  }
  std::string chosen;
  for (const Setting& setting : settings) {
    if (setting.key == kArchitecture) chosen = models::architecture_named(setting.value).name;
  }
  if (chosen.empty() && !from.empty()) chosen = models::architecture_name_in(from);
  std::vector<std::string> suited;
  for (const auto& each : models::architectures()) {
    if (each.task == wanted.value_or(models::Task::kTranslation)) suited.push_back(each.name);
  }
  if (chosen.empty()) {
    if (suited.empty()) fail(ErrorKind::kUsage, "there is no architecture for the task '{}'", task);
    return suited[0];
  }
  if (wanted && models::architecture_named(chosen).task != *wanted) {
    fail(ErrorKind::kUsage, "the architecture {} is not for the task '{}'; {} {}", chosen, task,
         suited.size() > 1 ? "these are:" : "this is:", fmt::join(suited, ", "));
  }
  return chosen;
}

models::PresetSize preset_size(const std::string& name) {
  static const Words<models::PresetSize> sizes{{"tiny", models::PresetSize::kTiny},
                                               {"small", models::PresetSize::kSmall},
                                               {"base", models::PresetSize::kBase}};
  std::vector<std::string> names;
  for (const auto& [word, size] : sizes) {
    if (word == name) return size;
    names.push_back(word);
  }
  fail(ErrorKind::kUsage, "there is no preset '{}'; there are {}{}", name, fmt::join(names, ", "),
       did_you_mean(name, names));
}

}  // namespace

bool is_as_model_says(const Recipe& recipe, const std::string& key) {
  const models::Dropout* dropout = dropout_of(recipe, key);
  return dropout != nullptr && recipe.model.*dropout->field == models::kAsTheModelSays;
}

bool has_field(const Recipe& recipe, const std::string& key) {
  const bool further = !recipe.from.empty();
  if (key == kFrom) return further;
  if (further && comes_with_model(recipe, key)) return false;
  if (const std::string setting = model_setting(key); !setting.empty()) {
    const auto& known = models::architecture_named(recipe.arch).settings;
    return key == kArchitecture || std::ranges::count(known, setting) > 0;
  }
  if (task_kind(recipe.task()).settings.contains(key)) return true;
  return std::ranges::none_of(task_kinds(),
                              [&](const TaskKind& kind) { return kind.settings.contains(key); });
}

const Words<ScheduleKind>& schedule_names() {
  static const Words<ScheduleKind> names{{"noam", ScheduleKind::kNoam},
                                         {"inverse_sqrt", ScheduleKind::kInverseSqrt},
                                         {"cosine", ScheduleKind::kCosine},
                                         {"linear", ScheduleKind::kLinear},
                                         {"constant", ScheduleKind::kConstant}};
  return names;
}

const Words<models::Task>& task_names() {
  static const Words<models::Task> names = [] {
    Words<models::Task> words;
    for (const TaskKind& kind : task_kinds()) words.emplace_back(kind.name, kind.task);
    return words;
  }();
  return names;
}

Recipe make_recipe(const std::string& preset, const std::string& task, const std::vector<Setting>& settings) {
  Recipe recipe;
  for (const Setting& setting : settings) {
    if (setting.key == kFrom) recipe.from = setting.value;
  }
  recipe.arch = choose_architecture(task, recipe.from, settings);
  const models::PresetSize size = preset_size(preset);
  const models::ModelPreset model = models::architecture_named(recipe.arch).preset(size);
  recipe.model = model.settings;
  recipe.rate = model.rate;
  recipe.warmup = model.warmup;
  recipe.clip = model.clip;
  task_kind(recipe.task()).preset(size, recipe);
  if (!recipe.from.empty()) {  // dropouts that nobody sets stay
    for (const models::Dropout& dropout : models::architecture_named(recipe.arch).dropouts) {
      recipe.model.*dropout.field = models::kAsTheModelSays;
    }
  }
  for (const Setting& setting : settings) {
    if (is_corpus_setting(setting.key)) {
      apply_corpus_setting(recipe, setting);
    } else if (setting.key == kHeldOut) {
      recipe.held_out.push_back(absolute_path(setting.value, setting.folder));
    } else if (setting.key != kArchitecture && setting.key != kFrom) {
      apply(recipe, setting);
    }
  }
  if (!recipe.from.empty() && recipe.schedule == ScheduleKind::kNoam) {
    fail(ErrorKind::kUsage,
         "the schedule noam makes the rate of model.width, and a model that is trained further needs a lower "
         "one: "
         "set schedule.kind to inverse_sqrt, cosine, linear or constant, and schedule.rate");
  }
  return recipe;
}

void check_model_settings(const Recipe& recipe) {
  if (!recipe.from.empty()) return;  // the sizes are the model's
  const auto& known = models::architecture_named(recipe.arch).settings;
  const auto has = [&](const char* setting) { return std::ranges::count(known, setting) > 0; };
  const models::ModelSettings& model = recipe.model;
  if (has("heads") && model.width % model.heads != 0) {
    fail(ErrorKind::kUsage, "model.width ({}) must be divisible by model.heads ({})", model.width,
         model.heads);
  }
  const bool rotary = recipe.arch == "llama" ||
                      (has("positions") && (model.positions.kind == nn::PositionKind::kRotary ||
                                            model.positions.kind == nn::PositionKind::kRotaryInterleaved));
  if (rotary && model.width / model.heads % 2 != 0) {
    fail(ErrorKind::kUsage,
         "rotary positions need heads of an even width: model.width ({}) / model.heads ({}) is {}",
         model.width, model.heads, model.width / model.heads);
  }
  if (has("key_value_heads") && model.key_value_heads > 0 && model.heads % model.key_value_heads != 0) {
    fail(ErrorKind::kUsage, "model.heads ({}) must be divisible by model.key_value_heads ({})", model.heads,
         model.key_value_heads);
  }
}

std::string schedule_name(ScheduleKind kind) {
  return models::name_in(schedule_names(), kind);
}

models::Task Recipe::task() const {
  return models::architecture_named(arch).task;
}

Schedule Recipe::make_schedule() const {
  return {.kind = schedule, .rate = rate, .warmup = warmup, .total = total_steps, .width = model.width};
}

int Recipe::shard_count() const {
  if (shards > 0) return shards;
  // Shards of some 500 tokens and more keep the matrix products fast; four keep four threads busy.
  return static_cast<int>(std::clamp<int64_t>(batch_tokens / 512, 2, 4));
}

}  // namespace heed::train
