#include "text/subwords/wordpiece.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/files/file.h"
#include "text/pipeline/byte_characters.h"
#include "text/readers/pipeline_reader.h"
#include "text/readers/tokenizer_file.h"
#include "text/readers/word_list.h"
#include "text/subwords/wordpiece_config.h"
#include "text/tokenizers/shown_piece.h"
#include "text/tokenizers/tokenizer_config_keys.h"

namespace heed {
namespace {

constexpr const char *kWordList = model_file::kVocabularyTxt,
                     *kWordPieceConfig = model_file::kTokenizerConfig,
                     *kTokenizerJsonName = model_file::kTokenizerJson;
constexpr std::string_view kContinues = "##";

std::string file_in(const std::string& directory, const char* file) {
  return (std::filesystem::path(directory) / file).string();
}

void resize(PipelineEncoding& encoding, size_t length) {
  if (encoding.size() <= length) return;
  encoding.ids.resize(length);
  encoding.offsets.resize(length);
  encoding.tokens.resize(length);
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
TextPipeline bert_pipeline(std::vector<std::string> pieces, const WordPieceSettings& settings) {
  const auto checked = vocabulary_of(std::move(pieces), settings);
  const Vocabulary& vocabulary = *checked;
  PipelineParts parts;
  std::vector<AddedToken> special;
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    parts.pieces.push_back(vocabulary.piece(static_cast<int32_t>(id)));
  }
  for (const std::string& token :
       std::set<std::string>{settings.start, settings.end, settings.unknown, settings.pad, settings.mask}) {
    if (const auto id = vocabulary.find(token)) special.push_back({.id = *id, .content = token});
  }
  parts.added = AddedVocabulary(std::move(special));
  parts.normalizers.push_back(bert_normalizer(normalizer_options(settings.words)));
  parts.pre_tokenizers.push_back(bert_pre_tokenizer());
  parts.model = word_piece_model("the vocabulary", parts.pieces, settings.unknown, std::string(kContinues),
                                 WordPieceTokenizer::kMaxWordLength);
  const auto special_token = [&](const std::string& token, int32_t type) {
    return TemplatePart{-1, type, {vocabulary.find(token).value_or(0)}, {token}};
  };
  const TemplatePart start = special_token(settings.start, 0), end = special_token(settings.end, 0);
  PostProcessorStep step;
  step.single = {start, {.source = 0}, end};
  step.pair = step.single;
  step.pair.push_back({.source = 1, .type = 1});
  step.pair.push_back(special_token(settings.end, 1));
  parts.post_processor = PostProcessor({std::move(step)});
  parts.decoder.emplace();
  parts.decoder->push_back(word_piece_decoder(std::string(kContinues), settings.clean_up));
  return TextPipeline(std::move(parts), static_cast<int32_t>(vocabulary.size()));
}

/// Throws if tokenizer_config.json contradicts tokenizer.json, since libraries disagree on which of them
/// takes precedence. Takes over what tokenizer.json says.
void compare(const TokenizerJson& json, const WordPieceConfig& config, WordPieceSettings& settings) {
  const auto agree = [&](const TokenizerStep& step, const char* key, const std::optional<bool>& said,
                         bool value) {
    if (!said || *said == value) return;
    refuse_step(
        json, step,
        fmt::format("contradicts \"{}\": {} in tokenizer_config.json; make both files agree", key, *said));
  };
  for (const TokenizerStep& step : json.normalizer) {
    if (step.type != "BertNormalizer") continue;
    settings.words.lowercase = step.settings.boolean("lowercase");
    settings.words.strip_accents = step.settings.boolean("strip_accents", settings.words.lowercase);
    settings.words.chinese_apart = step.settings.boolean("handle_chinese_chars");
    agree(step, "do_lower_case", config.lowercase, settings.words.lowercase);
    agree(step, "strip_accents", config.strip_accents, settings.words.strip_accents);
    agree(step, "tokenize_chinese_chars", config.chinese_apart, settings.words.chinese_apart);
  }
  for (const TokenizerStep& step : json.pre_tokenizer) {
    if (step.type != "ByteLevel") continue;
    agree(step, "add_prefix_space", config.adds_space, step.settings.boolean("add_prefix_space"));
  }
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

}  // namespace

bool is_padded_vocabulary(int64_t pieces, int64_t rows) {
  for (const int64_t multiple : {1, 8, 16, 32, 64, 128}) {
    if (rows == (pieces + multiple - 1) / multiple * multiple) return true;
  }
  return false;
}

WordPieceTokenizer::WordPieceTokenizer(std::vector<std::string> pieces, const WordPieceSettings& settings)
    : WordPieceTokenizer(bert_pipeline(std::move(pieces), settings), settings, "", Spelling::kWordPiece) {}

WordPieceTokenizer::WordPieceTokenizer(TextPipeline pipeline, const WordPieceSettings& settings,
                                       std::string json_path, Spelling spelling)
    : pipeline_(std::move(pipeline)),
      json_path_(std::move(json_path)),
      spelling_(spelling),
      settings_(settings) {
  std::vector<std::string> pieces;
  for (int32_t id = 0; id < pipeline_.size(); ++id) pieces.push_back(pipeline_.piece(id));
  vocabulary_ = vocabulary_of(std::move(pieces), settings);
  for (size_t id = 0; id < size(); ++id) {
    max_piece_bytes_ = std::max(max_piece_bytes_, vocabulary_->piece(static_cast<int32_t>(id)).size());
  }
  start_id_ = *vocabulary_->find(settings.start);
  mask_id_ = vocabulary_->find(settings.mask);
}

WordPieceTokenizer::Spelling WordPieceTokenizer::spelling_of(const TokenizerJson& json) {
  if (json.model.type == "WordPiece" &&
      json.model.settings.string("continuing_subword_prefix") == kContinues) {
    return Spelling::kWordPiece;
  }
  const auto in_bytes = [](const TokenizerStep& step) { return step.type == "ByteLevel"; };
  return std::ranges::any_of(json.normalizer, in_bytes) || std::ranges::any_of(json.pre_tokenizer, in_bytes)
             ? Spelling::kBytes
             : Spelling::kOther;
}

WordPieceTokenizer WordPieceTokenizer::load(const ModelInventory& files) {
  const std::string config_path = files.path(kWordPieceConfig), config = read_tokenizer_config_file(files);
  const WordPieceConfig settings = read_wordpiece_config(config, config_path);
  if (files.has(kTokenizerJsonName)) {
    const std::string json_path = files.path(kTokenizerJsonName);
    const TokenizerJson json = read_tokenizer_json(json_path);
    TextPipeline pipeline = read_text_pipeline(json);
    WordPieceSettings read = settings.settings;
    compare(json, settings, read);
    read_roles(json, pipeline, read);
    try {
      return WordPieceTokenizer(std::move(pipeline), read, json_path, spelling_of(json));
    } catch (const Error& error) {
      fail(ErrorKind::kFormat, "{} cannot be used: {}", json_path, error.what());
    }
  }
  if (settings.adds_space.value_or(false)) {
    fail(ErrorKind::kFormat, "{} sets \"add_prefix_space\", which needs a tokenizer.json", config_path);
  }
  const WordPieceSettings& of = settings.settings;
  require_no_other_tokens(JsonObject::parse(config, config_path),
                          {of.start, of.end, of.unknown, of.pad, of.mask});
  const std::string path = files.path(kWordList);
  std::vector<std::string> pieces = read_word_list(path);
  try {
    return WordPieceTokenizer(std::move(pieces), settings.settings);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kFormat) throw;
    fail(ErrorKind::kFormat, "{} (one piece per line) cannot be used: {}", path, error.what());
  }
}

void WordPieceTokenizer::save(const std::string& directory) const {
  const bool with_json = !json_path_.empty();
  WordPieceSettings settings = settings_;
  if (with_json && !mask_id_) settings.mask.clear();  // transformers would add it to the vocabulary
  write_file(file_in(directory, kWordPieceConfig), write_wordpiece_config(settings, with_json));
  if (with_json) {
    write_file(file_in(directory, kTokenizerJsonName), read_tokenizer_file(json_path_));
    return;
  }
  std::string lines;
  for (size_t id = 0; id < size(); ++id) {
    lines += vocabulary_->piece(static_cast<int32_t>(id));
    lines += '\n';
  }
  write_file(file_in(directory, kWordList), lines);
}

bool WordPieceTokenizer::is_special(int32_t id) const {
  return vocabulary_->is_special(id) || id == start_id_ || id == mask_id_;
}

std::string WordPieceTokenizer::shown_piece(int32_t id) const {
  const std::string& piece = vocabulary_->piece(id);
  if (spelling_ != Spelling::kBytes || pipeline_.added().find(id) != nullptr) return piece;
  const std::optional<std::string> bytes = bytes_of_characters(piece);
  return bytes ? heed::shown_piece(*bytes) : piece;
}

void WordPieceTokenizer::drop_out(std::string_view word, const WordPieceDropout& dropout,
                                  std::vector<ModelToken>& tokens) const {
  const auto drawn = [&](double probability) {
    return probability > 0 && dropout.random->uniform() < probability;
  };
  std::vector<uint32_t> offsets;  // of the characters, and the end
  for (size_t at = 0; at < word.size(); at += length_of_character(word[at])) {
    offsets.push_back(static_cast<uint32_t>(at));
  }
  const size_t characters = offsets.size(), first = tokens.size();
  offsets.push_back(static_cast<uint32_t>(word.size()));
  bool spelt = characters <= kMaxWordLength && !drawn(dropout.words);
  for (size_t begin = 0; spelt && begin < characters;) {
    size_t end = characters;
    while (end > begin + 1 && offsets[end] - offsets[begin] > max_piece_bytes_) --end;
    std::optional<int32_t> id;
    for (; end > begin; --end) {
      std::string piece(begin > 0 ? kContinues : "");
      piece += word.substr(offsets[begin], offsets[end] - offsets[begin]);
      id = vocabulary_->find(piece);
      // A word equal to a special token is ordinary text.
      if (id && is_special(*id)) id.reset();
      if (id && end > begin + 1 && drawn(dropout.pieces)) id.reset();
      if (!id) continue;
      tokens.push_back({*id, offsets[begin], offsets[end]});
      break;
    }
    spelt = id.has_value();
    begin = end;
  }
  if (spelt) return;
  tokens.resize(first);
  tokens.push_back({unknown_id(), 0, offsets.back()});
}

PipelineEncoding WordPieceTokenizer::tokenize(std::string_view text, const WordPieceOptions& options) const {
  PipelineOptions read;
  read.read.special_tokens = false;
  if (options.read_mask && mask_id_) read.read.also = {&*mask_id_, 1};
  if (!options.dropout) return pipeline_.tokens(text, read);
  const WordPieceDropout& dropout = *options.dropout;
  HEED_CHECK(dropout.random != nullptr);
  if (!is_word_piece()) {
    fail(ErrorKind::kUsage, "random tokenization needs a WordPiece tokenizer: turn it off");
  }
  const std::function<void(std::string_view, std::vector<ModelToken>&)> model =
      [&](std::string_view word, std::vector<ModelToken>& tokens) { drop_out(word, dropout, tokens); };
  read.model = &model;
  return pipeline_.tokens(text, read);
}

WordPieceEncoding WordPieceTokenizer::encode_texts(std::string_view first,
                                                   std::optional<std::string_view> second,
                                                   const WordPieceOptions& options) const {
  PipelineEncoding one = tokenize(first, options);
  std::optional<PipelineEncoding> two;
  if (second) two = tokenize(*second, options);
  const auto kept = [&] { return one.size() + (two ? two->size() : 0); };
  const size_t tokens = kept();
  if (options.max_length > 0) {
    const auto nothing = second ? std::optional(PipelineEncoding{}) : std::nullopt;
    const size_t special = pipeline_.finish({}, nothing, /*specials=*/true).size();
    const size_t room = std::max(options.max_length, special) - special;
    const auto [keep_one, keep_two] = share(one.size(), two ? two->size() : 0, room);
    resize(one, keep_one);
    if (two) resize(*two, keep_two);
  }
  WordPieceEncoding encoding;
  encoding.truncated = kept() < tokens;
  PipelineEncoding all = pipeline_.finish(std::move(one), std::move(two), /*specials=*/true);
  encoding.ids = std::move(all.ids);
  encoding.types = std::move(all.types);
  encoding.pieces = std::move(all.tokens);
  const auto spans_of = [&](std::string_view text, int source) {
    auto offsets = all.offsets;
    for (size_t n = 0; n < offsets.size(); ++n) {
      if (all.sources[n] != source) offsets[n] = {};
    }
    return byte_spans(text, offsets);
  };
  const auto of_first = spans_of(first, 0), of_second = spans_of(second.value_or(""), 1);
  // Special tokens have empty spans: at the beginning, and at the end of the text before them.
  size_t end = 0;
  for (size_t n = 0; n < all.sources.size(); ++n) {
    if (all.sources[n] < 0) {
      if (second && n + 1 == all.sources.size()) end = second->size();
      encoding.spans.emplace_back(end, end);
      if (n == 0) end = first.size();
      continue;
    }
    encoding.spans.push_back(all.sources[n] == 0 ? of_first[n] : of_second[n]);
    end = (all.sources[n] == 0 ? first : *second).size();
  }
  return encoding;
}

WordPieceEncoding WordPieceTokenizer::encode(std::string_view text, const WordPieceOptions& options) const {
  return encode_texts(text, std::nullopt, options);
}

WordPieceEncoding WordPieceTokenizer::encode(std::string_view first, std::string_view second,
                                             const WordPieceOptions& options) const {
  return encode_texts(first, second, options);
}

std::string WordPieceTokenizer::decode(std::span<const int32_t> ids) const {
  for (const int32_t id : ids) vocabulary_->piece(id);  // throws for an invalid one
  return pipeline_.decode(ids);
}

}  // namespace heed
