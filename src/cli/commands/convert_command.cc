// heed convert: converts the data type of the weights, or a model of another program.

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/files/file.h"
#include "base/text/json_file.h"
#include "cli/files/imported_model.h"
#include "cli/files/llama2c_import.h"
#include "cli/files/marian_directory.h"
#include "cli/files/model_lookup.h"
#include "cli/files/new_directory.h"
#include "cli/files/weight_conversion.h"
#include "cli/options/checked_options.h"
#include "cli/options/command.h"
#include "io/ctranslate2_file.h"
#include "models/directory/loaded_model.h"
#include "models/directory/model_directory.h"
#include "models/formats/ctranslate2_export.h"
#include "tasks/model_files.h"
#include "text/readers/tokenizer_json.h"
#include "text/tokenizers/language_tokenizer.h"
#include "text/tokenizers/translation_tokenizer.h"

namespace heed::cli {
namespace {

struct ConvertOptions {
  std::string input, output, tokenizer, weights = "float32", from = "huggingface", to = "heed";
  std::optional<int64_t> shard_size;  // MB
  bool quiet = false;
};

const std::map<std::string, DType>& weight_types() {
  static const std::map<std::string, DType> types{
      {"float32", DType::kFloat32}, {"float16", DType::kFloat16}, {"bfloat16", DType::kBFloat16}};
  return types;
}

/// The types for CTranslate2.
const std::map<std::string, models::Ctranslate2Type>& ctranslate2_types() {
  using Type = models::Ctranslate2Type;
  static const std::map<std::string, Type> types{{"float32", Type::kFloat32},
                                                 {"float16", Type::kFloat16},
                                                 {"bfloat16", Type::kBFloat16},
                                                 {"int8", Type::kInt8},
                                                 {"int16", Type::kInt16}};
  return types;
}

bool is_known(const models::ModelDirectory& directory) {
  return models::architecture_of_type(directory.config().string("model_type", "")) != nullptr;
}

/// The directory layout is the same, but Hugging Face's library lacks some of Heed's architectures.
void require_hugging_face(const models::ModelDirectory& directory) {
  if (!is_known(directory)) return;  // a model of another library
  const std::vector<std::string> beyond = directory.create_model()->beyond_hugging_face();
  if (beyond.empty()) return;
  fail(ErrorKind::kUsage,
       "'{}' ({}) cannot be converted for Hugging Face's library, which does not support {}; leave out --to "
       "for a model that Heed opens",
       directory.path(), directory.config().string("model_type"), fmt::join(beyond, ", "));
}

/// Throws if a model of CTranslate2 came with a SentencePiece model alone, which Hugging Face's library
/// cannot make the ids of these families from.
void require_tokenizer_for_hugging_face(const models::ModelDirectory& input) {
  const std::string type = input.config().string("model_type");
  const std::vector<std::string> families{"m2m_100", "mbart"};
  if (std::ranges::count(families, type) == 0 || input.files().has(model_file::kTokenizerJson)) return;
  if (type == "m2m_100" && input.files().has(model_file::kVocabularyJson)) return;
  fail(
      ErrorKind::kUsage,
      "'{}' has no tokenizer.json, from which Hugging Face's library reads the ids of such a model: copy the "
      "tokenizer files of the original model there, or leave out --to for a model that Heed opens",
      input.path());
}

/// Writes tokenizer.json for Hugging Face's library. Directories written by earlier versions of Heed lack it.
void write_tokenizer_for_hugging_face(const models::ModelDirectory& directory) {
  if (!is_known(directory) || directory.task() != models::Task::kLanguageModel) return;
  if (!has_language_tokenizer(directory.files())) return;
  const ModelTokenizer tokenizer = load_language_tokenizer(directory.files());
  if (const std::string beyond = tokenizer.beyond_hugging_face(); !beyond.empty()) {
    fail(ErrorKind::kUsage,
         "the tokenizer cannot be converted for Hugging Face's library, which would tokenize differently: "
         "{}; leave out --to for a model that Heed opens",
         beyond);
  }
  if (!tokenizer.tokenizer_json().empty()) tokenizer.save(directory.path());
}

WeightConversion conversion_of(const ConvertOptions& o) {
  constexpr int64_t kShardSize = 5000;
  return {weight_types().at(o.weights), static_cast<uint64_t>(o.shard_size.value_or(kShardSize)) * 1'000'000};
}

/// Throws for models of other programs, which are converted for CTranslate2 in two steps.
void require_other_target(const ConvertOptions& o, const char* program) {
  if (o.to != "ctranslate2") return;
  fail(ErrorKind::kUsage, "'{}' is a model of {}: convert it for Heed first, and the result for CTranslate2",
       o.input, program);
}

int convert_llama2c(const ConvertOptions& o) {
  require_other_target(o, "llama2.c");
  NewDirectory output(o.output);
  write_imported(import_llama2c(o.input, o.tokenizer), output.part(), conversion_of(o));
  const models::ModelDirectory written = models::ModelDirectory::open(output.part());
  if (o.to == "huggingface") write_tokenizer_for_hugging_face(written);
  models::load_model(written);
  output.commit();
  if (o.quiet) return kExitDone;
  std::fprintf(stderr, "wrote %s: a Llama model in Hugging Face's layout%s\n", o.output.c_str(),
               o.tokenizer.empty() ? ", without a tokenizer, so texts are token ids; to add its "
                                     "tokenizer.model or tokenizer.bin, give --tokenizer"
                                   : ", with its tokenizer");
  return kExitDone;
}

int convert_marian(const ConvertOptions& o) {
  require_other_target(o, "Marian");
  const ImportedModel model = import_marian(o.input);
  NewDirectory output(o.output);
  write_imported(model, output.part(), conversion_of(o));
  const models::ModelDirectory written = models::ModelDirectory::open(output.part());
  if (o.to == "huggingface") require_hugging_face(written);
  tasks::translation_model(models::load_model(written));
  output.commit();
  if (!o.quiet) {
    std::fprintf(stderr, "wrote %s: a model that computes as Marian, weights in %s\n", o.output.c_str(),
                 o.weights.c_str());
  }
  return kExitDone;
}

// ---- To CTranslate2 --------------------------------------------------------------------------------------

/// The pieces of a vocabulary in id order, as CTranslate2 has them.
void write_pieces(const std::string& path, const Vocabulary& vocabulary, int32_t left_out) {
  nlohmann::ordered_json pieces = nlohmann::ordered_json::array();
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    if (static_cast<int32_t>(id) != left_out) pieces.push_back(vocabulary.piece(static_cast<int32_t>(id)));
  }
  write_json(path, pieces);
}

/// The pieces of a tokenizer.json as it spells them, which in byte-level BPE is not how people read them, and
/// names for the ids after them.
void write_json_pieces(const std::string& path, std::vector<std::string> pieces, int64_t vocabulary_size) {
  while (static_cast<int64_t>(pieces.size()) < vocabulary_size)
    pieces.push_back(fmt::format("<unused {}>", pieces.size()));
  pieces.resize(static_cast<size_t>(vocabulary_size));
  write_json(path, nlohmann::ordered_json(pieces));
}

/// config.json with the names of special tokens in `tokens`.
void write_ctranslate2_config(const std::string& path, const models::Ctranslate2Options& options,
                              nlohmann::ordered_json tokens) {
  tokens["layer_norm_epsilon"] = nullptr;
  if (options.norm_epsilon) tokens["layer_norm_epsilon"] = *options.norm_epsilon;
  tokens["multi_query_attention"] = options.grouped_queries;
  write_json(path, tokens);
}

/// The id of a token of a Marian model in the copy, in which the padding token is the last one.
int32_t id_in_copy(int32_t id, const models::Seq2Seq& model) {
  if (id == model.padding_id()) return static_cast<int32_t>(model.vocabulary_size()) - 1;
  return id > model.padding_id() ? id - 1 : id;
}

/// tokenizer_config.json of a Marian model. Without the ids in it, if those of the copy are others.
void write_marian_tokenizer_config(const models::LoadedModel& loaded, const std::string& part) {
  const char* name = model_file::kTokenizerConfig;
  if (!loaded.files.has(name)) return;
  const std::string path = loaded.files.path(name);
  auto config = parse_ordered_json(read_file(path), path);
  const models::Seq2Seq& model = loaded.seq2seq();
  if (id_in_copy(model.padding_id(), model) != model.padding_id()) config.erase("added_tokens_decoder");
  write_json(part + "/" + name, config);
}

/// generation_config.json, which CTranslate2 ignores. Settings may also be in config.json, which is another
/// one there.
void write_generation_settings(const models::ModelDirectory& input, const models::LoadedModel& loaded,
                               bool marian, const std::string& part) {
  const char* name = model_file::kGenerationConfig;
  if (!marian && input.files().has(name)) {
    return write_file(part + "/" + name, read_file(input.files().path(name)));
  }
  models::GenerationDefaults generation = loaded.generation;
  models::SpecialIds ids = models::special_ids_of(*loaded.model, input.config());
  if (marian) {
    std::vector<int32_t*> all{&ids.padding,
                              &ids.end,
                              &ids.begin,
                              &ids.start,
                              &generation.forced_begin_id,
                              &generation.forced_end_id};
    for (std::vector<int32_t>* list :
         {&generation.end_ids, &generation.forbidden_ids, &generation.begin_forbidden_ids}) {
      for (int32_t& id : *list) all.push_back(&id);
    }
    for (int32_t* id : all) *id = id_in_copy(*id, loaded.seq2seq());
  }
  models::write_generation_defaults(part, generation, ids);
}

/// CTranslate2 stores no ids: the padding token is the one that the vocabulary calls so.
void require_same_padding(const models::LoadedModel& loaded, const TranslationTokenizer& tokenizer) {
  const int32_t in_model = loaded.seq2seq().padding_id(), in_vocabulary = tokenizer.pad_id();
  if (in_model == in_vocabulary) return;
  fail(
      ErrorKind::kUsage,
      "'{}' cannot be converted for CTranslate2: pad_token_id in config.json is {}, but the padding token of "
      "the vocabulary, which CTranslate2 would use, has the id {}",
      loaded.directory(), in_model, in_vocabulary);
}

void write_translation_files(const models::LoadedModel& loaded, const models::Ctranslate2Options& options,
                             const std::string& part) {
  const TranslationTokenizer tokenizer = TranslationTokenizer::load(loaded.files);
  require_same_padding(loaded, tokenizer);
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  const bool marian = options.marian;
  const int32_t left_out = marian ? tokenizer.pad_id() : -1;
  const std::string end = vocabulary.piece(tokenizer.end_id());
  const int32_t start = marian ? tokenizer.end_id() : loaded.seq2seq().start_id();
  write_ctranslate2_config(part + "/" + model_file::kConfig, options,
                           {{"add_source_bos", false},
                            {"add_source_eos", false},
                            {"bos_token", marian || vocabulary.find("<s>") ? "<s>" : vocabulary.piece(start)},
                            {"decoder_start_token", vocabulary.piece(start)},
                            {"eos_token", end},
                            {"unk_token", vocabulary.piece(tokenizer.unknown_id())}});
  if (tokenizer.has_two_vocabularies()) {
    write_pieces(part + "/source_vocabulary.json", tokenizer.source_vocabulary(), -1);
    write_pieces(part + "/target_vocabulary.json", vocabulary, left_out);
  } else if (!marian && loaded.files.has(model_file::kTokenizerJson)) {
    write_json_pieces(part + "/shared_vocabulary.json",
                      read_tokenizer_json(loaded.files.path(model_file::kTokenizerJson)).pieces,
                      loaded.seq2seq().vocabulary_size());
  } else {
    write_pieces(part + "/shared_vocabulary.json", vocabulary, left_out);
  }
  if (!marian) return tokenizer.save(part);
  for (const char* name : {model_file::kSourceSpm, model_file::kTargetSpm}) {
    write_file(part + "/" + name, read_file(loaded.files.path(name)));
  }
  write_marian_tokenizer_config(loaded, part);
}

void write_language_model_files(const models::LoadedModel& loaded, const models::Ctranslate2Options& options,
                                const std::string& part) {
  if (!loaded.files.has(model_file::kTokenizerJson)) {
    fail(ErrorKind::kUsage,
         "'{}' has no tokenizer.json, which CTranslate2's vocabulary is written from: heed convert --to "
         "huggingface writes one if the tokenizer allows it",
         loaded.directory());
  }
  const std::vector<std::string> pieces =
      read_tokenizer_json(loaded.files.path(model_file::kTokenizerJson)).pieces;
  const models::LanguageModel& model = loaded.language_model();
  const auto piece = [&](int32_t id) {
    const bool there = id >= 0 && id < static_cast<int32_t>(pieces.size());
    return there ? pieces[static_cast<size_t>(id)] : std::string();
  };
  const std::string unknown = std::ranges::count(pieces, "<unk>") > 0 ? "<unk>" : piece(model.end_id());
  write_ctranslate2_config(
      part + "/" + model_file::kConfig, options,
      {{"bos_token", piece(model.start_id())}, {"eos_token", piece(model.end_id())}, {"unk_token", unknown}});
  write_json_pieces(part + "/vocabulary.json", pieces, model.vocabulary_size());
  load_language_tokenizer(loaded.files).save(part);
}

int convert_to_ctranslate2(const ConvertOptions& o, const models::ModelDirectory& input) {
  if (o.shard_size) {
    fail(ErrorKind::kUsage, "--shard-size excludes --to ctranslate2, which has all weights in one file");
  }
  const models::LoadedModel loaded = models::load_model(
      input, {.precision = models::Precision::kFloat32, .storage = models::WeightStorage::kFloat32});
  const Ctranslate2Variables variables =
      models::ctranslate2_variables(loaded, ctranslate2_types().at(o.weights));
  const models::Ctranslate2Options options = models::ctranslate2_options(loaded);
  NewDirectory output(o.output);
  const std::string part = output.part();
  write_ctranslate2(part + "/" + model_file::kCtranslate2, variables);
  if (loaded.model->task() == models::Task::kTranslation) {
    write_translation_files(loaded, options, part);
  } else {
    write_language_model_files(loaded, options, part);
  }
  write_generation_settings(input, loaded, options.marian, part);
  models::load_model(part, {.precision = models::Precision::kInt8});
  output.commit();
  if (!o.quiet) {
    std::fprintf(stderr, "wrote %s: a model of CTranslate2 with weights in %s\n", o.output.c_str(),
                 o.weights.c_str());
  }
  return kExitDone;
}

/// What can be converted to what, for those who have not said what they want.
constexpr const char* kConversions =
    "heed convert IN OUT writes IN for Heed, with --weights float16 or bfloat16 in half the size; for "
    "CTranslate2 with --to ctranslate2, also with --weights int8 or int16; for Hugging Face's library with "
    "--to "
    "huggingface. IN is a model directory of Heed, Hugging Face or CTranslate2, an .npz file of Marian "
    "(--from "
    "marian), or a weight file of llama2.c (--from llama2c). heed quantize writes int8 weights for Heed";

void require_both(const ConvertOptions& o) {
  if (!o.input.empty() && !o.output.empty()) return;
  fail(ErrorKind::kUsage, "{} is missing: give it by position, or as {}. {}", o.input.empty() ? "IN" : "OUT",
       o.input.empty() ? "--model" : "--output", kConversions);
}

/// Says so if the command has written what was there, for lack of options that say what to change.
void note_unchanged(const ConvertOptions& o, const models::ModelDirectory& input, bool same_size) {
  if (!same_size || input.format() != "safetensors" || o.weights != "float32" || o.to != "heed") return;
  std::fprintf(
      stderr, "note: the weights of %s are in %s already, so this is a copy without the training state. %s\n",
      input.path().c_str(), o.weights.c_str(), kConversions);
}

/// As conversion_of(), without copies of tied parameters.
WeightConversion conversion_of(const ConvertOptions& o, const models::ModelDirectory& input) {
  WeightConversion conversion = conversion_of(o);
  if (!is_known(input)) return conversion;
  const std::unique_ptr<models::Model> model = input.create_model();
  conversion.left_out = tied_views(*input.weights(), *model);
  if (!conversion.left_out.empty()) models::require_equal_copies(*input.weights(), model->table());
  return conversion;
}

int run_convert(const ConvertOptions& o) {
  require_both(o);
  if (o.to != "ctranslate2" && weight_types().count(o.weights) == 0) {
    fail(ErrorKind::kUsage,
         "--weights {} is for --to ctranslate2; heed quantize writes int8 weights for Heed", o.weights);
  }
  if (o.from == "llama2c") return convert_llama2c(o);
  if (!o.tokenizer.empty()) {
    fail(ErrorKind::kUsage, "--tokenizer is for --from llama2c: a model directory contains its tokenizer");
  }
  const ModelInventory files(o.input);
  if (o.from == "marian" || is_marian_model(files)) return convert_marian(o);
  require_model_directory(files, "IN");
  const models::ModelDirectory input = models::ModelDirectory::open(files);
  if (input.quantized_bits() != 0) {
    fail(ErrorKind::kUsage, "'{}' is quantized; convert the original model instead", files.directory());
  }
  if (o.to == "ctranslate2") return convert_to_ctranslate2(o, input);
  if (o.to == "huggingface") {
    require_hugging_face(input);
    if (input.is_ctranslate2()) require_tokenizer_for_hugging_face(input);
  }
  NewDirectory output(o.output);
  if (input.is_ctranslate2()) {
    write_imported(import_ctranslate2(input), output.part(), conversion_of(o));
  } else {
    convert_weights(*input.weights(), output.part(), conversion_of(o, input));
    copy_others(input.files(), output.part());
    const std::string original = input.files().path(model_file::kConfig);
    write_config(parse_ordered_json(read_file(original), original), output.part(), conversion_of(o).dtype);
  }
  const models::ModelDirectory written = models::ModelDirectory::open(output.part());
  if (o.to == "huggingface") write_tokenizer_for_hugging_face(written);
  if (is_known(input)) models::require_weights(*written.weights(), written.create_model()->table(), false);
  const double megabytes = static_cast<double>(written.weights()->bytes()) / 1e6;
  const double before = static_cast<double>(input.weights()->bytes()) / 1e6;
  output.commit();
  if (!o.quiet) {
    std::fprintf(stderr, "wrote %s: weights in %s, %.1f MB (before: %.1f MB)\n", o.output.c_str(),
                 o.weights.c_str(), megabytes, before);
    note_unchanged(o, input, megabytes == before);
  }
  return kExitDone;
}

}  // namespace

