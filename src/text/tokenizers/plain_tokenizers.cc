#include "text/tokenizers/plain_tokenizers.h"

#include <set>
#include <utility>

#include "base/check.h"
#include "text/pipeline/segmentation/space_mark.h"
#include "text/readers/sentencepiece_parts.h"
#include "text/readers/tokenizer_file.h"
#include "text/readers/vocabulary_json.h"
#include "text/tokenizers/config/added_tokens.h"
#include "text/training/tokenizer_json_writer.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

std::optional<int32_t> known(int32_t id) {
  return id < 0 ? std::nullopt : std::optional(id);
}

/// A tokenizer that Heed writes a tokenizer.json for, which other libraries read.
void save_own(const std::string& directory, TextTokenizerKind kind, const std::string& json) {
  write_text_tokenizer_config(directory, {.tokenizer_class = kPlainTokenizerClass, .own = kind});
  write_file(directory + "/" + model_file::kTokenizerJson, json);
}

/// A pipeline whose ids have these bytes.
TextPipeline plain_pipeline(const std::vector<std::string>& texts, std::unique_ptr<const TokenModel> model) {
  return {{.pieces = texts, .keeps_bytes = true, .model = std::move(model), .texts = texts},
          static_cast<int32_t>(texts.size())};
}

ModelTokenizer character_tokenizer(const std::u32string& characters) {
  std::vector<std::string> pieces;
  for (const char32_t c : characters) append_utf8(pieces.emplace_back(), c);
  TokenizerParts parts{.pipeline = plain_pipeline(pieces, character_model(characters)),
                       .kind = name_of(TextTokenizerKind::kCharacters),
                       .shows_pieces = true,
                       .spells_bytes = true};
  parts.tokenizer_json = [characters] { return character_tokenizer_json(characters); };
  parts.save = [pieces, characters](const std::string& directory) {
    write_file(directory + "/" + model_file::kVocabularyJson, vocabulary_json(pieces));
    save_own(directory, TextTokenizerKind::kCharacters, character_tokenizer_json(characters));
  };
  return ModelTokenizer(std::move(parts));
}

/// Lines of a text that is read in chunks.
NextLine lines_of(const NextText& text) {
  return [text, rest = std::string(), begin = size_t{0}](std::string& line) mutable {
    while (true) {
      const size_t end = rest.find('\n', begin);
      if (end != std::string::npos) {
        line.assign(rest, begin, end - begin);
        begin = end + 1;
        return true;
      }
      rest.erase(0, std::exchange(begin, 0));
      std::string stretch;
      if (!text(stretch)) break;
      rest += stretch;
    }
    line = std::exchange(rest, {});
    return !line.empty();
  };
}

/// The data of a SentencePiece tokenizer.
struct SentencePieceData {
  SentencePieceFile file = {};
  std::string model = {};                ///< the content of the file
  std::vector<std::string> pieces = {};  ///< by id, with the added tokens
  /// The special pieces of the model, and the added tokens of the directory.
  std::vector<AddedToken> added = {};
  std::optional<int32_t> start = {}, end = {};
  bool starts_every_text = false;

  std::string spelt(std::optional<int32_t> id) const { return id ? pieces[static_cast<size_t>(*id)] : ""; }
};

SentencePieceData read_sentencepiece_data(std::string model, const std::string& name,
                                          const TextTokenizerConfig& config) {
  SentencePieceData parts{.model = std::move(model), .added = config.added};
  parts.file = read_sentencepiece_file(std::string_view(parts.model), std::string_view(name));
  parts.file.normalizer.adds_space_first = !config.legacy;
  const SentencePieceFile& file = parts.file;
  for (const SentencePieceEntry& piece : file.pieces) parts.pieces.push_back(piece.text);
  for (AddedToken& token : parts.added) token.special |= token.id < file.size() && file.is_special(token.id);
  AddedPieces pieces(parts.pieces, parts.added, name);
  for (int32_t id = 0; id < file.size(); ++id) {
    if (file.is_special(id)) pieces.special(file[id].text);
  }
  parts.start = config.start.empty() ? known(file.start_id()) : pieces.require("bos_token", config.start);
  parts.end = config.end.empty() ? known(file.end_id()) : pieces.require("eos_token", config.end);
  parts.starts_every_text = parts.start && config.adds_start.value_or(true);
  return parts;
}

