#include "text/pipeline/text_pipeline.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "text/pipeline/pipeline_steps.h"
#include "text/pipeline/segmentation/token_cache.h"

namespace heed {

struct TextPipeline::State {
  PipelineParts parts;
  /// By id: what a decoder sees of a token, whether it is special, and whether decode() leaves it out.
  std::vector<const std::string*> decoded;
  std::vector<bool> special, silent;
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

/// Vocabularies hold special tokens ("</s>") among their pieces, and some models find them in a text. Whether
/// these tokens of a piece have one of several characters.
bool spells_special(std::string_view piece, std::span<const ModelToken> tokens,
                    const std::vector<bool>& special, const AddedVocabulary& added) {
  return std::ranges::any_of(tokens, [&](const ModelToken& token) {
    if (!special[static_cast<size_t>(token.id)]) return false;
    const std::string_view text = piece.substr(token.begin, token.end - token.begin);
    return text == added.find(token.id)->content && length_of_character(text[0]) < text.size();
  });
}

/// The text of a SentencePiece model: the parts between added tokens are normalized each by itself.
CutText prepare_sentencepiece(std::string_view text, const PipelineParts& parts,
                              const SpecialTokenOptions& read) {
  // Positions have 32 bits, and normalization may expand a character to 18 bytes.
  constexpr size_t kMost = size_t{64} << 20;
  if (text.size() > kMost) {
    fail(ErrorKind::kText, "a text of {} MiB is too long to tokenize at once; split it into lines",
         text.size() >> 20);
  }
  CutText result;
  const auto cut = parts.added.cut(text, read);
  if (cut.size() == 1 && cut[0].id < 0) {
    result.all = parts.sentencepiece->normalize(text);
    result.pieces.push_back({0, static_cast<uint32_t>(result.all.size())});
    return result;
  }
  for (const AddedVocabulary::Part& part : cut) {
    const std::string_view stretch = text.substr(part.begin, part.end - part.begin);
    const auto begin = static_cast<uint32_t>(result.all.size());
    if (part.id >= 0) {
      result.all.append(stretch, {static_cast<uint32_t>(part.begin), static_cast<uint32_t>(part.end)});
    } else {
      const AlignedText rest = parts.sentencepiece->normalize(stretch, part.begin);
      result.all.append(rest, 0, rest.size());
    }
    result.pieces.push_back({begin, static_cast<uint32_t>(result.all.size()), part.id});
  }
  return result;
}

/// Segments the pieces of a text into tokens.
class Segmenter {
 public:
  /// `aligned`: where the bytes of `text` come from; nullptr: it is the original.
  Segmenter(const PipelineParts& parts, const PipelineOptions& options, std::string_view text,
            const AlignedText* aligned)
      : parts_(parts),
        options_(options),
        text_(text),
        aligned_(aligned),
        with_pieces_(options.pieces || (options.spans && parts.post_processor.trims_spans())) {}

  template <typename Pieces>
  Encoding segment(const Pieces& pieces, const std::vector<bool>& special, TokenCaches& caches) {
    const TokenCaches::Loan cache(caches);
    encoding_.ids.reserve(text_.size() / 4 + 4);
    for (const auto& piece : pieces) {
      StopScope::check();
      if (piece.id >= 0) {
        add({piece.id, 0, static_cast<uint32_t>(piece.end - piece.begin), true}, piece.begin);
      } else {
        segment_piece(piece.begin, piece.end, special, *cache);
      }
    }
    return std::move(encoding_);
  }

  /// Adds a token of the part of the text that begins at `begin`.
  void add(const ModelToken& token, size_t begin) {
    const size_t first = begin + token.begin, behind = begin + token.end;
    encoding_.ids.push_back(token.id);
    if (options_.spans) {
      const auto [from, to] = span_of(first, behind);
      encoding_.spans.emplace_back(from, to);
    }
    if (!with_pieces_) return;
    if (token.unknown) {
      encoding_.pieces.emplace_back(text_.substr(first, behind - first));
    } else {
      encoding_.pieces.push_back(parts_.pieces[static_cast<size_t>(token.id)]);
    }
  }

  Encoding take() { return std::exchange(encoding_, {}); }

 private:
  /// That of a token without text is empty, where the token is.
  std::pair<size_t, size_t> span_of(size_t begin, size_t end) const {
    if (aligned_ == nullptr) return {begin, end};
    if (end == begin && begin == aligned_->size()) return {};
    const Origin origin = aligned_->origin(begin, std::max(end, begin + 1));
    return {origin.begin, end > begin ? origin.end : origin.begin};
  }

