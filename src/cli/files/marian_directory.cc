#include "cli/files/marian_directory.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/files/file.h"
#include "base/files/model_inventory.h"
#include "base/text/flat_yaml.h"
#include "base/text/json_text.h"
#include "models/formats/marian_import.h"
#include "text/readers/sentencepiece_parts.h"
#include "text/readers/vocabulary_json.h"
#include "text/tokenizers/vocabulary.h"

namespace heed::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxYamlBytes = size_t{64} << 20;

/// Paths of the files with one of the endings, sorted.
std::vector<std::string> files_ending_in(const ModelInventory& files,
                                         const std::vector<std::string>& endings) {
  std::vector<std::string> found = files.ending_in(endings);
  for (std::string& name : found) name = files.path(name);
  return found;
}

/// decoder.yml was written where the model was trained: only the names of its files are of use.
std::vector<std::string> named_files(const FlatYaml& decoder, const std::string& key,
                                     const ModelInventory& files) {
  std::vector<std::string> paths;
  const auto found = decoder.find(key);
  if (found == decoder.end()) return paths;
  for (const std::string& path : found->second) {
    const std::string name = fs::path(path).filename().string();
    if (files.has(name)) paths.push_back(files.path(name));
  }
  return paths;
}

[[noreturn]] void fail_missing(const std::string& directory, const std::string& what) {
  fail(ErrorKind::kNotFound, "'{}' is a model of Marian, but {}", directory, what);
}

/// The vocabularies that decoder.yml names, of the source and the target; none if it names none.
std::vector<std::string> named_vocabularies(const FlatYaml& decoder, const ModelInventory& files) {
  std::vector<std::string> paths;
  const auto found = decoder.find("vocabs");
  if (found == decoder.end()) return paths;
  for (const std::string& path : found->second) {
    const std::string name = fs::path(path).filename().string();
    if (!files.has(name)) {
      fail_missing(
          files.directory(),
          fmt::format("it lacks '{}', a vocabulary that {} names: add the file, or give the name that "
                      "it has there",
                      shown(name), model_file::kMarianDecoder));
    }
    paths.push_back(files.path(name));
  }
  return paths;
}

/// The vocabularies of a model whose decoder.yml names none: one, or those of the source and the target.
std::vector<std::string> found_vocabularies(const ModelInventory& files) {
  const std::vector<std::string> names = files.ending_in({"vocab.yml", "vocab.yaml"});
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(files.path(name));
  if (names.size() != 2) return paths;
  const auto is_of = [](const std::string& name, const std::string& side) {
    return ("." + name).find("." + side + ".") != std::string::npos;
  };
  if (is_of(names[0], "src") && is_of(names[1], "trg")) return paths;
  if (is_of(names[1], "src") && is_of(names[0], "trg")) return {paths[1], paths[0]};
  fail_missing(files.directory(),
               fmt::format("which of '{}' and '{}' is the vocabulary of the source is unknown: call them "
                           "NAME.src.vocab.yml and NAME.trg.vocab.yml, or list both in {} (vocabs)",
                           shown(names[0]), shown(names[1]), model_file::kMarianDecoder));
}

std::vector<std::string> pieces_of(const std::string& path) {
  if (!path.ends_with(".spm")) return parse_yaml_vocabulary(read_file(path, kMaxYamlBytes), path);
  return sentencepiece_parts(read_sentencepiece_file(path), path).pieces;
}

/// The files of a model, and what decoder.yml says of the search.
struct MarianFiles {
  ModelInventory inventory;
  std::string model;                         ///< the .npz file
  std::vector<std::string> vocabularies;     ///< of the source and the target: .yml or .spm
  bool one_was_found = false;                ///< of these, and decoder.yml names none
  std::string source_pieces, target_pieces;  ///< SentencePiece models
  int64_t beam_size = 0;                     ///< from decoder.yml; 0 if unset
};

}  // namespace

bool is_marian_model(const ModelInventory& files) {
  if (files.directory().ends_with(".npz")) return files.exists() && !files.is_directory();
  return !files.has(model_file::kConfig) && !files.ending_in({".npz"}).empty();
}

