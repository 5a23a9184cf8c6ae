#include "train/tasks/prepared_tokenizer.h"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/check.h"
#include "base/files/file.h"
#include "base/files/fingerprint.h"
#include "base/files/model_inventory.h"
#include "base/text/json_file.h"
#include "base/text/option_error.h"
#include "text/tokenizers/translation_tokenizer.h"
#include "train/loop/trainer.h"

namespace heed::train {
namespace {

namespace fs = std::filesystem;

/// The content of training/tokenizer_files.json.
struct Manifest {
  std::string made_from;                     // a fingerprint
  std::optional<std::string> languages;      // such as de-en, "" if none; nothing before version 1.2
  std::map<std::string, std::string> files;  // fingerprints by file name
  bool operator==(const Manifest&) const = default;
};

std::string fingerprint_of_file(const std::string& path) {
  Fingerprint all;
  all.add(read_file(path));
  return hexadecimal(all.value());
}

/// Fingerprint of everything that the tokenizer depends on: text, recipe and languages.
std::string made_from(const TaskInput& input, uint64_t text) {
  Fingerprint all;
  all.add_number(text);
  for (const std::string& each :
       {to_toml(input.options.recipe), input.options.source_language, input.options.target_language}) {
    all.add_number(each.size());
    all.add(each);
  }
  return hexadecimal(all.value());
}

/// "de-en"; "" if none are given.
std::string languages_of(const TrainerOptions& options) {
  return options.source_language.empty() ? "" : options.source_language + "-" + options.target_language;
}

/// "a SentencePiece unigram tokenizer with 8,000 pieces".
std::string description(const Recipe& recipe) {
  const bool language_model = recipe.task() == models::Task::kLanguageModel;
  const std::string& type = recipe.tokenizer;
  if (type == "bytes") return "a byte tokenizer";
  if (type == "characters") return "a character tokenizer";
  std::string name = "a SentencePiece " + type;
  if (language_model && type == "bpe") name = "a byte-level BPE";
  if (language_model && type == "sentencepiece") name = "a SentencePiece BPE";
  if (type == "wordpiece") name = "a WordPiece";
  const std::string digits = std::to_string(recipe.vocabulary);
  std::string size;
  for (size_t at = 0; at < digits.size(); ++at) {
    if (at > 0 && (digits.size() - at) % 3 == 0) size += ',';
    size += digits[at];
  }
  return name + " tokenizer with " + size + " pieces";
}

/// The content of a tokenizer_config.json with the language pair of the training, if one is given: the model
/// that the training begins with may have another. Models with a token for each language have other keys.
std::string with_languages(const std::string& config, const TrainerOptions& options) {
  if (options.source_language.empty()) return config;
  auto json = nlohmann::ordered_json::parse(config, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("source_lang") || !json.contains("target_lang")) return config;
  json["source_lang"] = options.source_language;
  json["target_lang"] = options.target_language;
  return json.dump(2) + "\n";
}

class PreparedTokenizer {
 public:
  PreparedTokenizer(const TaskInput& input, uint64_t text)
      : input_(input),
        output_(input.options.output),
        folder_(output_ + "/training"),
        names_(task_kind(input.options.recipe.task()).tokenizer_files),
        made_from_(made_from(input, text)) {}

  bool prepare(const std::function<void(const std::string&)>& make) {
    const std::optional<Manifest> manifest = read_manifest();
    if (input_.begun) {
      require_the_same(manifest);
      require_the_same_languages(*manifest);
      return false;
    }
    if (manifest && manifest->made_from == made_from_ && *manifest == describe(output_)) return false;
    const std::string staging = folder_ + "/tokenizer";
    fs::remove_all(staging);
    make_directories(staging);
    if (input_.options.recipe.from.empty()) {
      input_.begin_work("training " + description(input_.options.recipe));
      make(staging);
    } else {
      copy(input_.options.recipe.from, staging);
    }
    publish(staging);
    return true;
  }

 private:
  bool is_translation() const { return input_.options.recipe.task() == models::Task::kTranslation; }
  std::string manifest_path() const { return folder_ + "/tokenizer_files.json"; }

  Manifest describe(const std::string& directory) const {
    const ModelInventory files(directory);
    Manifest manifest{made_from_, languages_of(input_.options), {}};
    for (const std::string& name : names_) {
      if (files.has(name)) manifest.files.emplace(name, fingerprint_of_file(files.path(name)));
    }
    return manifest;
  }

  /// Empty if the file is missing or malformed.
  std::optional<Manifest> read_manifest() const {
    if (!fs::exists(manifest_path())) return std::nullopt;
    try {
      const JsonObject json = JsonObject::read(manifest_path());
      Manifest manifest{json.string("made_from"), {}, {}};
      if (json.has("languages")) manifest.languages = json.string("languages");
      const JsonObject files = json.object("files");
      for (const std::string& name : files.keys()) manifest.files.emplace(name, files.string(name));
      return manifest;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kFormat) throw;
      return std::nullopt;
    }
  }

