// vocab.json and merges.txt, and the tokenizer.json that newer directories have instead.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/check.h"
#include "base/file.h"
#include "base/json_file.h"
#include "text/byte_bpe.h"
#include "text/tokenizer_file.h"
#include "text/utf8.h"
#include "text/vocabulary.h"

namespace heed {
namespace {

constexpr const char* kVocabulary = "/vocab.json";
constexpr const char* kMerges = "/merges.txt";
constexpr const char* kEndOfText = "<|endoftext|>";

bool is_printable(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

std::unordered_map<char32_t, char> bytes_of_characters() {
  std::unordered_map<char32_t, char> bytes;
  for (int byte = 0; byte < 256; ++byte) {
    bytes[utf8_to_utf32(characters_of_bytes()[byte])[0]] = static_cast<char>(byte);
  }
  return bytes;
}

/// "ĠGod" -> " God"; nothing where a character stands for no byte.
std::optional<std::string> spelt_out(std::string_view characters) {
  static const std::unordered_map<char32_t, char> bytes = bytes_of_characters();
  std::string text;
  for (size_t at = 0; at < characters.size();) {
    const auto found = bytes.find(next_code_point(characters, at));
    if (found == bytes.end()) return std::nullopt;
    text.push_back(found->second);
  }
  return text;
}

std::string in_characters(std::string_view bytes) {
  std::string characters;
  for (const char byte : bytes) characters += characters_of_bytes()[static_cast<unsigned char>(byte)];
  return characters;
}

/// A merge as it stands in a file: two pieces.
using WrittenMerge = std::pair<std::string, std::string>;

WrittenMerge split_merge(std::string_view line, const std::string& place) {
  const size_t space = line.find(' ');
  if (space == 0 || space == std::string_view::npos || space + 1 == line.size() ||
      line.find(' ', space + 1) != std::string_view::npos) {
    fail(ErrorKind::kFormat, "{} is not two pieces with a space between them", place);
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
    merges.push_back(split_merge(line, fmt::format("{}, line {},", path, number)));
  }
  return merges;
}

/// What the two files hold, or the one.
struct Written {
  std::string vocabulary_name, merges_name;
  std::vector<std::string> pieces;
  std::vector<WrittenMerge> merges;
  std::map<int32_t, std::string> special;
};

/// Whether "pre_tokenizer" is GPT-2's, alone or in a sequence of one.
bool cuts_like_gpt2(const nlohmann::json& pre_tokenizer) {
  if (!pre_tokenizer.is_object()) return false;
  return pre_tokenizer.value("type", "") == "ByteLevel" && pre_tokenizer.value("use_regex", true) &&
         !pre_tokenizer.value("add_prefix_space", false);
}

Written read_tokenizer_json(const std::string& path) {
  Written written{path, path, {}, {}, {}};
  try {
    const auto json = JsonObject::read(path).json();
    const auto& model = json.at("model");
    if (model.value("type", "BPE") != "BPE" || !cuts_like_gpt2(json.at("pre_tokenizer"))) {
      fail(
          ErrorKind::kFormat,
          "{} describes a tokenizer that Heed does not have: only byte-level BPE as GPT-2's can be read from "
          "it",
          path);
    }
    auto vocabulary = model.at("vocab");
    for (const auto& token : json.value("added_tokens", nlohmann::json::array())) {
      const std::string content = token.at("content");
      vocabulary[content] = token.at("id");
      if (token.value("special", false)) written.special[token.at("id")] = content;
    }
    written.pieces = read_vocabulary(vocabulary.dump(), path);
    for (const auto& merge : model.at("merges")) {
      const std::string place = fmt::format("{}, merge {},", path, written.merges.size() + 1);
      if (merge.is_string()) {
        written.merges.push_back(split_merge(merge.get<std::string>(), place));
      } else {
        written.merges.emplace_back(merge.at(0), merge.at(1));
      }
    }
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::kFormat, "{} is not a tokenizer as Hugging Face writes it: {}", path, error.what());
  }
  return written;
}

Written read_written(const std::string& directory) {
  const std::string vocabulary = directory + kVocabulary, merges = directory + kMerges;
  const std::string both = directory + "/tokenizer.json";
  if (!std::filesystem::exists(vocabulary) && std::filesystem::exists(both)) return read_tokenizer_json(both);
  return {vocabulary,
          merges,
          read_vocabulary(read_tokenizer_file(vocabulary), vocabulary),
          read_merges(merges),
          {}};
}

}  // namespace

const std::vector<std::string>& characters_of_bytes() {
  static const std::vector<std::string> characters = [] {
    std::vector<std::string> all(256);
    char32_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      append_utf8(all[byte], is_printable(byte) ? static_cast<char32_t>(byte) : next++);
    }
    return all;
  }();
  return characters;
}