  void segment_piece(size_t begin, size_t end, const std::vector<bool>& special, TokenCache& cache) {
    const bool is_text = !options_.read.special_tokens && parts_.added.has_special();
    std::vector<size_t> cuts;  // the ends of parts that spell no special token, the next one last
    while (begin < end) {
      const size_t until = cuts.empty() ? end : cuts.back();
      std::string_view part = text_.substr(begin, until - begin);
      if (options_.model == nullptr) part = part.substr(0, parts_.model->first_part(part));
      const std::span<const ModelToken> tokens = tokens_of(part, cache);
      if (is_text && cuts.empty() && spells_special(part, tokens, special, parts_.added)) {
        // The part is tokenized once more, in parts that cannot spell one.
        cuts = parts_.added.cuts_in_special(part);
        cuts.push_back(part.size());
        for (size_t& cut : cuts) cut += begin;
        std::ranges::reverse(cuts);
        continue;
      }
      for (const ModelToken& token : tokens) add(token, begin);
      begin += part.size();
      if (begin == until && !cuts.empty()) cuts.pop_back();
    }
  }

  /// The tokens of a part of the text, until the next call.
  std::span<const ModelToken> tokens_of(std::string_view part, TokenCache& cache) {
    const bool slow = options_.model == nullptr && parts_.model->is_slow();
    if (slow) {
      const std::span<const ModelToken> known = cache.find(part);
      if (!known.empty()) return known;
    }
    fresh_.clear();
    if (options_.model != nullptr) {
      (*options_.model)(part, fresh_);
    } else {
      parts_.model->tokenize(part, fresh_);
    }
    if (slow) cache.insert(part, fresh_);
    return fresh_;
  }

