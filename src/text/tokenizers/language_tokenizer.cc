#include "text/tokenizers/language_tokenizer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "text/readers/pipeline_reader.h"
#include "text/readers/tokenizer_file.h"
#include "text/tokenizers/byte_bpe.h"
#include "text/tokenizers/config/added_tokens.h"
#include "text/tokenizers/config/language_tokenizer_config.h"
#include "text/tokenizers/config/tokenizer_class.h"
#include "text/tokenizers/config/tokenizer_flags.h"
#include "text/tokenizers/plain_tokenizers.h"

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
  } else {
    require_same_flags(json, {.tokenizer_class = config.tokenizer_class});
  }
  for (const AddedToken& token : config.added) {
    const auto id = static_cast<size_t>(token.id);
    if (id < json.pieces.size() && json.pieces[id] == token.content) continue;
    fail(ErrorKind::kFormat,
         "{}: tokenizer_config.json has the token '{}' with the id {}, which is missing in this file",
         json.path, shown(token.content), id);
  }
}

/// The start and end token of a language model, and the special tokens of both files.
struct Roles {
  std::optional<int32_t> start, end;
};

Roles add_roles(TokenizerJson& json, const TextTokenizerConfig& config) {
  AddedPieces pieces(json.pieces, json.added, json.path);
  const auto named = [&](const char* key, const std::string& token) {
    return token.empty() ? std::nullopt : std::optional(pieces.require(key, token));
  };
  Roles roles{.start = named("bos_token", config.start), .end = named("eos_token", config.end)};
  pieces.special(config.unknown);
  for (const AddedToken& token : config.added) {
    if (token.special) pieces.special(token.content);
  }
  // Without a tokenizer_config.json, the usual names.
  for (const char* name : {"<|endoftext|>", "</s>", "<|end_of_text|>", "<eos>"}) {
    if (roles.end) break;
    roles.end = pieces.added(name);
    if (!roles.start && config.start.empty() && std::string_view(name) == "<|endoftext|>")
      roles.start = roles.end;
  }
  return roles;
}

bool has_byte_level(const TokenizerJson& json) {
  const auto is_byte_level = [](const TokenizerStep& step) { return step.type == "ByteLevel"; };
  return std::any_of(json.normalizer.begin(), json.normalizer.end(), is_byte_level) ||
         std::any_of(json.pre_tokenizer.begin(), json.pre_tokenizer.end(), is_byte_level);
}

ModelTokenizer load_json(const std::string& path, const TextTokenizerConfig& config) {
  TokenizerJson json = read_tokenizer_json(path);
  const Roles roles = add_roles(json, config);
  const TextPipeline pipeline = read_text_pipeline(json);
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
  const bool byte_level = has_byte_level(json);
  TokenizerParts parts{
      .pipeline = pipeline,
      .kind = name_of(byte_level ? TextTokenizerKind::kByteBpe : TextTokenizerKind::kSentencePiece),
      .start = before.empty() ? roles.start : before[0],
      .end = roles.end,
      .shows_pieces = true,
      .spells_bytes = byte_level,
      .separates_spans = true,
      .removes_space = pipeline.removes_leading_space()};
  const auto spelt = [&](std::optional<int32_t> id) { return id ? pipeline.piece(*id) : ""; };
  parts.save = [path, start = spelt(parts.start), end = spelt(parts.end)](const std::string& directory) {
    write_file(directory + "/" + model_file::kTokenizerJson, read_tokenizer_file(path));
    write_text_tokenizer_config(directory,
                                {.tokenizer_class = kPlainTokenizerClass, .start = start, .end = end});
  };
  return ModelTokenizer(std::move(parts));
}

/// Throws unless transformers cuts text into words as GPT-2: vocab.json and merges.txt do not say how, and
/// with another pattern the ids are others.
void require_gpt2_words(const ModelInventory& files, const TextTokenizerConfig& config) {
  const std::string name = tokenizer_class_of(files, config.tokenizer_class);
  if (name.empty() || name == "GPT2Tokenizer") return;
  fail(ErrorKind::kFormat,
       "'{}': vocab.json and merges.txt do not say how {} cuts text into words, as tokenizer.json does: copy "
       "that of the original model into it, or save one with transformers "
       "(AutoTokenizer.from_pretrained(\"DIR\").save_pretrained(\"DIR\"))",
       files.directory(), shown(name));
}

