#include "text/tokenizers/encoder_tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/files/file.h"
#include "text/readers/pipeline_reader.h"
#include "text/readers/tokenizer_file.h"
#include "text/readers/word_list.h"
#include "text/tokenizers/config/added_tokens.h"
#include "text/tokenizers/config/encoder_tokenizer_config.h"
#include "text/tokenizers/config/tokenizer_config_keys.h"
#include "text/tokenizers/config/tokenizer_flags.h"

namespace heed {
namespace {

constexpr const char *kWordList = model_file::kVocabularyTxt,
                     *kWordPieceConfig = model_file::kTokenizerConfig,
                     *kTokenizerJsonName = model_file::kTokenizerJson;

std::string file_in(const std::string& directory, const char* file) {
  return (std::filesystem::path(directory) / file).string();
}

std::shared_ptr<const Vocabulary> vocabulary_of(std::vector<std::string> pieces,
                                                const WordPieceSettings& settings) {
  auto vocabulary = std::make_shared<const Vocabulary>(
      std::move(pieces), SpecialPieces{settings.end, settings.unknown, settings.pad});
  if (!vocabulary->find(settings.start)) {
    fail(ErrorKind::kFormat, "the vocabulary lacks the start token \"{}\"", settings.start);
  }
  return vocabulary;
}

/// BERT's pipeline.
TextPipeline bert_pipeline(const Vocabulary& vocabulary, const WordPieceSettings& settings) {
  PipelineParts parts{.path = "the vocabulary", .pieces = vocabulary.pieces()};
  std::vector<AddedToken> special;
  for (const std::string& token :
       std::set<std::string>{settings.start, settings.end, settings.unknown, settings.pad, settings.mask}) {
    if (const auto id = vocabulary.find(token)) special.push_back({.id = *id, .content = token});
  }
  parts.added = AddedVocabulary(std::move(special));
  parts.normalizers.push_back(bert_normalizer(normalizer_options(settings.words)));
  parts.pre_tokenizers.push_back(bert_pre_tokenizer());
  parts.model = word_piece_model(parts.path, parts.pieces, settings.unknown, std::string(kContinuesWord),
                                 kMaxWordPieceLength);
  const TemplatePart start{.ids = {vocabulary.id(settings.start)}, .tokens = {settings.start}};
  const auto end = [&](int32_t type) {
    return TemplatePart{.type = type, .ids = {vocabulary.end_id()}, .tokens = {settings.end}};
  };
  parts.post_processor =
      PostProcessor({{.single = {start, {.source = 0}, end(0)},
                      .pair = {start, {.source = 0}, end(0), {.source = 1, .type = 1}, end(1)}}});
  parts.decoder.emplace();
  parts.decoder->push_back(word_piece_decoder(std::string(kContinuesWord), settings.clean_up));
  return {std::move(parts), static_cast<int32_t>(vocabulary.size())};
}

/// Takes over what tokenizer.json says.
void read_words(const TokenizerJson& json, const WordPieceConfig& config, WordPieceSettings& settings) {
  for (const TokenizerStep& step : json.normalizer) {
    if (step.type != "BertNormalizer") continue;
    settings.words.lowercase = step.settings.boolean("lowercase");
    settings.words.strip_accents = step.settings.boolean("strip_accents", settings.words.lowercase);
    settings.words.chinese_apart = step.settings.boolean("handle_chinese_chars");
  }
  settings.truncates_left = config.truncates_left.value_or(json.truncates_left);
  for (const TokenizerStep& step : json.decoder) {
    if (step.type == "WordPiece") settings.clean_up = step.settings.boolean("cleanup");
  }
}

/// The first of the names that is a token.
std::string first_known(const TokenizerJson& json, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!name.empty() && std::find(json.pieces.begin(), json.pieces.end(), name) != json.pieces.end())
      return name;
  }
  return names.back();
}

/// The special tokens of a tokenizer.json. tokenizer_config.json or the usual names say which are for masks
/// and padding.
void read_roles(const TokenizerJson& json, const TextPipeline& pipeline, WordPieceSettings& settings) {
  const std::vector<int32_t> before = pipeline.before(), after = pipeline.after();
  if (before.empty() || after.empty()) {
    refuse_step(json, json.post_processor.empty() ? json.model : json.post_processor.back(),
                "puts no tokens before and after a text, which an encoder needs");
  }
  settings.start = pipeline.piece(before.front());
  settings.end = pipeline.piece(after.back());
  const bool named = json.model.type != "Unigram" && json.model.settings.has("unk_token");
  settings.unknown = first_known(json, {named ? json.model.settings.string("unk_token") : "",
                                        settings.unknown, "[UNK]", "<unk>", settings.end});
  settings.pad = first_known(json, {settings.pad, "[PAD]", "<pad>", settings.end});
  settings.mask = first_known(json, {settings.mask, "[MASK]", "<mask>"});
}

bool has_word_pieces(const TokenizerJson& json) {
  return json.model.type == "WordPiece" &&
         json.model.settings.string("continuing_subword_prefix") == kContinuesWord;
}