std::vector<unsigned char> bytes_in_character_order() {
  std::vector<unsigned char> bytes;
  for (const bool printable : {true, false}) {
    for (int byte = 0; byte < 256; ++byte) {
      if (is_printable(byte) == printable) bytes.push_back(static_cast<unsigned char>(byte));
    }
  }
  return bytes;
}

ByteBpeModel read_byte_bpe(const std::string& directory, const TextTokenizerConfig& config) {
  if (config.adds_space) {
    fail(ErrorKind::kFormat,
         "'{}': tokenizer_config.json asks for \"add_prefix_space\", which Heed does not have", directory);
  }
  Written written = read_written(directory);
  std::unordered_map<std::string, int32_t> ids;
  for (const std::string& piece : written.pieces) {
    if (!ids.emplace(piece, static_cast<int32_t>(ids.size())).second) {
      fail(ErrorKind::kFormat, "{}: the piece \"{}\" stands twice", written.vocabulary_name, piece);
    }
  }
  ByteBpeModel model;
  model.merges.reserve(written.merges.size());
  for (const auto& [left, right] : written.merges) {
    const auto l = ids.find(left), r = ids.find(right), joined = ids.find(left + right);
    if (l == ids.end() || r == ids.end() || joined == ids.end()) {
      fail(ErrorKind::kFormat, "{} joins \"{}\" and \"{}\", but the vocabulary does not hold {}",
           written.merges_name, left, right,
           l == ids.end()   ? "the first"
           : r == ids.end() ? "the second"
                            : "what they make");
    }
    model.merges.push_back({l->second, r->second, joined->second});
  }

  std::unordered_set<int32_t> special;
  const auto find_special = [&](const std::string& token) {
    const auto found = ids.find(token);
    if (token.empty() || found == ids.end()) return -1;
    special.insert(found->second);
    return found->second;
  };
  const bool silent = config.start.empty() && config.end.empty();
  model.start = find_special(silent ? kEndOfText : config.start);
  model.end = find_special(silent ? kEndOfText : config.end);
  find_special(config.unknown);
  model.starts_every_text = config.adds_start.value_or(false) && model.start >= 0;
  for (const auto& tokens : {config.special, written.special}) {
    for (const auto& [id, token] : tokens) find_special(token);
  }
  model.special.assign(special.begin(), special.end());
  std::sort(model.special.begin(), model.special.end());

  model.pieces = std::move(written.pieces);
  for (int32_t id = 0; id < static_cast<int32_t>(model.pieces.size()); ++id) {
    if (special.count(id) > 0) continue;
    auto bytes = spelt_out(model.pieces[id]);
    if (!bytes || bytes->empty()) {
      fail(ErrorKind::kFormat, "{}: the piece \"{}\" is not written in the characters that stand for bytes",
           written.vocabulary_name, model.pieces[id]);
    }
    model.pieces[id] = std::move(*bytes);
  }
  return model;
}

void write_byte_bpe(const std::string& directory, const ByteBpeModel& model) {
  std::vector<std::string> pieces;
  const std::unordered_set<int32_t> special(model.special.begin(), model.special.end());
  for (int32_t id = 0; id < static_cast<int32_t>(model.pieces.size()); ++id) {
    pieces.push_back(special.count(id) > 0 ? model.pieces[id] : in_characters(model.pieces[id]));
  }
  std::string merges = "#version: 0.2\n";
  for (const BpeMerge& merge : model.merges) merges += pieces[merge.left] + " " + pieces[merge.right] + "\n";
  write_file(directory + kVocabulary, vocabulary_json(pieces));
  write_file(directory + kMerges, merges);
  const auto spelt = [&](int32_t id) { return id < 0 ? "" : pieces[id]; };
  TextTokenizerConfig config{.tokenizer_class = "GPT2Tokenizer",
                             .start = spelt(model.start),
                             .end = spelt(model.end),
                             .unknown = spelt(model.end)};
  if (model.starts_every_text) config.adds_start = true;
  write_text_tokenizer_config(directory, config);
}

}  // namespace heed