void add_convert(Command& app, Work& work) {
  auto [command, o] =
      add_command(app, work, "convert", "Convert the weights to another type, or a model from another format",
                  run_convert);
  command->footer(R"(Examples:
  heed convert my-model my-model-half --weights float16
  heed convert my-model my-model-ct2 --to ctranslate2
  heed convert opus-en-de my-model --from marian
  heed convert stories15M.bin stories --from llama2c --tokenizer tokenizer.bin
IN may hold model.safetensors, pytorch_model.bin (or shards of them), or be a directory of CTranslate2 with
the tokenizer files of the original model. --to ctranslate2 writes Marian, M2M-100, NLLB, BART, mBART, T5,
GPT-2, Llama, Mistral, Qwen 2, Qwen 3 and Gemma 3. Otherwise, the new directory is a complete model in
safetensors, without the training state. 16-bit weights halve its size; they are rounded to nearest, and
computations stay in float32.)");
  add_argument(*command, "IN", "--model", o->input,
               "Model directory, or a weight file with --from marian or llama2c");
  add_argument(*command, "OUT", "--output", o->output, "Directory to create, or an empty one");
  std::vector<std::string> names;
  for (const auto& [name, type] : ctranslate2_types()) names.push_back(name);
  add_choice(*command, "--weights TYPE", o->weights,
             "Data type of the weights: float32, float16 or bfloat16; for CTranslate2 also int8 or int16",
             names)
      ->show_default();
  add_choice(*command, "--from FORMAT", o->from,
             "Format of IN: huggingface (a model directory, also of CTranslate2), marian (an .npz file, or a "
             "directory\nwith one, which is also recognized) or llama2c (a weight file of llama2.c)",
             {"huggingface", "marian", "llama2c"})
      ->show_default();
  add_choice(*command, "--to FORMAT", o->to,
             "Target: heed, huggingface or ctranslate2; models that the target does not support are refused",
             {"heed", "huggingface", "ctranslate2"})
      ->show_default();
  command->add_option("--tokenizer F", o->tokenizer,
                      "Tokenizer for --from llama2c: tokenizer.model, or llama2.c's tokenizer.bin");
  add_integer(
      *command, "--shard-size MB", o->shard_size,
      "Split larger weights into files of at most this many MB (10^6 bytes); a larger tensor has a file "
      "of its own [default: 5000]",
      {1, 1'000'000'000});
  add_quiet(*command, o->quiet);
}

}  // namespace heed::cli