ModelTokenizer load_kind(TextTokenizerKind kind, const ModelInventory& files,
                         const TextTokenizerConfig& config) {
  const std::string& directory = files.directory();
  const bool numbers_text = kind == TextTokenizerKind::kBytes || kind == TextTokenizerKind::kCharacters;
  if (numbers_text && !config.added.empty()) {
    fail(ErrorKind::kFormat, "'{}': the added token '{}' is not supported by a tokenizer of the kind \"{}\"",
         directory, shown(config.added[0].content), name_of(kind));
  }
  switch (kind) {
    case TextTokenizerKind::kBytes:
      return byte_tokenizer();
    case TextTokenizerKind::kCharacters:
      return load_character_tokenizer(directory);
    case TextTokenizerKind::kByteBpe:
      require_gpt2_words(files, config);
      return byte_bpe_tokenizer(read_byte_bpe(directory, config));
    case TextTokenizerKind::kSentencePiece:
      return load_sentencepiece_tokenizer(directory, config);
  }
  HEED_CHECK(false);
}

/// Throws if there is a tokenizer.json and it does not match Heed's own tokenizer files.
void check_own_json(const ModelInventory& files, const ModelTokenizer& tokenizer) {
  const std::string path = files.path(model_file::kTokenizerJson);
  if (!files.has(model_file::kTokenizerJson) || read_tokenizer_file(path) == tokenizer.tokenizer_json())
    return;
  fail(ErrorKind::kFormat,
       "{} is not the file that Heed writes for its tokenizer of kind \"{}\" (tokenizer_config.json, "
       "\"heed_tokenizer\"), so that other libraries would read another tokenizer: delete it, or fetch the "
       "directory again",
       path, tokenizer.kind());
}

}  // namespace

const char* name_of(TextTokenizerKind kind) {
  switch (kind) {
    case TextTokenizerKind::kBytes:
      return "bytes";
    case TextTokenizerKind::kCharacters:
      return "characters";
    case TextTokenizerKind::kByteBpe:
      return "bpe";
    case TextTokenizerKind::kSentencePiece:
      return "sentencepiece";
  }
  HEED_CHECK(false);
}

bool has_language_tokenizer(const ModelInventory& files) {
  return find_text_tokenizer(files, read_text_tokenizer_config(files)).has_value();
}

ModelTokenizer load_language_tokenizer(const ModelInventory& files) {
  const TextTokenizerConfig config = read_text_tokenizer_config(files);
  const auto found = find_text_tokenizer(files, config);
  if (!found) {
    fail(ErrorKind::kNotFound,
         "'{}' contains no supported text tokenizer: neither tokenizer.json, nor vocab.json with merges.txt "
         "(byte-level BPE), nor tokenizer.model (SentencePiece), nor a tokenizer_config.json of Heed",
         files.directory());
  }
  if (found->json) return load_json(files.path(model_file::kTokenizerJson), config);
  ModelTokenizer tokenizer = load_kind(found->kind, files, config);
  if (config.own) check_own_json(files, tokenizer);
  return tokenizer;
}

ModelTokenizer train_language_tokenizer(const TextTokenizerOptions& options, const NextText& text) {
  switch (options.kind) {
    case TextTokenizerKind::kBytes:
      return byte_tokenizer();
    case TextTokenizerKind::kCharacters:
      return train_character_tokenizer(text);
    case TextTokenizerKind::kByteBpe:
      return byte_bpe_tokenizer(train_byte_bpe(options.vocabulary_size, text));
    case TextTokenizerKind::kSentencePiece:
      return train_sentencepiece_tokenizer(options, text);
  }
  HEED_CHECK(false);
}

}  // namespace heed
