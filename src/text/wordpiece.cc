#include "text/wordpiece.h"

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "base/file.h"
#include "base/log.h"
#include "text/clean_up.h"
#include "text/tokenizer_config_keys.h"
#include "text/tokenizer_file.h"
#include "text/tokenizer_pipelines.h"
#include "text/utf8.h"
#include "text/wordpiece_config.h"

namespace heed {
namespace {

constexpr const char* kVocabulary = "vocab.txt";
constexpr const char* kConfig = "tokenizer_config.json";
constexpr const char* kTokenizerJsonName = "tokenizer.json";
constexpr std::string_view kContinues = "##";
constexpr size_t kMaxWordLength = 100;  // characters; longer words are [UNK]

std::string path_of(const std::string& directory, const char* file) {
  return (std::filesystem::path(directory) / file).string();
}

/// Splits at LF or CRLF; the last line needs no line end.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t newline = std::min(text.find('\n', begin), text.size());
    size_t end = newline;
    if (end > begin && text[end - 1] == '\r') --end;
    lines.push_back(text.substr(begin, end - begin));
    begin = newline + 1;
  }
  return lines;
}

void append(Encoding& encoding, int32_t id, std::string piece, size_t begin, size_t end) {
  encoding.ids.push_back(id);
  encoding.pieces.push_back(std::move(piece));
  encoding.spans.emplace_back(begin, end);
}

void resize(Encoding& encoding, size_t length) {
  if (encoding.ids.size() <= length) return;
  encoding.ids.resize(length);
  encoding.pieces.resize(length);
  encoding.spans.resize(length);
}

/// The numbers of tokens that two texts keep, at most `room` together. If both are truncated, the odd token
/// goes to the longer text, or else to the second.
std::pair<size_t, size_t> share(size_t first, size_t second, size_t room) {
  if (first + second <= room) return {first, second};
  const size_t half = room / 2;
  if (first <= half) return {first, room - first};
  if (second <= half) return {room - second, second};
  return first > second ? std::pair{room - half, half} : std::pair{half, room - half};
}

}  // namespace

bool is_padded_vocabulary(int64_t pieces, int64_t rows) {
  for (const int64_t multiple : {1, 8, 16, 32, 64, 128}) {
    if (rows == (pieces + multiple - 1) / multiple * multiple) return true;
  }
  return false;
}

WordPieceTokenizer::WordPieceTokenizer(std::vector<std::string> pieces, const WordPieceSettings& settings)
    : settings_(settings) {
  for (const std::string& piece : pieces) max_piece_bytes_ = std::max(max_piece_bytes_, piece.size());
  vocabulary_ = std::make_shared<const Vocabulary>(
      std::move(pieces), SpecialPieces{settings.end, settings.unknown, settings.pad});
  const std::optional<int32_t> start = vocabulary_->find(settings.start);
  if (!start) {
    fail(ErrorKind::kFormat, "the vocabulary lacks the start token \"{}\"", settings.start);
  }
  start_id_ = *start;
  mask_id_ = vocabulary_->find(settings.mask);
}

WordPieceTokenizer WordPieceTokenizer::load(const std::string& directory) {
  const std::string config_path = path_of(directory, kConfig);
  const std::string config = is_present(config_path) ? read_tokenizer_file(config_path) : "{}";
  const WordPieceConfig settings = read_wordpiece_config(config, config_path);
  if (const std::string json_path = path_of(directory, kTokenizerJsonName); is_present(json_path)) {
    const TokenizerJson json = read_tokenizer_json(json_path);
    if (json.model.type != "WordPiece") {
      refuse_step(json, json.model, "is not supported here: BERT models need WordPiece");
    }
    WordPieceModel model = wordpiece_of(json, settings);
    try {
      return WordPieceTokenizer(std::move(model.pieces), model.settings);
    } catch (const Error& error) {
      fail(ErrorKind::kFormat, "{} cannot be used: {}", json_path, error.what());
    }
  }
  const WordPieceSettings& of = settings.settings;
  require_no_other_tokens(JsonObject::parse(config, config_path),
                          {of.start, of.end, of.unknown, of.pad, of.mask});
  const std::string path = path_of(directory, kVocabulary), text = read_tokenizer_file(path);
  if (const auto offset = find_invalid_utf8(text)) {
    fail(ErrorKind::kFormat, "{} is not valid UTF-8 at byte {}: it is not a list of pieces", path, *offset);
  }
  if (!text.empty() && text.back() != '\n') {
    log_warning("the last line of {} has no line end: the file may be truncated", path);
  }
  try {
    return WordPieceTokenizer(lines_of(text), settings.settings);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kFormat) throw;
    fail(ErrorKind::kFormat, "{} (one piece per line) cannot be used: {}", path, error.what());
  }
}

void WordPieceTokenizer::save(const std::string& directory) const {
  std::string lines;
  for (size_t id = 0; id < size(); ++id) {
    lines += vocabulary_->piece(static_cast<int32_t>(id));
    lines += '\n';
  }
  write_file(path_of(directory, kVocabulary), lines);
  write_file(path_of(directory, kConfig), write_wordpiece_config(settings_));
}

