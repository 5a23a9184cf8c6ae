#include "train/recipe/recipe_settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <type_traits>

#include "base/check.h"
#include "base/text/nearest_word.h"
#include "base/text/printable.h"
#include "base/text/utf8_length.h"
#include "models/architecture.h"
#include "train/recipe/recipe_fields.h"
#include "train/recipe/setting_suggestion.h"
#include "train/tasks/task.h"

namespace heed::train {
namespace {

/// A bound of a range as an integer, saturated.
int64_t whole(double bound) {
  return bound >= static_cast<double>(kLargest) ? kLargest : static_cast<int64_t>(bound);
}

/// Parses "512", and "1e6" if a double represents it exactly.
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

/// Sets the field with the key `wanted` from text such as "256", "true", "adam".
struct Setter {
  const std::string& wanted;
  const std::string& value;
  std::string problem = {};
  std::vector<RecipeKey> keys = {};
  std::optional<RecipeKey> found = {};

  bool is_wanted(const RecipeKey& key) {
    keys.push_back(key);
    if (key.name != wanted) return false;
    found = key;
    return true;
  }
  template <typename Number>
  requires std::is_arithmetic_v<Number>
  void operator()(const RecipeKey& key, Number& field, Limits range) {
    if (!is_wanted(key)) return;
    if constexpr (std::is_integral_v<Number>) {
      const int64_t least = whole(range.least);
      const int64_t most = static_cast<int64_t>(
          std::min<uint64_t>(static_cast<uint64_t>(whole(range.most)), std::numeric_limits<Number>::max()));
      const std::optional<int64_t> number = parse_whole(value);
      if (!number || *number < least || *number > most) {
        problem = fmt::format("an integer from {} to {}", least, most);
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
  void operator()(const RecipeKey& key, bool& field) {
    if (!is_wanted(key)) return;
    if (value != "true" && value != "false") problem = "true or false";
    field = value == "true";
  }
  void operator()(const RecipeKey& key, std::string& field) {
    if (!is_wanted(key)) return;
    field = value;
  }
  template <typename Value>
  void operator()(const RecipeKey& key, Value& field, const Words<Value>& words) {
    if (!is_wanted(key)) return;
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

std::vector<std::string> names_of(const std::vector<RecipeKey>& keys) {
  std::vector<std::string> names;
  for (const RecipeKey& key : keys) names.push_back(key.name);
  return names;
}

/// Whether the key belongs to a [[corpus]]: "corpus.2.weight".
bool is_corpus_setting(const std::string& key) {
  return key.starts_with(std::string(kCorpus) + ".");
}

void apply_corpus_setting(Recipe& recipe, const Setting& setting) {
  const std::string rest = setting.key.substr(std::string(kCorpus).size() + 1);
  const size_t dot = std::min(rest.find('.'), rest.size());
  const std::string key = rest.substr(std::min(dot + 1, rest.size()));
  const auto number = parse_whole(rest.substr(0, dot));
  if (!number || *number < 1) {
    fail(setting.kind,
         "{}: '{}' lacks the number of the corpus, as in 'corpus.1.weight'; in a recipe, use a [[corpus]] "
         "table",
         setting.origin, setting.key);
  }
  const auto position = static_cast<size_t>(*number - 1);
  if (position > recipe.corpora.size()) {
    fail(setting.kind, "{}: '{}': set corpora in order; there are only {} so far", setting.origin,
         setting.key, recipe.corpora.size());
  }
  if (position == recipe.corpora.size()) recipe.corpora.emplace_back();
  Setter setter{key, setting.value};
  visit_corpus(recipe.corpora[position], setter);
  if (!setter.found) {
    fail(setting.kind, "{}: unknown corpus setting '{}'{}; choose from {}", setting.origin, key,
         did_you_mean(key, names_of(setter.keys)), fmt::join(names_of(setter.keys), ", "));
  }
  if (!setter.problem.empty()) {
    fail(setting.kind, "{}: '{}' must be {}, not '{}'", setting.origin, setting.key, setter.problem,
         setting.value);
  }
  CorpusSettings& corpus = recipe.corpora[position];
  for (const auto& [name, path] : std::initializer_list<std::pair<const char*, std::string*>>{
           {"pairs", &corpus.pairs}, {"source", &corpus.source}, {"target", &corpus.target}}) {
    if (key == name && !path->empty()) *path = absolute_path_of(setting);
  }
}

/// Keys of earlier versions and their present names.
const std::map<std::string, std::string>& renamed_keys() {
  static const std::map<std::string, std::string> keys{
      {"model.longest", "model.max_length"},
      {"model.inner_width", "model.feed_forward_width"},
      {"model.relative_distance", "model.max_relative_distance"},
      {"model.bucket_reach", "model.bucket_max_distance"},
      {"model.score", "model.attention_score"},
      {"tokenizer.sentences", "tokenizer.input_sentence_size"},
      {"tokenizer.sampled_cuts", "tokenizer.subword_regularization"},
      {"tokenizer.piece_dropout", "tokenizer.maxmatch_dropout"},
      {"augmentation.capitals", "augmentation.uppercase"},
      {"augmentation.bare", "augmentation.no_final_punctuation"},
      {"augmentation.copies", "augmentation.copied_spans"},
      {"augmentation.joined", "augmentation.concatenated"},
      {"augmentation.joined_sentences", "augmentation.concatenation_length"},
      {"augmentation.titles", "augmentation.title_case"},
      {"cleaning.max_ratio", "cleaning.max_length_ratio"},
      {"cleaning.identical", "cleaning.max_identical_words"},
      {"cleaning.duplicates", "cleaning.drop_duplicates"},
      {"cleaning.encoding", "cleaning.drop_broken_encoding"},
      {"cleaning.language", "cleaning.drop_other_languages"},
      {"training.accumulate", "training.gradient_accumulation"},
      {"training.block", "training.block_size"},
      {"training.documents", "training.document_boundaries"},
      {"training.guided_weight", "training.guided_alignment_weight"},
      {"training.guided_layer", "training.guided_alignment_layer"},
      {"training.guided_head", "training.guided_alignment_head"},
      {"optimizer.clip", "optimizer.clip_norm"},
      {"schedule.rate", "schedule.learning_rate"},
      {"schedule.warmup", "schedule.warmup_steps"},
      {"validation.beam", "validation.beam_size"},
      {"validation.tokens", "validation.max_tokens"}};
  return keys;
}

void apply_field(Recipe& recipe, const Setting& setting) {
  const auto& [key, value, origin, error, folder] = setting;
  if (const auto renamed = renamed_keys().find(key); renamed != renamed_keys().end()) {
    fail(error, "{}: the setting '{}' is now called '{}': rename it", origin, key, renamed->second);
  }
  Setter setter{key, value};
  visit_recipe(recipe, setter);
  if (!setter.found) {
    std::erase_if(setter.keys, [&](const RecipeKey& each) { return !has_field(recipe, each); });
    fail(error, "{}: unknown setting '{}'{}", origin, key, suggest_setting(key, names_of(setter.keys)));
  }
  if (!setter.problem.empty()) {
    fail(error, "{}: '{}' must be {}, not '{}'", origin, key, setter.problem, value);
  }
  if (!recipe.from.empty() && is_fixed_by_model(recipe, *setter.found)) {
    fail(error, "{}: '{}' cannot be set: fine-tuning keeps sizes and tokenizer of '{}'", origin, key,
         recipe.from);
  }
  if (has_field(recipe, *setter.found)) return;
  if (key.starts_with("model.")) {
    fail(error, "{}: the architecture {} has no setting '{}'; its settings are model.{}", origin, recipe.arch,
         key, fmt::join(models::architecture_named(recipe.arch).settings, ", model."));
  }
  fail(error, "{}: '{}' is not a setting of {}", origin, key, task_kind(recipe.task()).training);
}

}  // namespace

void apply_setting(Recipe& recipe, const Setting& setting) {
  if (!is_utf8(setting.value)) {
    fail(setting.kind, "{}: '{}' must be valid UTF-8, not '{}'", setting.origin, setting.key,
         printable(setting.value));
  }
  if (is_corpus_setting(setting.key)) {
    apply_corpus_setting(recipe, setting);
  } else if (setting.key == kHeldOut) {
    recipe.cleaning.held_out.push_back(absolute_path_of(setting));
  } else {
    apply_field(recipe, setting);
  }
}

std::string absolute_path_of(const Setting& setting) {
  namespace fs = std::filesystem;
  fs::path path;
  for (const fs::path& part : fs::absolute(fs::path(setting.folder) / setting.value)) {
    std::error_code error;
    if (part.empty() || part == ".") continue;
    if (part == ".." && path.filename() != ".." && !fs::is_symlink(path, error)) {
      path = path.parent_path();  // "/" is its own
    } else {
      path /= part;
    }
  }
  if (is_utf8(path.string())) return path.string();
  fail(setting.kind,
       "{}: the path '{}' is not valid UTF-8, so a recipe cannot hold it: rename it, or give a link",
       setting.origin, printable(path.string()));
}

std::vector<Setting> with_present_keys(std::vector<Setting> settings) {
  for (Setting& setting : settings) {
    const auto renamed = renamed_keys().find(setting.key);
    if (renamed != renamed_keys().end()) setting.key = renamed->second;
  }
  return settings;
}

}  // namespace heed::train
