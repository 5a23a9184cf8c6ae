#include "text/pipeline/text_pipeline.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "text/pipeline/pipeline_steps.h"
#include "text/pipeline/segmentation/token_cache.h"
#include "text/unicode/utf8.h"

namespace heed {

struct TextPipeline::State {
  PipelineParts parts;
  int32_t size = 0;
  std::vector<bool> special;  // by id
  mutable TokenCaches caches;
};

namespace {

/// Adds the stretch [begin, end) of `from` as a piece.
void add_piece(const AlignedText& from, const AddedVocabulary::Part& part, CutText& to) {
  const auto begin = static_cast<uint32_t>(to.all.size());
  to.all.append(from, part.begin, part.end);
  to.pieces.push_back({begin, static_cast<uint32_t>(to.all.size()), part.id});
}

/// The text with added tokens apart and the rest normalized.
CutText prepare(std::string_view text, const PipelineParts& parts, const SpecialTokenOptions& read) {
  CutText result;
  const size_t limit = max_written_bytes(text.size());  // of all stretches together
  AlignedText original(text, 0, text.size());
  const auto literal = parts.added.cut(original.text(), /*normalized=*/false, read);
  for (const AddedVocabulary::Part& part : literal) {
    if (part.id >= 0) {
      add_piece(original, part, result);
      continue;
    }
    AlignedText rest;
    if (literal.size() == 1) {
      rest = std::move(original);
    } else {
      rest.append(original, part.begin, part.end);
    }
    normalize(rest, parts.normalizers, limit - std::min(limit, result.all.size()));
    const auto normalized = parts.added.cut(rest.text(), /*normalized=*/true, read);
    if (literal.size() == 1 && normalized.size() == 1) {
      result.pieces.push_back({0, static_cast<uint32_t>(rest.size()), normalized[0].id});
      result.all = std::move(rest);
      return result;
    }
    for (const AddedVocabulary::Part& inner : normalized) add_piece(rest, inner, result);
  }
  return result;
}

/// Vocabularies hold special tokens ("</s>") among their pieces, and some models find them in a text. The
/// length of the part of a piece that has to be tokenized apart so that they do not: up to the first
/// character of the first special token; 0: none is spelt.
size_t length_before_special(std::string_view piece, std::span<const ModelToken> tokens,
                             const std::vector<bool>& special, const AddedVocabulary& added) {
  for (const ModelToken& token : tokens) {
    if (!special[static_cast<size_t>(token.id)]) continue;
    const std::string_view text = piece.substr(token.begin, token.end - token.begin);
    const size_t first = length_of_character(text[0]);
    if (text == added.find(token.id)->content && first < text.size()) return token.begin + first;
  }
  return 0;
}

/// The number of code points before each byte of a text, and at its end; empty if all are single bytes.
std::vector<uint32_t> code_points_before(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<signed char>(c) >= 0; }))
    return {};
  std::vector<uint32_t> before(text.size() + 1);
  uint32_t count = 0;
  for (size_t at = 0; at < text.size(); ++count) {
    const size_t begin = at;
    next_code_point(text, at);
    std::fill(before.begin() + static_cast<ptrdiff_t>(begin), before.begin() + static_cast<ptrdiff_t>(at),
              count);
  }
  before.back() = count;
  return before;
}

}  // namespace

std::vector<std::pair<size_t, size_t>> byte_spans(std::string_view text,
                                                  const std::vector<std::pair<uint32_t, uint32_t>>& offsets) {
  std::vector<std::pair<size_t, size_t>> spans(offsets.begin(), offsets.end());
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<signed char>(c) >= 0; }))
    return spans;
  std::vector<size_t> bytes;  // where each code point begins
  for (size_t at = 0; at < text.size(); next_code_point(text, at)) bytes.push_back(at);
  bytes.push_back(text.size());
  for (auto& [begin, end] : spans) {
    begin = bytes[begin];
    end = bytes[end];
  }
  return spans;
}

std::vector<std::pair<size_t, size_t>> separate_byte_spans(
    std::string_view text, const std::vector<std::pair<uint32_t, uint32_t>>& offsets) {
  auto spans = byte_spans(text, offsets);
  size_t next = text.size();
  for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
    span->second = std::min(span->second, next);
    span->first = next = std::min(span->first, span->second);
  }
  return spans;
}

TextPipeline::TextPipeline(PipelineParts parts, int32_t size) {
  auto state = std::make_shared<State>();
  state->parts = std::move(parts);
  state->size = size;
  for (int32_t id = 0; id < size; ++id) state->special.push_back(state->parts.added.is_special(id));
  state_ = std::move(state);
}