  const PipelineParts& parts_;
  const PipelineOptions& options_;
  std::string_view text_;
  const AlignedText* aligned_;
  bool with_pieces_;
  Encoding encoding_;
  std::vector<ModelToken> fresh_;
};

}  // namespace

void separate_spans(size_t bytes, Encoding& encoding) {
  size_t next = bytes;
  for (auto span = encoding.spans.rbegin(); span != encoding.spans.rend(); ++span) {
    span->second = std::min(span->second, next);
    span->first = next = std::min(span->first, span->second);
  }
}

TextPipeline::TextPipeline(PipelineParts parts, int32_t size) : post_processor_(parts.post_processor) {
  auto state = std::make_shared<State>();
  state->parts = std::move(parts);
  const PipelineParts& kept = state->parts;
  const auto ids = static_cast<size_t>(size);
  state->decoded.reserve(ids);
  state->special.reserve(ids);
  state->silent.reserve(ids);
  for (int32_t id = 0; id < size; ++id) {
    const std::string* added = kept.added.decoded(id);
    const std::string* token = added != nullptr ? added : &kept.pieces[static_cast<size_t>(id)];
    state->decoded.push_back(token);
    state->special.push_back(kept.added.is_special(id));
    state->silent.push_back(kept.added.is_special(*token));
  }
  state_ = std::move(state);
}

Encoding TextPipeline::tokens(std::string_view text, const PipelineOptions& options) const {
  const PipelineParts& parts = state_->parts;
  if (parts.keeps_bytes) {
    return Segmenter(parts, options, text, nullptr)
        .segment(parts.added.cut(text, options.read), state_->special, state_->caches);
  }
  const PatternBudget budget(text.size());
  CutText cut = parts.sentencepiece ? prepare_sentencepiece(text, parts, options.read)
                                    : prepare(text, parts, options.read);
  run_steps(
      "pre_tokenizer", parts.pre_tokenizers, max_written_bytes(cut.all.size()),
      [&](const PreTokenizer& step) { step.apply(cut); }, [&] { return cut.all.size(); });
  Encoding encoding = Segmenter(parts, options, cut.all.text(), &cut.all)
                          .segment(cut.pieces, state_->special, state_->caches);
  if (options.spans && parts.post_processor.trims_spans()) parts.post_processor.trim(text, encoding);
  return encoding;
}

std::vector<Encoding> TextPipeline::sample(std::string_view text, const SubwordSampling& sampling,
                                           Random& random) const {
  const PipelineParts& parts = state_->parts;
  if (!parts.sentencepiece) {
    fail(ErrorKind::kUsage,
         "a tokenizer.json has one segmentation of a text: set tokenizer.subword_regularization to 0");
  }
  const CutText cut = prepare_sentencepiece(text, parts, {.special_tokens = false});
  const auto drawn = parts.model->sample(cut.all.text(), sampling, random);
  if (!drawn) {
    fail(
        ErrorKind::kUsage,
        "subword regularization needs a unigram model, which {} is not: set tokenizer.subword_regularization "
        "to 0",
        parts.path);
  }
  const PipelineOptions options;
  Segmenter segmenter(parts, options, cut.all.text(), &cut.all);
  std::vector<Encoding> encodings;
  for (const std::vector<ModelToken>& tokens : *drawn) {
    for (const ModelToken& token : tokens) segmenter.add(token, 0);
    encodings.push_back(segmenter.take());
  }
  return encodings;
}

TextPipeline TextPipeline::with_frame(const std::vector<int32_t>& before,
                                      const std::vector<int32_t>& after) const {
  const auto special = [&](const std::vector<int32_t>& ids) {
    TemplatePart part{.ids = ids};
    for (const int32_t id : ids) part.tokens.push_back(piece(id));
    return part;
  };
  TextPipeline framed = *this;
  framed.post_processor_ = PostProcessor({{.single = {special(before), {.source = 0}, special(after)}}});
  return framed;
}

Encoding TextPipeline::encode(std::string_view text, const PipelineOptions& options) const {
  return finish({tokens(text, options), text.size()}, std::nullopt, options.adds_special);
}

Encoding TextPipeline::encode(std::string_view first, std::string_view second,
                              const PipelineOptions& options) const {
  return finish({tokens(first, options), first.size()}, TokenizedText{tokens(second, options), second.size()},
                options.adds_special);
}

std::string TextPipeline::decode(std::span<const int32_t> ids, bool skips_special) const {
  const PipelineParts& parts = state_->parts;
  std::string text;
  if (!parts.texts.empty()) {
    for (const int32_t id : ids) text += parts.texts[require_id(id)];
    return text;
  }
  std::vector<std::string> tokens;
  tokens.reserve(ids.size());
  for (const int32_t id : ids) {
    if (id < 0 || id >= size() || (skips_special && state_->silent[static_cast<size_t>(id)])) continue;
    tokens.push_back(*state_->decoded[static_cast<size_t>(id)]);
  }
  if (parts.decoder && !tokens.empty()) {
    const size_t bytes = total_bytes(tokens);
    const PatternBudget budget(bytes);
    run_steps(
        "decoder", *parts.decoder, max_written_bytes(bytes),
        [&](const DecoderStep& step) { step.apply(tokens); }, [&] { return total_bytes(tokens); });
  }
  if (tokens.size() == 1) return std::move(tokens[0]);
  for (size_t n = 0; n < tokens.size(); ++n) {
    if (n > 0 && !parts.decoder) text += ' ';
    text += tokens[n];
  }
  return text;
}

std::optional<std::string> TextPipeline::bytes(int32_t id) const {
  const PipelineParts& parts = state_->parts;
  const size_t n = require_id(id);
  if (!parts.texts.empty()) return parts.texts[n];
  if (state_->special[n]) return "";
  std::string token = *state_->decoded[n];
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

void TextPipeline::append_bytes(int32_t id, std::string& text) const {
  const PipelineParts& parts = state_->parts;
  if (parts.texts.empty()) {
    text += bytes(id).value_or("");
  } else {
    text += parts.texts[require_id(id)];
  }
}

bool TextPipeline::removes_leading_space() const {
  const auto& decoder = state_->parts.decoder;
  return decoder && std::any_of(decoder->begin(), decoder->end(),
                                [](const auto& step) { return step->removes_leading_space(); });
}

int32_t TextPipeline::size() const {
  return static_cast<int32_t>(state_->decoded.size());
}

size_t TextPipeline::require_id(int32_t id) const {
  if (id < 0 || id >= size()) {
    fail(ErrorKind::kUsage, "invalid token id {}: the vocabulary has the ids 0 to {}", id, size() - 1);
  }
  return static_cast<size_t>(id);
}

const std::string& TextPipeline::piece(int32_t id) const {
  const size_t n = require_id(id);
  const AddedToken* added = state_->parts.added.find(id);
  return added != nullptr ? added->content : state_->parts.pieces[n];
}

const AddedVocabulary& TextPipeline::added() const {
  return state_->parts.added;
}

bool TextPipeline::is_special(int32_t id) const {
  return state_->parts.added.is_special(id);
}

}  // namespace heed