/// The bytes of each id.
std::vector<std::string> texts_of(const SentencePieceData& parts, const AddedVocabulary& added) {
  const SentencePieceFile& file = parts.file;
  std::vector<std::string> texts;
  for (int32_t id = 0; id < static_cast<int32_t>(parts.pieces.size()); ++id) {
    const int byte = id < file.size() ? file.byte_of(id) : -1;
    texts.push_back(id == file.unknown_id() ? "\uFFFD"
                    : added.is_special(id)  ? ""
                    : byte >= 0             ? std::string(1, static_cast<char>(byte))
                                            : marks_to_spaces(parts.pieces[static_cast<size_t>(id)]));
  }
  return texts;
}

/// The tokenizer.json of a model that Hugging Face's classes do not read as Heed does; empty: none.
std::string json_of(const SentencePieceData& parts) {
  if (!parts.file.keeps_text() || parts.file.unknown_id() < 0) return "";
  return sentencepiece_tokenizer_json(parts.file, parts.added,
                                      parts.starts_every_text ? parts.start : std::nullopt);
}

void save_sentencepiece(const std::string& directory, const SentencePieceData& parts) {
  write_file(directory + "/" + model_file::kTokenizerModel, parts.model);
  TextTokenizerConfig config{.tokenizer_class = "LlamaTokenizer",
                             .start = parts.spelt(parts.start),
                             .end = parts.spelt(parts.end),
                             .unknown = parts.spelt(known(parts.file.unknown_id())),
                             .adds_start = parts.starts_every_text,
                             .legacy = !parts.file.normalizer.adds_space_first};
  for (const AddedToken& token : parts.added) {
    // The special pieces of the model need no entry.
    const bool of_model = token.id < parts.file.size() && parts.file.is_special(token.id);
    if (!of_model || !token.is_plain()) config.added.push_back(token);
  }
  // Hugging Face's Llama class always uses BPE, whatever the type of tokenizer.model, and adds no space.
  const std::string json = json_of(parts);
  if (!json.empty()) {
    config.tokenizer_class = kPlainTokenizerClass;
    config.own = TextTokenizerKind::kSentencePiece;
  }
  write_text_tokenizer_config(directory, config);
  if (!json.empty()) write_file(directory + "/" + model_file::kTokenizerJson, json);
}

ModelTokenizer tokenizer_of(SentencePieceData data, const std::string& name) {
  const auto read = std::make_shared<const SentencePieceData>(std::move(data));
  const SentencePieceFile& file = read->file;
  PipelineParts pipeline = sentencepiece_parts(file, name);
  pipeline.pieces = read->pieces;
  pipeline.added = AddedVocabulary(read->added);
  pipeline.texts = texts_of(*read, pipeline.added);
  TokenizerParts parts{
      .pipeline = TextPipeline(std::move(pipeline), static_cast<int32_t>(read->pieces.size())),
      .kind = name_of(TextTokenizerKind::kSentencePiece),
      .start = read->start,
      .end = read->end,
      .shows_pieces = true};
  if (read->starts_every_text) parts.pipeline = parts.pipeline.with_frame({*parts.start}, {});
  const std::vector<std::string> pieces = parts.pipeline.tokens("a").pieces;
  parts.removes_space = !pieces.empty() && pieces[0].starts_with(kSpaceMark);
  if (file.type == SentencePieceModelType::kUnigram && json_of(*read).empty()) {
    parts.beyond_hugging_face = "a SentencePiece unigram model with normalization or user-defined pieces";
  }
  parts.tokenizer_json = [read] { return json_of(*read); };
  parts.save = [read](const std::string& directory) { save_sentencepiece(directory, *read); };
  return ModelTokenizer(std::move(parts));
}

}  // namespace