PipelineEncoding TextPipeline::tokens(std::string_view text, const PipelineOptions& options) const {
  const PipelineParts& parts = state_->parts;
  const PatternBudget budget(text.size());
  CutText cut = prepare(text, parts, options.read);
  run_steps(
      "pre_tokenizer", parts.pre_tokenizers, max_written_bytes(cut.all.size()),
      [&](const PreTokenizer& step) { step.apply(cut); }, [&] { return cut.all.size(); });

  const TokenCaches::Loan cache(state_->caches);
  const std::vector<uint32_t> before = code_points_before(text);
  const bool with_tokens = options.tokens || parts.post_processor.trims_offsets();
  PipelineEncoding encoding;
  const auto add = [&](int32_t id, size_t begin, size_t end, bool as_in_text) {
    encoding.ids.push_back(id);
    const Origin origin = end > begin ? cut.all.origin(begin, end) : Origin{};
    if (before.empty()) {
      encoding.offsets.emplace_back(origin.begin, origin.end);
    } else {
      encoding.offsets.emplace_back(before[origin.begin], before[origin.end]);
    }
    if (!with_tokens) return;
    if (as_in_text) {
      encoding.tokens.emplace_back(cut.all.text(begin, end));
    } else {
      encoding.tokens.push_back(parts.pieces[static_cast<size_t>(id)]);
    }
  };
  std::vector<ModelToken> fresh;
  const bool slow = options.model == nullptr && parts.model->is_slow();
  for (const CutText::Piece& piece : cut.pieces) {
    StopScope::check();
    if (piece.id >= 0) {
      add(piece.id, piece.begin, piece.end, /*as_in_text=*/true);
      continue;
    }
    size_t plain_until = 0;  // the end of a part that would spell a special token together with the next
    for (size_t begin = piece.begin; begin < piece.end;) {
      std::string_view part = cut.all.text(begin, piece.end);
      if (options.model == nullptr) part = part.substr(0, parts.model->first_part(part));
      if (begin < plain_until) part = part.substr(0, plain_until - begin);
      std::span<const ModelToken> tokens;
      if (slow) tokens = (*cache).find(part);
      if (tokens.empty()) {
        fresh.clear();
        if (options.model != nullptr) {
          (*options.model)(part, fresh);
        } else {
          parts.model->tokenize(part, fresh);
        }
        if (slow) (*cache).insert(part, fresh);
        tokens = fresh;
      }
      if (!options.read.special_tokens) {
        if (const size_t length = length_before_special(part, tokens, state_->special, parts.added)) {
          plain_until = begin + length;
          continue;
        }
      }
      for (const ModelToken& token : tokens)
        add(token.id, begin + token.begin, begin + token.end, token.unknown);
      begin += part.size();
    }
  }
  return encoding;
}

PipelineEncoding TextPipeline::finish(PipelineEncoding first, std::optional<PipelineEncoding> second,
                                      bool specials) const {
  return state_->parts.post_processor.process(std::move(first), std::move(second), specials);
}

PipelineEncoding TextPipeline::encode(std::string_view text, const PipelineOptions& options) const {
  return finish(tokens(text, options), std::nullopt, options.adds_special);
}

PipelineEncoding TextPipeline::encode(std::string_view first, std::string_view second,
                                      const PipelineOptions& options) const {
  return finish(tokens(first, options), tokens(second, options), options.adds_special);
}

std::string TextPipeline::decode(std::span<const int32_t> ids, bool skips_special) const {
  const PipelineParts& parts = state_->parts;
  std::vector<std::string> tokens;
  tokens.reserve(ids.size());
  for (const int32_t id : ids) {
    const std::string* token = parts.added.decoded(id);
    if (token == nullptr && id >= 0 && id < size()) token = &parts.pieces[static_cast<size_t>(id)];
    if (token == nullptr || (skips_special && parts.added.is_special(*token))) continue;
    tokens.push_back(*token);
  }
  if (parts.decoder && !tokens.empty()) {
    const size_t bytes = total_bytes(tokens);
    const PatternBudget budget(bytes);
    run_steps(
        "decoder", *parts.decoder, max_written_bytes(bytes),
        [&](const DecoderStep& step) { step.apply(tokens); }, [&] { return total_bytes(tokens); });
  }
  std::string text;
  for (size_t n = 0; n < tokens.size(); ++n) {
    if (n > 0 && !parts.decoder) text += ' ';
    text += tokens[n];
  }
  return text;
}

std::optional<std::string> TextPipeline::bytes(int32_t id) const {
  const PipelineParts& parts = state_->parts;
  if (is_special(id)) return "";
  const std::string* added = parts.added.decoded(id);
  std::string token = added != nullptr ? *added : piece(id);
  if (!parts.decoder) return std::nullopt;
  const size_t limit = max_written_bytes(token.size());
  bool done = false;
  for (const auto& step : *parts.decoder) {
    try {
      auto bytes = step->bytes(token, done);
      if (!bytes) return std::nullopt;
      check_written_bytes(bytes->size(), limit);
      token = std::move(*bytes);
    } catch (const TextTooLong&) {
      return std::nullopt;  // decode() says which step it is
    }
    if (done) break;
  }
  return token;
}

bool TextPipeline::removes_leading_space() const {
  const auto& decoder = state_->parts.decoder;
  return decoder && std::any_of(decoder->begin(), decoder->end(),
                                [](const auto& step) { return step->removes_leading_space(); });
}

int32_t TextPipeline::size() const {
  return state_->size;
}

const std::string& TextPipeline::piece(int32_t id) const {
  if (id < 0 || id >= size()) {
    fail(ErrorKind::kUsage, "invalid token id {}: the vocabulary has the ids 0 to {}", id, size() - 1);
  }
  const AddedToken* added = state_->parts.added.find(id);
  return added != nullptr ? added->content : state_->parts.pieces[static_cast<size_t>(id)];
}

const AddedVocabulary& TextPipeline::added() const {
  return state_->parts.added;
}

bool TextPipeline::is_special(int32_t id) const {
  return state_->parts.added.is_special(id);
}

std::vector<int32_t> TextPipeline::before() const {
  return state_->parts.post_processor.before();
}

std::vector<int32_t> TextPipeline::after() const {
  return state_->parts.post_processor.after();
}

}  // namespace heed
