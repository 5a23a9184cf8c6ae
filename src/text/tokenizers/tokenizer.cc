#include "text/tokenizers/tokenizer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "text/pipeline/shown_piece.h"
#include "text/pipeline/words/byte_characters.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

/// Removes tokens from the end of a text, or from its beginning.
void shorten(Encoding& encoding, size_t length, bool from_left) {
  if (encoding.size() <= length) return;
  const auto surplus = static_cast<ptrdiff_t>(encoding.size() - length);
  const auto remove = [&](auto& each) {
    if (each.empty()) return;
    const auto first = from_left ? each.begin() : each.end() - surplus;
    each.erase(first, first + surplus);
  };
  remove(encoding.ids);
  remove(encoding.spans);
  remove(encoding.pieces);
  encoding.truncated = true;
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

bool ModelTokenizer::is_special(int32_t id) const {
  if (!parts_->vocabulary) return pipeline().is_special(id);
  return vocabulary().is_special(id) || id == start_id() || id == mask_id();
}

// ---- Text to ids ------------------------------------------------------------------------------------------

Encoding ModelTokenizer::read(std::string_view text, const EncodeOptions& options, bool ids_alone) const {
  PipelineOptions read{.pieces = !ids_alone && !parts_->shows_pieces,
                       .spans = !ids_alone,
                       .read = {.special_tokens = options.special_tokens, .also = parts_->in_text}};
  if (options.read_mask && parts_->mask) read.read.also = {&*parts_->mask, 1};
  std::function<void(std::string_view, std::vector<ModelToken>&)> model;
  if (options.dropout) {
    HEED_CHECK(options.dropout->random != nullptr);
    if (!is_word_piece())
      fail(ErrorKind::kUsage, "random tokenization needs a WordPiece tokenizer: turn it off");
    model = [&](std::string_view word, std::vector<ModelToken>& tokens) {
      const std::vector<int32_t> others{start_id().value_or(-1), mask_id().value_or(-1)};
      drop_out(word, vocabulary(), others, *options.dropout, tokens);
    };
    read.model = &model;
  }
  Encoding encoding = pipeline().tokens(text, read);
  if (ids_alone) return encoding;
  if (parts_->separates_spans && !options.shared_spans) separate_spans(text.size(), encoding);
  if (parts_->shows_pieces) {
    encoding.pieces.clear();
    for (const int32_t id : encoding.ids) encoding.pieces.push_back(piece(id));
  }
  return encoding;
}

Encoding ModelTokenizer::tokens(std::string_view text, const EncodeOptions& options) const {
  return read(text, options, /*ids_alone=*/false);
}

std::vector<int32_t> ModelTokenizer::ids(std::string_view text, const EncodeOptions& options) const {
  return std::move(read(text, options, /*ids_alone=*/true).ids);
}

Encoding ModelTokenizer::encode_texts(std::string_view first, std::optional<std::string_view> second,
                                      const EncodeOptions& options) const {
  TokenizedText one{tokens(first, options), first.size()};
  std::optional<TokenizedText> two;
  if (second) two = TokenizedText{tokens(*second, options), second->size()};
  if (options.max_length > 0) {
    const auto nothing = second ? std::optional(TokenizedText{}) : std::nullopt;
    const size_t special = pipeline().finish({}, nothing, /*specials=*/true).size();
    const size_t room = std::max(options.max_length, special) - special;
    const auto [keep_one, keep_two] = share(one.tokens.size(), two ? two->tokens.size() : 0, room);
    shorten(one.tokens, keep_one, parts_->truncates_left);
    if (two) shorten(two->tokens, keep_two, parts_->truncates_left);
  }
  return pipeline().finish(std::move(one), std::move(two), /*specials=*/true);
}

Encoding ModelTokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  return encode_texts(text, std::nullopt, options);
}

Encoding ModelTokenizer::encode(std::string_view first, std::string_view second,
                                const EncodeOptions& options) const {
  return encode_texts(first, second, options);
}

std::vector<int32_t> ModelTokenizer::prompt_ids(std::string_view text, const EncodeOptions& options) const {
  std::vector<int32_t> prompt = ids(text, options);
  if (!prompt.empty() && !starts_every_text()) return prompt;
  if (parts_->start) {
    prompt.insert(prompt.begin(), *parts_->start);
  } else if (prompt.empty()) {
    fail(ErrorKind::kUsage,
         "this model's tokenizer ({}) has no start token, so an empty prompt is not possible: give a prompt",
         kind());
  }
  return prompt;
}

ModelTokenizer ModelTokenizer::with_frame(const std::vector<int32_t>& before,
                                          const std::vector<int32_t>& after) const {
  TokenizerParts parts = *parts_;
  parts.pipeline = pipeline().with_frame(before, after);
  return ModelTokenizer(std::move(parts));
}

// ---- Ids to text ------------------------------------------------------------------------------------------

std::string ModelTokenizer::decode(std::span<const int32_t> ids) const {
  for (const int32_t id : ids) pipeline().piece(id);  // throws for an invalid one
  return pipeline().decode(ids);
}

std::string ModelTokenizer::text_of(std::span<const int32_t> ids, bool continues) const {
  std::string text;
  for (const int32_t id : ids) pipeline().append_bytes(id, text);
  if (parts_->removes_space && !continues && text.starts_with(' ')) text.erase(0, 1);
  return text;
}

std::string ModelTokenizer::piece(int32_t id) const {
  if (parts_->vocabulary && parts_->shows_pieces) return vocabulary().piece(id);
  const std::string& spelt = pipeline().piece(id);
  if (!parts_->spells_bytes || pipeline().added().find(id) != nullptr) return spelt;
  std::optional<std::string> bytes = pipeline().bytes(id);
  if (!bytes) bytes = bytes_of_characters(spelt);
  return shown_piece(bytes.value_or(spelt));
}

std::optional<int32_t> ModelTokenizer::find(std::string_view wanted) const {
  for (int32_t id = 0; id < size(); ++id) {
    if (piece(id) == wanted) return id;
  }
  return std::nullopt;
}

std::string TextStream::push(int32_t id) {
  std::string bytes = tokenizer_.bytes(id);
  if (at_beginning_ && !bytes.empty()) {
    // text_of() the first id alone removes the leading space.
    bytes = tokenizer_.text_of({&id, 1});
    at_beginning_ = false;
  }
  waiting_ += bytes;
  const size_t whole = waiting_.size() - incomplete_utf8(waiting_);
  std::string text = replace_invalid_utf8(std::string_view(waiting_).substr(0, whole));
  waiting_.erase(0, whole);
  return text;
}

std::string TextStream::finish() {
  return replace_invalid_utf8(std::exchange(waiting_, {}));
}

}  // namespace heed