ModelTokenizer byte_tokenizer() {
  std::vector<std::string> bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.emplace_back(1, static_cast<char>(byte));
  TokenizerParts parts{.pipeline = plain_pipeline(bytes, byte_model()),
                       .kind = name_of(TextTokenizerKind::kBytes),
                       .shows_pieces = true,
                       .spells_bytes = true};
  parts.tokenizer_json = byte_tokenizer_json;
  parts.save = [](const std::string& directory) {
    save_own(directory, TextTokenizerKind::kBytes, byte_tokenizer_json());
  };
  return ModelTokenizer(std::move(parts));
}

ModelTokenizer id_tokenizer(int32_t size, int32_t start) {
  std::vector<std::string> texts;
  for (int32_t id = 0; id < size; ++id) texts.push_back(fmt::format(" {}", id));
  TokenizerParts parts{.pipeline = plain_pipeline(texts, id_model(size)),
                       .kind = "ids",
                       .start = known(start),
                       .shows_pieces = true,
                       .spells_bytes = true,
                       .reads_ids = true};
  parts.save = [](const std::string&) {};
  return ModelTokenizer(std::move(parts));
}

ModelTokenizer load_character_tokenizer(const std::string& directory) {
  const std::string path = directory + "/" + model_file::kVocabularyJson;
  std::u32string characters;
  for (const std::string& piece : read_vocabulary(read_tokenizer_file(path), path)) {
    const std::u32string decoded = utf8_to_utf32(piece);
    if (decoded.size() != 1) {
      fail(ErrorKind::kFormat, "{}: '{}' is not a single character, which a character tokenizer requires",
           path, piece);
    }
    characters += decoded;
  }
  return character_tokenizer(characters);
}

ModelTokenizer train_character_tokenizer(const NextText& text) {
  std::set<char32_t> characters;
  std::string rest;  // a chunk may end within a character
  const auto add = [&](std::string_view whole) {
    if (find_invalid_utf8(whole)) {
      fail(ErrorKind::kText, "the text is not valid UTF-8: convert it, or use the tokenizer bytes");
    }
    for (size_t at = 0; at < whole.size();) characters.insert(next_code_point(whole, at));
  };
  for (std::string stretch; text(stretch);) {
    rest += stretch;
    const size_t whole = rest.size() - incomplete_utf8(rest);
    add(std::string_view(rest).substr(0, whole));
    rest.erase(0, whole);
  }
  add(rest);
  if (characters.empty()) fail(ErrorKind::kText, "there is no text to train the tokenizer on");
  return character_tokenizer(std::u32string(characters.begin(), characters.end()));
}

ModelTokenizer sentencepiece_tokenizer(std::string model, const std::string& name, bool starts_every_text) {
  return tokenizer_of(read_sentencepiece_data(std::move(model), name, {.adds_start = starts_every_text}),
                      name);
}

ModelTokenizer load_sentencepiece_tokenizer(const std::string& directory, const TextTokenizerConfig& config) {
  const std::string path = directory + "/" + model_file::kTokenizerModel;
  ModelTokenizer tokenizer =
      tokenizer_of(read_sentencepiece_data(read_tokenizer_file(path), path, config), path);
  const auto refuse = [&](const char* key, bool value, const char* what) {
    fail(ErrorKind::kFormat, "'{}': \"{}\" is {} in tokenizer_config.json, but {}", directory, key, value,
         what);
  };
  if (config.adds_end.value_or(false))
    refuse("add_eos_token", true, "Heed does not append a token to a text");
  if (config.adds_space && *config.adds_space != tokenizer.adds_space()) {
    refuse("add_prefix_space", *config.adds_space, "tokenizer.model, which takes precedence, contradicts it");
  }
  return tokenizer;
}

ModelTokenizer train_sentencepiece_tokenizer(const TextTokenizerOptions& options, const NextText& text) {
  SentencePieceTrainOptions train;
  train.type = options.subwords;
  train.vocabulary_size = options.vocabulary_size;
  train.normalization = TextNormalization::kIdentity;
  train.keep_spaces = true;
  train.seed = options.seed;
  return sentencepiece_tokenizer(train_sentencepiece(train, lines_of(text)), "of the trained pieces", true);
}

}  // namespace heed
