#include "heed/tokenizer.h"

#include "api/checks.h"
#include "inspect/reading/model_to_inspect.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

/// A span with all bytes of the characters that it has a part of.
std::pair<size_t, size_t> whole_characters(std::string_view text, std::pair<size_t, size_t> span) {
  auto [begin, end] = span;
  if (begin == end) return span;
  while (end < text.size() && is_continuation_byte(text[end])) ++end;
  return {character_start(text, begin), end};
}

}  // namespace

struct Tokenizer::State {
  State(const std::string& directory, const Languages& languages)
      : model(models::without_weights(models::ModelDirectory::open(directory)), languages),
        translation(model.view().translation),
        tokenizer(model.view().tokenizer),
        task(model.view().task()) {}

  const ModelTokenizer& tokenizer_of(TextSide side) const {
    if (translation == nullptr) return *tokenizer;
    return side == TextSide::kSource ? translation->source() : translation->target();
  }
  std::string piece(int32_t id, TextSide side) const {
    const ModelTokenizer& of_side = tokenizer_of(side);
    return translation != nullptr ? of_side.vocabulary().piece(id) : of_side.piece(id);
  }
  Encoding encoding(const std::string& text, const TokenizeOptions& options) const {
    const EncodeOptions read{.special_tokens = options.special_tokens, .shared_spans = true};
    if (translation == nullptr) return tokenizer->encode(text, read);
    if (options.special_tokens) {
      fail(ErrorKind::kUsage,
           "special tokens in the text of a translation model are ordinary text: leave out special_tokens");
    }
    if (options.side == TextSide::kTarget) return translation->encode_target(text, {.shared_spans = true});
    translation->require_language_code(text);
    return translation->encode_source(text, {.shared_spans = true});
  }
  Tokens tokens(const Encoding& encoding, const std::vector<std::string_view>& texts,
                const TokenizeOptions& options) const {
    Tokens tokens;
    for (size_t n = 0; n < encoding.size(); ++n) {
      if (!options.frame && encoding.sources[n] < 0) continue;
      tokens.ids.push_back(encoding.ids[n]);
      tokens.pieces.push_back(piece(encoding.ids[n], options.side));
      const int8_t from = encoding.sources[n];
      tokens.offsets.push_back(from < 0 ? encoding.spans[n]
                                        : whole_characters(texts[from], encoding.spans[n]));
      tokens.texts.push_back(encoding.sources[n]);
      tokens.types.push_back(encoding.types[n]);
    }
    return tokens;
  }

  ModelToInspect model;
  const TranslationTokenizer* translation;  // null for other models
  const ModelTokenizer* tokenizer;          // null for translation models
  models::Task task;
};

Tokenizer::Tokenizer(const std::string& directory, const Languages& languages)
    : state_(std::make_unique<const State>(directory, languages)) {}
Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

Tokens Tokenizer::encode(const std::string& text, const TokenizeOptions& options) const {
  require_utf8("the text", text);
  return state_->tokens(state_->encoding(text, options), {text}, options);
}

Tokens Tokenizer::encode_pair(const std::string& first, const std::string& second,
                              const TokenizeOptions& options) const {
  require_utf8("the first text", first);
  require_utf8("the second text", second);
  if (state_->translation != nullptr || state_->task == models::Task::kLanguageModel) {
    fail(ErrorKind::kUsage, "pairs of texts are for encoders: encode them one by one");
  }
  const EncodeOptions read{.special_tokens = options.special_tokens, .shared_spans = true};
  return state_->tokens(state_->tokenizer->encode(first, second, read), {first, second}, options);
}

std::string Tokenizer::decode(const std::vector<int32_t>& ids, TextSide side) const {
  if (state_->translation != nullptr) {
    return side == TextSide::kSource ? state_->translation->decode_source(ids)
                                     : state_->translation->decode(ids);
  }
  if (state_->task != models::Task::kLanguageModel) return state_->tokenizer->decode(ids);
  return replace_invalid_utf8(state_->tokenizer->text_of(ids));
}

std::string Tokenizer::piece(int32_t id, TextSide side) const {
  return state_->piece(id, side);
}

std::optional<int32_t> Tokenizer::find(const std::string& piece, TextSide side) const {
  const ModelTokenizer& tokenizer = state_->tokenizer_of(side);
  return state_->translation != nullptr ? tokenizer.vocabulary().find(piece) : tokenizer.find(piece);
}

int32_t Tokenizer::vocabulary_size(TextSide side) const {
  const ModelTokenizer& tokenizer = state_->tokenizer_of(side);
  return state_->translation != nullptr ? static_cast<int32_t>(tokenizer.vocabulary().size())
                                        : tokenizer.size();
}

SpecialTokens Tokenizer::special_tokens(TextSide side) const {
  const ModelTokenizer& tokenizer = state_->tokenizer_of(side);
  SpecialTokens special{.end = tokenizer.end_id(),
                        .mask = tokenizer.mask_id(),
                        .before = tokenizer.pipeline().before(),
                        .after = tokenizer.pipeline().after()};
  if (tokenizer.has_vocabulary()) {
    special.end = tokenizer.vocabulary().end_id();
    special.unknown = tokenizer.vocabulary().unknown_id();
    special.padding = tokenizer.vocabulary().pad_id();
  }
  return special;
}

}  // namespace heed
