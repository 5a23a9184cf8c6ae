#include "text/tokenizers/byte_bpe.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "base/text/printable.h"
#include "text/pipeline/words/byte_characters.h"
#include "text/readers/tokenizer_file.h"
#include "text/readers/vocabulary_json.h"
#include "text/tokenizers/config/added_tokens.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

/// Every token but bytes and special tokens is the result of a merge, so a truncated merges.txt leaves tokens
/// without one. Throws kFormat if no merge creates a piece of several characters. Pieces written like special
/// tokens
/// ("<mask>") are exempt: some are not declared in any file.
void require_complete_merges(const std::string& merges_path, const ByteBpeFiles& files) {
  std::unordered_set<std::string> created;
  for (const auto& [left, right] : files.merges) created.insert(left + right);
  for (const AddedToken& token : files.added) created.insert(token.content);
  size_t missing = 0;
  const std::string* first = nullptr;
  for (const std::string& piece : files.pieces) {
    size_t after_first = 0;
    next_code_point(piece, after_first);
    const bool looks_special =
        (piece.starts_with('<') && piece.ends_with('>')) || (piece.starts_with('[') && piece.ends_with(']'));
    if (looks_special || after_first == piece.size() || created.contains(piece)) continue;
    if (missing++ == 0) first = &piece;
  }
  if (missing == 0) return;
  fail(
      ErrorKind::kFormat,
      "{} is truncated or belongs to another vocabulary: no merge creates {} of the {} pieces in vocab.json, "
      "first '{}'. Download or create the file again",
      merges_path, missing, files.pieces.size(), shown(*first));
}

/// The bytes of each piece; of an added token as it is written, or none if it is special. Throws kFormat,
/// with `name`, for a piece that spells no bytes.
std::vector<std::string> texts_of(const ByteBpeFiles& files, const AddedVocabulary& added,
                                  const std::string& name) {
  std::vector<std::string> texts;
  for (const std::string& piece : files.pieces) {
    if (const AddedToken* token = added.find(static_cast<int32_t>(texts.size()))) {
      texts.push_back(token->special ? "" : token->content);
      continue;
    }
    auto bytes = bytes_of_characters(piece);
    if (!bytes || bytes->empty()) {
      fail(ErrorKind::kFormat, "{}: the piece \"{}\" contains a character that represents no byte", name,
           shown(piece));
    }
    texts.push_back(std::move(*bytes));
  }
  return texts;
}

void save_byte_bpe(const std::string& directory, const ByteBpeFiles& files) {
  std::string merges = "#version: 0.2\n";
  for (const auto& [left, right] : files.merges) merges += left + " " + right + "\n";
  write_file(directory + "/" + model_file::kVocabularyJson, vocabulary_json(files.pieces));
  write_file(directory + "/" + model_file::kMerges, merges);
  const auto piece_of = [&](std::optional<int32_t> id) { return id ? files.pieces[*id] : ""; };
  TextTokenizerConfig config{.tokenizer_class = "GPT2Tokenizer",
                             .start = piece_of(files.start),
                             .end = piece_of(files.end),
                             .unknown = piece_of(files.end)};
  for (const AddedToken& token : files.added) {
    // Special tokens of vocab.json that another key names need no entry.
    const bool named = token.content == config.start || token.content == config.end;
    if (!named || !token.is_plain()) config.added.push_back(token);
  }
  if (files.starts_every_text) config.adds_start = true;
  write_text_tokenizer_config(directory, config);
}

}  // namespace

ModelTokenizer byte_bpe_tokenizer(ByteBpeFiles files) {
  PipelineParts pipeline{.path = "the merges", .added = AddedVocabulary(files.added), .keeps_bytes = true};
  pipeline.texts = texts_of(files, pipeline.added, model_file::kVocabularyJson);
  pipeline.pieces = files.pieces;
  pipeline.model = byte_bpe_model(pipeline.path, pipeline.pieces, files.merges);
  TokenizerParts parts{
      .pipeline = TextPipeline(std::move(pipeline), static_cast<int32_t>(files.pieces.size())),
      .kind = name_of(TextTokenizerKind::kByteBpe),
      .start = files.start,
      .end = files.end,
      .shows_pieces = true,
      .spells_bytes = true};
  if (files.starts_every_text) parts.pipeline = parts.pipeline.with_frame({*files.start}, {});
  parts.save = [files = std::make_shared<const ByteBpeFiles>(std::move(files))](
                   const std::string& directory) { save_byte_bpe(directory, *files); };
  return ModelTokenizer(std::move(parts));
}

ByteBpeFiles read_byte_bpe(const std::string& directory, const TextTokenizerConfig& config) {
  if (config.adds_space.value_or(false)) {
    fail(ErrorKind::kFormat,
         "'{}': tokenizer_config.json sets \"add_prefix_space\", which Heed does not support", directory);
  }
  const std::string vocabulary_path = directory + "/" + model_file::kVocabularyJson,
                    merges_path = directory + "/" + model_file::kMerges;
  ByteBpeFiles files{.pieces = read_vocabulary(read_tokenizer_file(vocabulary_path), vocabulary_path)};
  std::unordered_map<std::string_view, int32_t> ids;
  for (const std::string& piece : files.pieces) {
    if (!ids.emplace(piece, static_cast<int32_t>(ids.size())).second) {
      fail(ErrorKind::kFormat, "{}: the piece \"{}\" is duplicated", vocabulary_path, shown(piece));
    }
  }
  files.merges = read_merges(merges_path);
  for (const auto& [left, right] : files.merges) {
    const char* lacks = !ids.contains(left)           ? "the first"
                        : !ids.contains(right)        ? "the second"
                        : !ids.contains(left + right) ? "the result"
                                                      : nullptr;
    if (lacks == nullptr) continue;
    fail(ErrorKind::kFormat, "{} merges \"{}\" and \"{}\", but the vocabulary lacks {}", merges_path,
         shown(left), shown(right), lacks);
  }

  files.added = config.added;
  AddedPieces pieces(files.pieces, files.added, vocabulary_path);
  if (config.start.empty() && config.end.empty()) files.start = files.end = pieces.special(kEndOfText);
  if (!config.start.empty()) files.start = pieces.require("bos_token", config.start);
  if (!config.end.empty()) files.end = pieces.require("eos_token", config.end);
  pieces.special(config.unknown);
  files.starts_every_text = config.adds_start.value_or(false) && files.start;
  require_complete_merges(merges_path, files);
  texts_of(files, AddedVocabulary(files.added), vocabulary_path);  // throws with the path
  return files;
}

}  // namespace heed
