#include "text/tokenizer_pipelines.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/check.h"

namespace heed {
namespace {

using Json = nlohmann::json;

constexpr const char* kByteBpeNeeds =
    "Heed's byte-level BPE is GPT-2's: no normalizer, the pre_tokenizer ByteLevel with \"use_regex\" and "
    "without "
    "\"add_prefix_space\", the decoder ByteLevel, and a post_processor that adds at most one token before a "
    "text";
constexpr const char* kMarkedBpeNeeds =
    "Heed's BPE with byte fallback is Llama 2's: the normalizers Prepend and Replace or the pre_tokenizer "
    "Metaspace without "
    "\"split\", the decoders Replace, ByteFallback, Fuse and Strip, and a post_processor that puts one token "
    "before a text "
    "or none";
constexpr const char* kWordPieceNeeds =
    "Heed's WordPiece is BERT's: BertNormalizer, BertPreTokenizer, a post_processor that adds one token "
    "before and one after a text, and the decoder WordPiece";

/// Throws unless the step's setting is one of `allowed`; null also matches a missing setting.
void require(const TokenizerJson& json, const TokenizerStep& step, const char* key,
             const std::vector<Json>& allowed) {
  const Json value = step.settings.has(key) ? step.settings.json().at(key) : Json();
  for (const Json& each : allowed) {
    if (value == each) return;
  }
  refuse_step(json, step, fmt::format("is not supported: \"{}\" must be {}", key, allowed[0].dump()));
}

/// Throws for unknown settings.
void allow_only(const TokenizerJson& json, const TokenizerStep& step, const std::vector<std::string>& known) {
  for (const std::string& key : step.settings.keys()) {
    if (key != "type" && std::find(known.begin(), known.end(), key) == known.end()) {
      refuse_step(json, step,
                  fmt::format("is not supported: Heed does not know its setting \"{}\"", shown(key)));
    }
  }
}

void check_bpe(const TokenizerJson& json, bool byte_fallback) {
  const TokenizerStep& model = json.model;
  allow_only(json, model,
             {"dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
              "byte_fallback", "ignore_merges", "vocab", "merges"});
  require(json, model, "dropout", {nullptr, 0, 0.0});
  require(json, model, "continuing_subword_prefix", {nullptr, ""});
  require(json, model, "end_of_word_suffix", {nullptr, ""});
  require(json, model, "ignore_merges", {false, nullptr});
  require(json, model, "byte_fallback",
          byte_fallback ? std::vector<Json>{true} : std::vector<Json>{false, nullptr});
}

/// The tokens that a language model's post_processor adds. Its handling of offsets does not matter here.
TokenizerFrame frame_of(const TokenizerJson& json, const char* needed) {
  TokenizerSteps steps(json, json.post_processor, needed);
  TokenizerFrame frame;
  steps.take("ByteLevel");
  if (const TokenizerStep* step = steps.take("TemplateProcessing")) {
    allow_only(json, *step, {"single", "pair", "special_tokens"});
    frame = frame_of_template(json, *step);
    if (frame.before.size() > 1 || !frame.after.empty())
      refuse_step(json, *step, fmt::format("is not supported: {}", needed));
  }
  steps.take("ByteLevel");
  steps.end();
  return frame;
}

std::vector<BpeMerge> merges_of(const TokenizerJson& json,
                                const std::unordered_map<std::string, int32_t>& ids) {
  std::vector<BpeMerge> merges;
  merges.reserve(json.merges.size());
  for (const auto& [left, right] : json.merges) {
    const auto l = ids.find(left), r = ids.find(right), joined = ids.find(left + right);
    if (l == ids.end() || r == ids.end() || joined == ids.end()) {
      fail(ErrorKind::kFormat, "{}: merge {} combines '{}' and '{}', but the vocabulary lacks {}", json.path,
           merges.size() + 1, shown(left), shown(right),
           l == ids.end()   ? "the first"
           : r == ids.end() ? "the second"
                            : "the result");
    }
    merges.push_back({l->second, r->second, joined->second});
  }
  return merges;
}

/// Throws if tokenizer_config.json contradicts tokenizer.json, since libraries disagree on which of them
/// takes precedence.
void check_contradictions(const TokenizerJson& json, const TextTokenizerConfig& config,
                          const TokenizerFrame& frame, bool adds_space) {
  const auto contradicts = [&](const char* key, bool value, const std::string& what) {
    fail(ErrorKind::kFormat, "{}: \"{}\" is {} in tokenizer_config.json, but {}; make both files agree",
         json.path, key, value, what);
  };
  const bool starts = !frame.before.empty();
  if (config.adds_start && *config.adds_start != starts) {
    contradicts("add_bos_token", *config.adds_start,
                starts ? fmt::format("the post_processor adds '{}' before a text", shown(frame.before[0]))
                       : "no post_processor adds a token before a text");
  }
  if (config.adds_end.value_or(false)) {
    contradicts("add_eos_token", true, "no post_processor adds a token after a text");
  }
  if (config.adds_space && *config.adds_space != adds_space) {
    contradicts("add_prefix_space", *config.adds_space,
                adds_space ? "a space is added before a text" : "no space is added before a text");
  }
  for (const auto& [id, token] : config.special) {
    if (static_cast<size_t>(id) < json.pieces.size() && json.pieces[static_cast<size_t>(id)] == token)
      continue;
    fail(ErrorKind::kFormat,
         "{}: tokenizer_config.json has the token '{}' with the id {}, which is missing in this file",
         json.path, shown(token), id);
  }
}

/// The start and end tokens of both kinds of BPE.
struct Roles {
  std::vector<AddedToken> added;
  int32_t start = -1, end = -1;
  bool starts_every_text = false;
};

Roles roles_of(const TokenizerJson& json, const TextTokenizerConfig& config, const TokenizerFrame& frame,
               const std::unordered_map<std::string, int32_t>& ids) {
  Roles roles{.added = json.added};
  std::unordered_set<int32_t> known;
  for (const AddedToken& token : json.added) known.insert(token.id);
  const auto special = [&](const std::string& token) {
    const auto found = ids.find(token);
    if (token.empty() || found == ids.end()) return -1;
    if (known.insert(found->second).second) roles.added.push_back({.id = found->second, .content = token});
    return found->second;
  };
  roles.starts_every_text = !frame.before.empty();
  roles.start = special(roles.starts_every_text ? frame.before[0] : config.start);
  roles.end = special(config.end);
  special(config.unknown);
  for (const auto& [id, token] : config.special) special(token);
  // Without a tokenizer_config.json, the usual names.
  for (const char* name : {"<|endoftext|>", "</s>", "<|end_of_text|>", "<eos>"}) {
    const auto found = ids.find(name);
    if (roles.end >= 0 || found == ids.end() || known.count(found->second) == 0) continue;
    roles.end = found->second;
    if (roles.start < 0 && config.start.empty() && std::string_view(name) == "<|endoftext|>")
      roles.start = roles.end;
  }
  return roles;
}

std::unordered_map<std::string, int32_t> ids_of(const TokenizerJson& json) {
  std::unordered_map<std::string, int32_t> ids;
  for (const std::string& piece : json.pieces) {
    if (!ids.emplace(piece, static_cast<int32_t>(ids.size())).second) {
      fail(ErrorKind::kFormat, "{}: the piece '{}' is duplicated", json.path, shown(piece));
    }
  }
  return ids;
}

/// Where "▁" is prepended; takes the steps that define it.
LeadingMark leading_mark(const TokenizerJson& json, TokenizerSteps& normalizer,
                         TokenizerSteps& pre_tokenizer) {
  const std::string mark(kSpaceMark);
  const TokenizerStep* prepend = normalizer.take("Prepend");
  if (prepend != nullptr) {
    allow_only(json, *prepend, {"prepend"});
    require(json, *prepend, "prepend", {mark});
  }
  if (const TokenizerStep* replace = normalizer.take("Replace")) {
    allow_only(json, *replace, {"pattern", "content"});
    require(json, *replace, "pattern", {Json{{"String", " "}}});
    require(json, *replace, "content", {mark});
    return prepend != nullptr ? LeadingMark::kAlways : LeadingMark::kNone;
  }
  if (prepend != nullptr)
    refuse_step(json, *prepend, "is not followed by a Replace of spaces by the same mark");
  const TokenizerStep* metaspace = pre_tokenizer.take("Metaspace");
  if (metaspace == nullptr)
    refuse_step(json, json.model,
                fmt::format("is not preceded by a step that replaces spaces: {}", kMarkedBpeNeeds));
  allow_only(json, *metaspace, {"replacement", "prepend_scheme", "split"});
  require(json, *metaspace, "replacement", {mark});
  require(json, *metaspace, "split", {false});
  return metaspace->settings.word<LeadingMark>("prepend_scheme", {{"first", LeadingMark::kBeginUnlessThere},
                                                                  {"always", LeadingMark::kUnlessThere},
                                                                  {"never", LeadingMark::kNone}});
}

/// Whether decoding removes a leading space.
bool check_marked_decoder(const TokenizerJson& json) {
  TokenizerSteps decoder(json, json.decoder, kMarkedBpeNeeds);
  const TokenizerStep* replace = decoder.take("Replace");
  if (replace != nullptr) {
    allow_only(json, *replace, {"pattern", "content"});
    require(json, *replace, "pattern", {Json{{"String", std::string(kSpaceMark)}}});
    require(json, *replace, "content", {" "});
  }
  const bool usual =
      replace != nullptr && decoder.take("ByteFallback") != nullptr && decoder.take("Fuse") != nullptr;
  const TokenizerStep* strip = decoder.take("Strip");
  if (strip != nullptr) {
    allow_only(json, *strip, {"content", "start", "stop"});
    require(json, *strip, "content", {" "});
    require(json, *strip, "start", {1});
    require(json, *strip, "stop", {0});
  }
  decoder.end();
  if (!usual) {
    fail(ErrorKind::kFormat, "{}: the decoder lacks one of the steps Replace, ByteFallback and Fuse: {}",
         json.path, kMarkedBpeNeeds);
  }
  return strip != nullptr;
}

}  // namespace

TokenizerPipeline pipeline_of(const TokenizerJson& json) {
  if (json.model.type == "WordPiece") return TokenizerPipeline::kWordPiece;
  if (json.model.type != "BPE") {
    refuse_step(json, json.model, "is not supported; supported models are BPE and WordPiece");
  }
  return json.model.settings.boolean("byte_fallback", false) ? TokenizerPipeline::kMarkedBpe
                                                             : TokenizerPipeline::kByteBpe;
}

ByteBpeModel byte_bpe_of(const TokenizerJson& json, const TextTokenizerConfig& config) {
  check_bpe(json, /*byte_fallback=*/false);
  TokenizerSteps(json, json.normalizer, kByteBpeNeeds).end();
  TokenizerSteps pre_tokenizer(json, json.pre_tokenizer, kByteBpeNeeds);
  const TokenizerStep* level = pre_tokenizer.take("ByteLevel");
  pre_tokenizer.end();
  if (level == nullptr) refuse_step(json, json.model, fmt::format("has no pre_tokenizer: {}", kByteBpeNeeds));
  allow_only(json, *level, {"add_prefix_space", "trim_offsets", "use_regex"});
  require(json, *level, "add_prefix_space", {false});
  require(json, *level, "use_regex", {true, nullptr});
  TokenizerSteps decoder(json, json.decoder, kByteBpeNeeds);
  if (decoder.take("ByteLevel") == nullptr && json.decoder.empty()) {
    fail(ErrorKind::kFormat, "{}: there is no decoder: {}", json.path, kByteBpeNeeds);
  }
  decoder.end();
  const TokenizerFrame frame = frame_of(json, kByteBpeNeeds);
  check_contradictions(json, config, frame, /*adds_space=*/false);

  const auto ids = ids_of(json);
  Roles roles = roles_of(json, config, frame, ids);
  ByteBpeModel model{json.pieces, merges_of(json, ids),   std::move(roles.added), roles.start,
                     roles.end,   roles.starts_every_text};
  decode_pieces(json.path, model);
  if (!json.model.settings.string("unk_token", "").empty()) {
    std::unordered_set<std::string> bytes;
    for (const std::string& piece : model.pieces) {
      if (piece.size() == 1) bytes.insert(piece);
    }
    if (bytes.size() < 256) {
      refuse_step(json, json.model,
                  "has an \"unk_token\" for bytes outside of the vocabulary, which Heed does not support");
    }
  }
  return model;
}

MarkedBpeModel marked_bpe_of(const TokenizerJson& json, const TextTokenizerConfig& config) {
  check_bpe(json, /*byte_fallback=*/true);
  TokenizerSteps normalizer(json, json.normalizer, kMarkedBpeNeeds);
  TokenizerSteps pre_tokenizer(json, json.pre_tokenizer, kMarkedBpeNeeds);
  const LeadingMark mark = leading_mark(json, normalizer, pre_tokenizer);
  normalizer.end();
  pre_tokenizer.end();
  const bool strips = check_marked_decoder(json);
  for (const AddedToken& token : json.added) {
    // Such tokens are matched in the text with its spaces replaced.
    if (!token.normalized || json.normalizer.empty()) continue;
    if (token.special) continue;  // matched only on request, and then literally
    fail(ErrorKind::kFormat,
         "{}: the added token '{}' is \"normalized\", which is not supported with a normalizer", json.path,
         shown(token.content));
  }
  const TokenizerFrame frame = frame_of(json, kMarkedBpeNeeds);
  check_contradictions(json, config, frame, mark != LeadingMark::kNone);
  const auto ids = ids_of(json);
  Roles roles = roles_of(json, config, frame, ids);
  return {json.path,   json.pieces, merges_of(json, ids),   std::move(roles.added), mark, strips,
          roles.start, roles.end,   roles.starts_every_text};
}

WordPieceModel wordpiece_of(const TokenizerJson& json, const WordPieceConfig& config) {
  WordPieceModel result{json.pieces, config.settings};
  WordPieceSettings& settings = result.settings;
  const TokenizerStep& model = json.model;
  allow_only(json, model, {"unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"});
  require(json, model, "continuing_subword_prefix", {"##"});
  require(json, model, "max_input_chars_per_word", {100});
  settings.unknown = model.settings.string("unk_token");

  TokenizerSteps normalizer(json, json.normalizer, kWordPieceNeeds);
  const TokenizerStep* bert = normalizer.take("BertNormalizer");
  normalizer.end();
  if (bert == nullptr) refuse_step(json, model, fmt::format("has no normalizer: {}", kWordPieceNeeds));
  allow_only(json, *bert, {"clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
  require(json, *bert, "clean_text", {true});
  settings.words.lowercase = bert->settings.boolean("lowercase");
  settings.words.strip_accents = bert->settings.boolean("strip_accents", settings.words.lowercase);
  settings.words.chinese_apart = bert->settings.boolean("handle_chinese_chars");
  const auto compare = [&](const char* key, const std::optional<bool>& said, bool value) {
    if (!said || *said == value) return;
    refuse_step(
        json, *bert,
        fmt::format("contradicts \"{}\": {} in tokenizer_config.json; make both files agree", key, *said));
  };
  compare("do_lower_case", config.lowercase, settings.words.lowercase);
  compare("strip_accents", config.strip_accents, settings.words.strip_accents);
  compare("tokenize_chinese_chars", config.chinese_apart, settings.words.chinese_apart);

  TokenizerSteps pre_tokenizer(json, json.pre_tokenizer, kWordPieceNeeds);
  const bool cuts = pre_tokenizer.take("BertPreTokenizer") != nullptr;
  pre_tokenizer.end();
  if (!cuts) refuse_step(json, model, fmt::format("has no pre_tokenizer: {}", kWordPieceNeeds));

  TokenizerSteps post_processor(json, json.post_processor, kWordPieceNeeds);
  if (const TokenizerStep* step = post_processor.take("TemplateProcessing")) {
    allow_only(json, *step, {"single", "pair", "special_tokens"});
    const TokenizerFrame frame = frame_of_template(json, *step);
    if (frame.before.size() != 1 || frame.after.size() != 1 || !pairs_like_bert(*step, frame)) {
      refuse_step(json, *step, fmt::format("is not supported: {}", kWordPieceNeeds));
    }
    settings.start = frame.before[0];
    settings.end = frame.after[0];
  } else if (const TokenizerStep* bert_step = post_processor.take("BertProcessing")) {
    allow_only(json, *bert_step, {"sep", "cls"});
    const auto token_of = [&](const char* key) {
      const Json value = bert_step->settings.has(key) ? bert_step->settings.json().at(key) : Json();
      const bool sound = value.is_array() && value.size() == 2 && value[0].is_string() &&
                         value[1].is_number_unsigned() && value[1].get<uint64_t>() < json.pieces.size() &&
                         json.pieces[value[1].get<size_t>()] == value[0].get<std::string>();
      if (!sound)
        refuse_step(json, *bert_step, fmt::format("is damaged: \"{}\" is not a token and its id", key));
      return value[0].get<std::string>();
    };
    settings.start = token_of("cls");
    settings.end = token_of("sep");
  } else if (json.post_processor.empty()) {
    refuse_step(json, model, fmt::format("has no post_processor: {}", kWordPieceNeeds));
  }
  post_processor.end();

  TokenizerSteps decoder(json, json.decoder, kWordPieceNeeds);
  if (const TokenizerStep* step = decoder.take("WordPiece")) {
    allow_only(json, *step, {"prefix", "cleanup"});
    require(json, *step, "prefix", {"##"});
    settings.clean_up = step->settings.boolean("cleanup");
  }
  decoder.end();
  const std::vector<std::string> roles{settings.start, settings.end, settings.unknown, settings.pad,
                                       settings.mask};
  for (const AddedToken& token : json.added) {
    if (std::find(roles.begin(), roles.end(), token.content) != roles.end()) continue;
    fail(ErrorKind::kFormat,
         "{}: the added token '{}' is not supported: Heed's WordPiece supports only {}, the special tokens "
         "of tokenizer_config.json",
         json.path, shown(token.content), fmt::join(roles, ", "));
  }
  return result;
}

}  // namespace heed