bool spells_bytes(const TokenizerJson& json) {
  const auto in_bytes = [](const TokenizerStep& step) { return step.type == "ByteLevel"; };
  return !has_word_pieces(json) && (std::ranges::any_of(json.normalizer, in_bytes) ||
                                    std::ranges::any_of(json.pre_tokenizer, in_bytes));
}

void save_word_list(const std::string& directory, const WordPieceSettings& settings,
                    const Vocabulary& vocabulary) {
  write_file(file_in(directory, kWordPieceConfig), write_wordpiece_config(settings, /*with_json=*/false));
  std::string lines;
  for (const std::string& piece : vocabulary.pieces()) lines += piece + '\n';
  write_file(file_in(directory, kWordList), lines);
}

void save_json(const std::string& directory, WordPieceSettings settings, const Vocabulary& vocabulary,
               const std::string& json_path) {
  // transformers would add it to the vocabulary
  if (!vocabulary.find(settings.mask)) settings.mask.clear();
  write_file(file_in(directory, kWordPieceConfig), write_wordpiece_config(settings, /*with_json=*/true));
  write_file(file_in(directory, kTokenizerJsonName), read_tokenizer_file(json_path));
}

/// What all tokenizers of encoders have in common.
TokenizerParts encoder_parts(const WordPieceSettings& settings, std::shared_ptr<const Vocabulary> vocabulary,
                             TextPipeline pipeline) {
  return {.pipeline = std::move(pipeline),
          .start = vocabulary->find(settings.start),
          .end = vocabulary->end_id(),
          .mask = vocabulary->find(settings.mask),
          .vocabulary = vocabulary,
          .max_length = settings.max_length,
          .truncates_left = settings.truncates_left,
          .mask_name = settings.mask};
}

/// The tokenizer of a tokenizer.json; `config`: tokenizer_config.json beside it.
ModelTokenizer load_json(const std::string& path, const WordPieceConfig& config) {
  const TokenizerJson json = read_tokenizer_json(path);
  const TextPipeline pipeline = read_text_pipeline(json);
  WordPieceSettings settings = config.settings;
  require_same_flags(json, config.flags);
  read_words(json, config, settings);
  read_roles(json, pipeline, settings);
  std::vector<std::string> pieces;
  for (int32_t id = 0; id < pipeline.size(); ++id) pieces.push_back(pipeline.piece(id));
  try {
    TokenizerParts parts = encoder_parts(settings, vocabulary_of(std::move(pieces), settings), pipeline);
    parts.is_word_piece = has_word_pieces(json);
    parts.spells_bytes = spells_bytes(json);
    parts.save = [settings, vocabulary = parts.vocabulary, path](const std::string& directory) {
      save_json(directory, settings, *vocabulary, path);
    };
    return ModelTokenizer(std::move(parts));
  } catch (const Error& error) {
    fail(ErrorKind::kFormat, "{} cannot be used: {}", path, error.what());
  }
}

}  // namespace

bool is_padded_vocabulary(int64_t pieces, int64_t rows) {
  for (const int64_t multiple : {1, 8, 16, 32, 64, 128}) {
    if (rows == (pieces + multiple - 1) / multiple * multiple) return true;
  }
  return false;
}

ModelTokenizer wordpiece_tokenizer(std::vector<std::string> pieces, const WordPieceSettings& settings) {
  const auto vocabulary = vocabulary_of(std::move(pieces), settings);
  TokenizerParts parts = encoder_parts(settings, vocabulary, bert_pipeline(*vocabulary, settings));
  parts.is_word_piece = true;
  parts.save = [settings, vocabulary](const std::string& directory) {
    save_word_list(directory, settings, *vocabulary);
  };
  return ModelTokenizer(std::move(parts));
}

ModelTokenizer load_encoder_tokenizer(const ModelInventory& files) {
  const std::string config_path = files.path(kWordPieceConfig), config = read_tokenizer_config_file(files);
  const WordPieceConfig settings = read_wordpiece_config(config, config_path);
  if (files.has(kTokenizerJsonName)) return load_json(files.path(kTokenizerJsonName), settings);
  if (settings.flags.adds_space.value_or(false)) {
    fail(ErrorKind::kFormat, "{} sets \"add_prefix_space\", which needs a tokenizer.json", config_path);
  }
  const WordPieceSettings& of = settings.settings;
  require_no_other_tokens(JsonObject::parse(config, config_path),
                          {of.start, of.end, of.unknown, of.pad, of.mask});
  const std::string path = files.path(kWordList);
  std::vector<std::string> pieces = read_word_list(path);
  try {
    ModelTokenizer tokenizer = wordpiece_tokenizer(std::move(pieces), settings.settings);
    require_no_other_ids(files, tokenizer.vocabulary());
    return tokenizer;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kFormat) throw;
    fail(ErrorKind::kFormat, "{} (one piece per line) cannot be used: {}", path, error.what());
  }
}

}  // namespace heed
