#include "text/tokenizers/json_text_tokenizer.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "text/readers/pipeline_reader.h"
#include "text/readers/tokenizer_file.h"

namespace heed {
namespace {

/// Whether a step inserts a space before a text, or the character that stands for one.
bool adds_leading_space(const TokenizerJson& json) {
  bool adds = false;
  for (const TokenizerStep& step : json.normalizer) adds |= step.type == "Prepend";
  for (const TokenizerStep& step : json.pre_tokenizer) {
    if (step.type == "ByteLevel") adds |= step.settings.boolean("add_prefix_space");
    if (step.type == "Metaspace") {
      adds |= step.settings.string("prepend_scheme", "always") != "never" &&
              step.settings.boolean("add_prefix_space", true);
    }
  }
  return adds;
}

/// Throws if tokenizer_config.json contradicts tokenizer.json, since libraries disagree on which of them
/// takes precedence.
void check_contradictions(const TokenizerJson& json, const TextTokenizerConfig& config,
                          const TextPipeline& pipeline) {
  const auto contradicts = [&](const char* key, bool value, const std::string& what) {
    fail(ErrorKind::kFormat, "{}: \"{}\" is {} in tokenizer_config.json, but {}; make both files agree",
         json.path, key, value, what);
  };
  const std::vector<int32_t> before = pipeline.before();
  const bool starts = !before.empty();
  if (config.adds_start && *config.adds_start != starts) {
    contradicts(
        "add_bos_token", *config.adds_start,
        starts ? fmt::format("the post_processor adds '{}' before a text", shown(pipeline.piece(before[0])))
               : "no post_processor adds a token before a text");
  }
  if (config.adds_end.value_or(false)) {
    contradicts("add_eos_token", true, "no post_processor adds a token after a text");
  }
  if (config.adds_space) {
    const bool adds_space = adds_leading_space(json);
    if (*config.adds_space != adds_space) {
      contradicts("add_prefix_space", *config.adds_space,
                  adds_space ? "a space is added before a text" : "no space is added before a text");
    }
  }
  for (const auto& [id, token] : config.special) {
    if (static_cast<size_t>(id) < json.pieces.size() && json.pieces[static_cast<size_t>(id)] == token)
      continue;
    fail(ErrorKind::kFormat,
         "{}: tokenizer_config.json has the token '{}' with the id {}, which is missing in this file",
         json.path, shown(token), id);
  }
}

/// The start and end token of a language model, and the special tokens of both files.
struct Roles {
  int32_t start = -1, end = -1;
};

Roles add_roles(TokenizerJson& json, const TextTokenizerConfig& config) {
  std::unordered_map<std::string_view, int32_t> ids;
  for (const std::string& piece : json.pieces) ids.emplace(piece, static_cast<int32_t>(ids.size()));
  std::unordered_set<int32_t> known;
  for (const AddedToken& token : json.added) known.insert(token.id);
  const auto special = [&](const std::string& token) {
    const auto found = ids.find(token);
    if (token.empty() || found == ids.end()) return -1;
    if (known.insert(found->second).second) json.added.push_back({.id = found->second, .content = token});
    return found->second;
  };
  Roles roles{.start = special(config.start), .end = special(config.end)};
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

bool has_byte_level(const TokenizerJson& json) {
  const auto is_byte_level = [](const TokenizerStep& step) { return step.type == "ByteLevel"; };
  return std::any_of(json.normalizer.begin(), json.normalizer.end(), is_byte_level) ||
         std::any_of(json.pre_tokenizer.begin(), json.pre_tokenizer.end(), is_byte_level);
}

}  // namespace

std::unique_ptr<TextTokenizer> JsonTextTokenizer::load(const std::string& path,
                                                       const TextTokenizerConfig& config) {
  TokenizerJson json = read_tokenizer_json(path);
  const Roles roles = add_roles(json, config);
  std::unique_ptr<JsonTextTokenizer> tokenizer(new JsonTextTokenizer(read_text_pipeline(json), path));
  const TextPipeline& pipeline = tokenizer->pipeline_;
  check_contradictions(json, config, pipeline);
  const std::vector<int32_t> before = pipeline.before();
  if (before.size() > 1 || !pipeline.after().empty()) {
    refuse_step(
        json, json.post_processor.back(),
        "is not supported in a language model: it may add one token before a text, and none after it, "
        "which the model is to continue");
  }
  for (int32_t id = 0; id < pipeline.size(); ++id) {
    if (pipeline.is_special(id)) continue;
    if (pipeline.bytes(id)) break;
    if (json.decoder.empty()) {
      fail(ErrorKind::kFormat,
           "{}: there is no decoder, so that tokens are joined by spaces, which a language model does not "
           "support",
           path);
    }
    refuse_step(json, json.decoder.back(),
                "is not supported in a language model, which needs the text of single tokens");
  }
  tokenizer->kind_ = has_byte_level(json) ? TextTokenizerKind::kByteBpe : TextTokenizerKind::kSentencePiece;
  tokenizer->start_ = before.empty() ? roles.start : before[0];
  tokenizer->end_ = roles.end;
  return tokenizer;
}

void JsonTextTokenizer::save(const std::string& directory) const {
  write_file(directory + "/" + model_file::kTokenizerJson, read_tokenizer_file(path_));
  const auto spelt = [&](int32_t id) { return id < 0 ? "" : pipeline_.piece(id); };
  write_text_tokenizer_config(
      directory, {.tokenizer_class = kPlainTokenizerClass, .start = spelt(start_), .end = spelt(end_)});
}

std::optional<int32_t> JsonTextTokenizer::start_id() const {
  return start_ < 0 ? std::nullopt : std::optional(start_);
}

std::optional<int32_t> JsonTextTokenizer::end_id() const {
  return end_ < 0 ? std::nullopt : std::optional(end_);
}

std::string JsonTextTokenizer::bytes(int32_t id) const {
  require_id(id);
  return pipeline_.bytes(id).value_or("");
}

std::string JsonTextTokenizer::piece(int32_t id) const {
  require_id(id);
  const bool as_spelt = kind_ != TextTokenizerKind::kByteBpe || pipeline_.added().find(id) != nullptr;
  return as_spelt ? pipeline_.piece(id) : TextTokenizer::piece(id);
}

std::vector<TextTokenizer::Token> JsonTextTokenizer::tokens(std::string_view text,
                                                            const Options& options) const {
  const PipelineEncoding encoding = pipeline_.encode(
      text, {.adds_special = false, .tokens = false, .read = {.special_tokens = options.special_tokens}});
  const auto spans = separate_byte_spans(text, encoding.offsets);
  std::vector<Token> tokens;
  tokens.reserve(spans.size());
  for (size_t n = 0; n < spans.size(); ++n)
    tokens.push_back({encoding.ids[n], spans[n].first, spans[n].second});
  return tokens;
}

}  // namespace heed