  void require_the_same(const std::optional<Manifest>& manifest) const {
    if (!manifest) {
      fail(
          ErrorKind::kFormat,
          "'{}' is missing or damaged, so the tokenizer cannot be verified: restore it from a copy, or train "
          "into another directory",
          manifest_path());
    }
    const Manifest now = describe(output_);
    for (const auto& [name, fingerprint] : manifest->files) {
      const auto found = now.files.find(name);
      if (found != now.files.end() && found->second == fingerprint) continue;
      fail(ErrorKind::kFormat, "'{}/{}' is {}: restore it from a copy, or train into another directory",
           output_, name, found == now.files.end() ? "missing" : "not the file that the training began with");
    }
  }

  /// The languages of tokenizer_config.json. Tokenizers with a token for each language have no such pair.
  std::optional<std::string> languages_of_config() const {
    const ModelInventory files(output_);
    if (!files.has(model_file::kTokenizerConfig)) return std::nullopt;
    const JsonObject config = JsonObject::read(files.path(model_file::kTokenizerConfig));
    if (!config.has("source_lang") || !config.has("target_lang")) return std::nullopt;
    return config.string("source_lang") + "-" + config.string("target_lang");
  }

  void require_the_same_languages(const Manifest& manifest) const {
    const std::string now = languages_of(input_.options);
    std::optional<std::string> before = languages_of_config();
    if (before && now.empty()) return;
    if (!before) before = manifest.languages;
    if (!before && !input_.options.recipe.from.empty()) return;  // an earlier version noted none
    if (now == before.value_or("")) return;
    fail_option("{}: the training in '{}' is of {}; give the same to resume, or train into another directory",
                now.empty() ? option_text("no $languages") : option_text("$languages {}", now), output_,
                before.value_or("").empty() ? "no languages" : *before);
  }

  void copy(const std::string& from, const std::string& to) const {
    const ModelInventory files(from);
    const std::string folder = to + "/";
    if (files.has(model_file::kCtranslate2) && is_translation()) {  // whose vocabularies are lists
      TranslationTokenizer::load(files).save(to);
    } else {
      for (const std::string& name : names_) {
        if (files.has(name)) write_file(folder + name, read_file(files.path(name)));
      }
    }
    const std::string config = folder + model_file::kTokenizerConfig;
    if (!fs::exists(config)) return;
    write_file(config, with_languages(read_file(config), input_.options));
  }

  /// Those that an interrupted run has tokenized, for another recipe.
  void remove_corpora() const {
    const ModelInventory files(folder_);
    for (const std::string& name : files.ending_in({".ids"})) fs::remove(files.path(name));
  }

  /// Moves the files to the output directory, which may contain tokenizer files of an interrupted run.
  void publish(const std::string& staging) const {
    const Manifest manifest = describe(staging);
    fs::remove(manifest_path());
    remove_corpora();
    const std::string made = staging + "/";
    for (const std::string& name : names_) {
      const std::string path = output_ + "/" + name;
      if (manifest.files.contains(name)) {
        std::error_code error;
        fs::rename(made + name, path, error);
        if (error) fail(ErrorKind::kFile, "cannot write '{}': {}", path, error.message());
      } else {
        fs::remove(path);
      }
    }
    sync_directory(output_);
    write_json(manifest_path(), nlohmann::ordered_json{{"made_from", manifest.made_from},
                                                       {"languages", *manifest.languages},
                                                       {"files", manifest.files}});
    fs::remove_all(staging);
  }

  const TaskInput& input_;
  std::string output_, folder_;
  const std::vector<std::string>& names_;
  std::string made_from_;
};

}  // namespace

bool prepare_tokenizer(const TaskInput& input, uint64_t text,
                       const std::function<void(const std::string&)>& make) {
  return PreparedTokenizer(input, text).prepare(make);
}

std::string described_tokenizer(const Recipe& recipe, const std::string& size) {
  if (!recipe.from.empty()) return "tokenizer of the model: " + size;
  return fmt::format("tokenizer: {} ({})", size, recipe.tokenizer);
}

uint64_t fingerprint_files(const std::string& directory, const std::vector<std::string>& names) {
  const ModelInventory files(directory);
  Fingerprint fingerprint;
  for (const std::string& name : names) {
    if (!files.has(name)) continue;
    const std::string content = read_file(files.path(name));
    fingerprint.add(content.data(), content.size());
  }
  return fingerprint.value();
}

}  // namespace heed::train