bool WordPieceTokenizer::is_special(int32_t id) const {
  return vocabulary_->is_special(id) || id == start_id_ || id == mask_id_;
}

void WordPieceTokenizer::tokenize_word(const BertWord& word, size_t base, const WordPieceDropout* dropout,
                                       Encoding& encoding) const {
  const auto drawn = [&](double WordPieceDropout::*probability) {
    if (dropout == nullptr || dropout->*probability <= 0) return false;
    return dropout->random->uniform() < dropout->*probability;
  };
  const auto& characters = word.characters;
  const auto offset = [&](size_t n) {
    return n < characters.size() ? characters[n].offset : word.text.size();
  };
  const size_t pieces_before = encoding.ids.size();
  bool spelt = characters.size() <= kMaxWordLength && !drawn(&WordPieceDropout::words);
  for (size_t begin = 0; spelt && begin < characters.size();) {
    size_t end = characters.size();
    while (end > begin + 1 && offset(end) - offset(begin) > max_piece_bytes_) --end;
    std::optional<int32_t> id;
    for (; end > begin; --end) {
      std::string piece(begin > 0 ? kContinues : "");
      piece.append(word.text, offset(begin), offset(end) - offset(begin));
      id = vocabulary_->find(piece);
      // A word equal to a special token is ordinary text.
      if (id && is_special(*id)) id.reset();
      if (id && end > begin + 1 && drawn(&WordPieceDropout::pieces)) id.reset();
      if (!id) continue;
      append(encoding, *id, std::move(piece), base + characters[begin].begin, base + characters[end - 1].end);
      break;
    }
    spelt = id.has_value();
    begin = end;
  }
  if (spelt) return;
  resize(encoding, pieces_before);
  append(encoding, unknown_id(), settings_.unknown, base + characters.front().begin,
         base + characters.back().end);
}

Encoding WordPieceTokenizer::tokenize(std::string_view text, const WordPieceOptions& options) const {
  const WordPieceDropout* dropout = options.dropout ? &*options.dropout : nullptr;
  HEED_CHECK(dropout == nullptr || dropout->random != nullptr);
  Encoding encoding;
  for (size_t begin = 0; begin <= text.size();) {
    const bool look = options.read_mask && mask_id_.has_value();
    const size_t mask = look ? std::min(text.find(settings_.mask, begin), text.size()) : text.size();
    for (const BertWord& word : bert_words(text.substr(begin, mask - begin), settings_.words)) {
      tokenize_word(word, begin, dropout, encoding);
    }
    if (mask == text.size()) break;
    begin = mask + settings_.mask.size();
    append(encoding, *mask_id_, settings_.mask, mask, begin);
  }
  return encoding;
}

WordPieceEncoding WordPieceTokenizer::encode(std::string_view text, const WordPieceOptions& options) const {
  constexpr size_t kSpecial = 2;
  Encoding body = tokenize(text, options);
  const size_t tokens = body.ids.size();
  if (options.max_length > 0) resize(body, std::max(options.max_length, kSpecial) - kSpecial);
  WordPieceEncoding encoding;
  encoding.truncated = body.ids.size() < tokens;
  append(encoding, start_id_, settings_.start, 0, 0);
  for (size_t n = 0; n < body.ids.size(); ++n) {
    append(encoding, body.ids[n], std::move(body.pieces[n]), body.spans[n].first, body.spans[n].second);
  }
  append(encoding, end_id(), settings_.end, text.size(), text.size());
  encoding.types.resize(encoding.ids.size());
  return encoding;
}

WordPieceEncoding WordPieceTokenizer::encode(std::string_view first, std::string_view second,
                                             const WordPieceOptions& options) const {
  constexpr size_t kSpecial = 3;
  Encoding one = tokenize(first, options), two = tokenize(second, options);
  const size_t tokens = one.ids.size() + two.ids.size();
  if (options.max_length > 0) {
    const size_t room = std::max(options.max_length, kSpecial) - kSpecial;
    const auto [keep_one, keep_two] = share(one.ids.size(), two.ids.size(), room);
    resize(one, keep_one);
    resize(two, keep_two);
  }
  WordPieceEncoding encoding;
  encoding.truncated = one.ids.size() + two.ids.size() < tokens;
  append(encoding, start_id_, settings_.start, 0, 0);
  for (Encoding* part : {&one, &two}) {
    for (size_t n = 0; n < part->ids.size(); ++n) {
      append(encoding, part->ids[n], std::move(part->pieces[n]), part->spans[n].first, part->spans[n].second);
    }
    const size_t end = part == &one ? first.size() : second.size();
    append(encoding, end_id(), settings_.end, end, end);
    encoding.types.resize(encoding.ids.size(), part == &one ? 0 : 1);
  }
  return encoding;
}

std::string WordPieceTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  bool first = true;
  for (const int32_t id : ids) {
    const std::string& piece = vocabulary_->piece(id);
    if (is_special(id)) continue;
    const bool continues = !first && piece.starts_with(kContinues);
    std::string part = piece.substr(continues ? kContinues.size() : 0);
    if (!continues && !first) part.insert(0, 1, ' ');
    first = false;
    text += settings_.clean_up ? cleaned_up(std::move(part)) : part;
  }
  return text;
}

}  // namespace heed