namespace {

MarianFiles find_marian_files(const std::string& path) {
  const bool is_file = path.ends_with(".npz");
  std::string directory = is_file ? fs::path(path).parent_path().string() : path;
  if (directory.empty()) directory = ".";
  MarianFiles files;
  files.inventory = ModelInventory(directory);
  const ModelInventory& inventory = files.inventory;
  FlatYaml decoder;
  if (inventory.has(model_file::kMarianDecoder)) {
    const std::string file = inventory.path(model_file::kMarianDecoder);
    decoder = parse_flat_yaml(read_file(file, kMaxYamlBytes), file);
  }
  std::vector<std::string> models{path};
  if (!is_file) models = named_files(decoder, "models", inventory);
  if (models.empty()) models = files_ending_in(inventory, {".npz"});
  if (models.size() != 1) {
    fail(ErrorKind::kFormat, "'{}' contains {} .npz files, and decoder.yml does not name one: give the file",
         directory, models.size());
  }
  files.model = models.front();
  files.vocabularies = named_vocabularies(decoder, inventory);
  if (files.vocabularies.empty()) {
    files.vocabularies = found_vocabularies(inventory);
    files.one_was_found = files.vocabularies.size() == 1;
  }
  if (files.vocabularies.size() == 1) files.vocabularies.push_back(files.vocabularies.front());
  if (files.vocabularies.size() != 2) {
    fail_missing(directory,
                 fmt::format("its vocabularies were not found: it needs one or two files *vocab.yml, or "
                             "those that decoder.yml names, and has {}",
                             files.vocabularies.size()));
  }
  const auto pieces_file = [&](const char* name, const std::string& vocabulary) {
    if (inventory.has(name)) return inventory.path(name);
    if (vocabulary.ends_with(".spm")) return vocabulary;
    fail_missing(directory, fmt::format("it lacks {}, the SentencePiece model", name));
  };
  files.source_pieces = pieces_file(model_file::kSourceSpm, files.vocabularies[0]);
  files.target_pieces = pieces_file(model_file::kTargetSpm, files.vocabularies[1]);
  if (const auto beam = decoder.find("beam-size"); beam != decoder.end() && beam->second.size() == 1) {
    const std::string& text = beam->second.front();
    std::from_chars(text.data(), text.data() + text.size(), files.beam_size);
  }
  return files;
}

/// What takes the place of Marian's vocabularies: lists of pieces with a padding token, which Marian lacks.
struct Pieces {
  std::vector<std::string> source, target;
};

void add_padding(Pieces& all, const std::string& model) {
  constexpr char kPad[] = "<pad>";
  for (std::vector<std::string>* pieces : {&all.source, &all.target}) {
    if (std::ranges::count(*pieces, kPad) > 0) {
      fail(ErrorKind::kFormat, "the vocabulary of '{}' already has a '{}'", model, kPad);
    }
    pieces->emplace_back(kPad);
  }
}

void write_tokenizer(const MarianFiles& files, const Pieces& pieces, const std::string& directory) {
  const ModelInventory to(directory);
  const bool separate = pieces.source != pieces.target;
  write_file(to.path(model_file::kVocabularyJson), vocabulary_json(pieces.source));
  if (separate) write_file(to.path(model_file::kTargetVocabulary), vocabulary_json(pieces.target));
  write_json(to.path(model_file::kTokenizerConfig),
             nlohmann::ordered_json{{"separate_vocabs", separate}, {"model_max_length", 512}});
  write_file(to.path(model_file::kSourceSpm), read_file(files.source_pieces));
  write_file(to.path(model_file::kTargetSpm), read_file(files.target_pieces));
}

}  // namespace

ImportedModel import_marian(const std::string& path) {
  const MarianFiles files = find_marian_files(path);
  Pieces pieces{pieces_of(files.vocabularies[0]), pieces_of(files.vocabularies[1])};
  constexpr char kEnd[] = "</s>";
  const auto end = std::ranges::find(pieces.target, kEnd);
  if (end == pieces.target.end()) {
    fail(ErrorKind::kFormat, "the vocabulary '{}' has no '{}'", files.vocabularies[1], kEnd);
  }
  models::MarianImport import = models::open_marian(
      files.model, {static_cast<int64_t>(pieces.source.size()), static_cast<int64_t>(pieces.target.size()),
                    static_cast<int64_t>(end - pieces.target.begin())});
  add_padding(pieces, files.model);
  auto config = parse_ordered_json(import.config, files.model);
  const std::string& directory = files.inventory.directory();
  if (files.one_was_found && !config.at("share_encoder_decoder_embeddings").get<bool>()) {
    fail_missing(directory,
                 fmt::format("it has one vocabulary, '{}', and embeddings for two: add the other, or "
                             "name it twice in {} (vocabs)",
                             files.vocabularies.front(), model_file::kMarianDecoder));
  }
  config["num_beams"] = std::clamp<int64_t>(files.beam_size > 0 ? files.beam_size : 4, 1, 1024);
  return {files.model, config.dump(),
          std::make_shared<const WeightFiles>(WeightFiles::of(directory, std::move(import.weights))),
          files.inventory, [files, pieces](const std::string& to) { write_tokenizer(files, pieces, to); }};
}

}  // namespace heed::cli
