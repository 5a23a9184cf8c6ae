// vocab.json and merges.txt.
#include <unordered_set>

#include "base/check.h"
#include "base/files/file.h"
#include "base/text/printable.h"
#include "text/pipeline/byte_characters.h"
#include "text/readers/tokenizer_file.h"
#include "text/readers/vocabulary_json.h"
#include "text/subwords/byte_bpe.h"
#include "text/tokenizers/vocabulary.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

constexpr const char *kVocabulary = model_file::kVocabularyJson, *kMerges = model_file::kMerges;

std::string encoded(std::string_view bytes) {
  std::string characters;
  for (const char byte : bytes) characters += characters_of_bytes()[static_cast<unsigned char>(byte)];
  return characters;
}

/// A merge of merges.txt: two encoded pieces.
using WrittenMerge = std::pair<std::string, std::string>;

WrittenMerge split_merge(std::string_view line, const std::string& origin) {
  const size_t space = line.find(' ');
  if (space == 0 || space == std::string_view::npos || space + 1 == line.size() ||
      line.find(' ', space + 1) != std::string_view::npos) {
    fail(ErrorKind::kFormat, "{}: expected two pieces separated by a space", origin);
  }
  return {std::string(line.substr(0, space)), std::string(line.substr(space + 1))};
}

std::vector<WrittenMerge> read_merges(const std::string& path) {
  const std::string content = read_tokenizer_file(path);
  std::vector<WrittenMerge> merges;
  size_t number = 0;
  for (size_t begin = 0; begin < content.size();) {
    const size_t end = std::min(content.find('\n', begin), content.size());
    std::string_view line = std::string_view(content).substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number;
    begin = end + 1;
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    merges.push_back(split_merge(line, fmt::format("{}, line {}", path, number)));
  }
  return merges;
}

/// A cut merges.txt shows in pieces that no merge makes: all but bytes and special tokens come from one.
/// Throws kFormat if no merge creates a piece of several characters. Pieces written like special tokens
/// ("<mask>") are exempt: some are not declared in any file.
void require_complete_merges(const std::string& merges_path, const std::vector<std::string>& pieces,
                             const ByteBpeModel& model) {
  std::vector<bool> created(pieces.size());
  for (const BpeMerge& merge : model.merges) created[merge.joined] = true;
  for (const AddedToken& token : model.added) created[token.id] = true;
  size_t missing = 0, first = 0;
  for (size_t id = 0; id < pieces.size(); ++id) {
    size_t after_first = 0;
    next_code_point(pieces[id], after_first);
    const bool looks_special = (pieces[id].starts_with('<') && pieces[id].ends_with('>')) ||
                               (pieces[id].starts_with('[') && pieces[id].ends_with(']'));
    if (created[id] || looks_special || after_first == pieces[id].size()) continue;
    if (missing++ == 0) first = id;
  }
  if (missing == 0) return;
  fail(
      ErrorKind::kFormat,
      "{} is truncated or belongs to another vocabulary: no merge creates {} of the {} pieces in vocab.json, "
      "first '{}'. Download or create the file again",
      merges_path, missing, pieces.size(), shown(pieces[first]));
}

/// Converts pieces, except added tokens, from printable characters to bytes. Throws kFormat, with `name`.
void decode_pieces(const std::string& name, ByteBpeModel& model) {
  std::unordered_set<int32_t> added;
  for (const AddedToken& token : model.added) added.insert(token.id);
  for (int32_t id = 0; id < static_cast<int32_t>(model.pieces.size()); ++id) {
    if (added.count(id) > 0) continue;
    auto bytes = bytes_of_characters(model.pieces[id]);
    if (!bytes || bytes->empty()) {
      fail(ErrorKind::kFormat, "{}: the piece \"{}\" contains a character that represents no byte", name,
           shown(model.pieces[id]));
    }
    model.pieces[id] = std::move(*bytes);
  }
}

}  // namespace

ByteBpeModel read_byte_bpe(const std::string& directory, const TextTokenizerConfig& config) {
  if (config.adds_space.value_or(false)) {
    fail(ErrorKind::kFormat,
         "'{}': tokenizer_config.json sets \"add_prefix_space\", which Heed does not support", directory);
  }
  const std::string vocabulary_path = directory + "/" + kVocabulary, merges_path = directory + "/" + kMerges;
  std::vector<std::string> pieces = read_vocabulary(read_tokenizer_file(vocabulary_path), vocabulary_path);
  std::unordered_map<std::string, int32_t> ids;
  for (const std::string& piece : pieces) {
    if (!ids.emplace(piece, static_cast<int32_t>(ids.size())).second) {
      fail(ErrorKind::kFormat, "{}: the piece \"{}\" is duplicated", vocabulary_path, shown(piece));
    }
  }
  ByteBpeModel model;
  for (const auto& [left, right] : read_merges(merges_path)) {
    const auto l = ids.find(left), r = ids.find(right), joined = ids.find(left + right);
    if (l == ids.end() || r == ids.end() || joined == ids.end()) {
      fail(ErrorKind::kFormat, "{} merges \"{}\" and \"{}\", but the vocabulary lacks {}", merges_path,
           shown(left), shown(right),
           l == ids.end()   ? "the first"
           : r == ids.end() ? "the second"
                            : "the result");
    }
    model.merges.push_back({l->second, r->second, joined->second});
  }

  std::unordered_set<int32_t> known;
  const auto special = [&](const std::string& token) {
    const auto found = ids.find(token);
    if (token.empty() || found == ids.end()) return -1;
    if (known.insert(found->second).second) model.added.push_back({.id = found->second, .content = token});
    return found->second;
  };
  const bool silent = config.start.empty() && config.end.empty();
  model.start = special(silent ? ByteBpeTokenizer::kEndOfText : config.start);
  model.end = special(silent ? ByteBpeTokenizer::kEndOfText : config.end);
  special(config.unknown);
  model.starts_every_text = config.adds_start.value_or(false) && model.start >= 0;
  for (const auto& [id, token] : config.special) special(token);
  require_complete_merges(merges_path, pieces, model);
  model.pieces = std::move(pieces);
  decode_pieces(vocabulary_path, model);
  return model;
}

void write_byte_bpe(const std::string& directory, const ByteBpeModel& model) {
  std::vector<std::string> pieces;
  std::unordered_set<int32_t> added;
  for (const AddedToken& token : model.added) added.insert(token.id);
  for (int32_t id = 0; id < static_cast<int32_t>(model.pieces.size()); ++id) {
    pieces.push_back(added.count(id) > 0 ? model.pieces[id] : encoded(model.pieces[id]));
  }
  std::string merges = "#version: 0.2\n";
  for (const BpeMerge& merge : model.merges) merges += pieces[merge.left] + " " + pieces[merge.right] + "\n";
  write_file(directory + "/" + kVocabulary, vocabulary_json(pieces));
  write_file(directory + "/" + kMerges, merges);
  const auto piece_of = [&](int32_t id) { return id < 0 ? "" : pieces[id]; };
  TextTokenizerConfig config{.tokenizer_class = "GPT2Tokenizer",
                             .start = piece_of(model.start),
                             .end = piece_of(model.end),
                             .unknown = piece_of(model.end)};
  if (model.starts_every_text) config.adds_start = true;
  write_text_tokenizer_config(directory, config);
}

}  // namespace heed
