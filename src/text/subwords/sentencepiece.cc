#include "text/subwords/sentencepiece.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/check.h"
#include "text/pipeline/segmentation/token_cache.h"
#include "text/readers/sentencepiece_file.h"
#include "text/readers/tokenizer_file.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

// Positions have 32 bits, and normalization may expand a character to 18 bytes.
constexpr size_t kMaxTokenizedBytes = size_t{64} << 20;

std::unique_ptr<TokenModel> segmentation_model(SentencePieceModelType type,
                                               std::shared_ptr<const SentencePieceVocabulary> vocabulary) {
  switch (type) {
    case SentencePieceModelType::kUnigram:
      return sentencepiece_unigram_model(std::move(vocabulary));
    case SentencePieceModelType::kBpe:
    case SentencePieceModelType::kChar:
      return sentencepiece_bpe_model(std::move(vocabulary), type == SentencePieceModelType::kBpe);
    case SentencePieceModelType::kWord:
      return sentencepiece_word_model(std::move(vocabulary));
  }
  HEED_CHECK(false);
}

}  // namespace

struct SentencePieceModel::Implementation {
  Implementation(std::string content, const std::string& name)
      : Implementation(read_sentencepiece_file(content, name), name) {
    bytes = std::move(content);
  }
  Implementation(SentencePieceFile file, const std::string& name)
      : type(file.type),
        keeps_text(file.keeps_text()),
        vocabulary(std::make_shared<const SentencePieceVocabulary>(name, std::move(file.pieces),
                                                                   file.byte_fallback)),
        normalizer(file.normalizer, vocabulary->symbols()),
        model(segmentation_model(file.type, vocabulary)),
        unknown_surface(std::move(file.unknown_surface)),
        strips_space(file.normalizer.adds_space || file.normalizer.removes_spaces),
        strips_spaces(file.normalizer.removes_spaces) {
    if (!file.denormalizer.charsmap.empty()) denormalizer.emplace(file.denormalizer);
    const auto special = [&](const std::string& text, SentencePieceType wanted) {
      const int32_t id = vocabulary->id(text);
      return (*vocabulary)[id].type == wanted ? id : -1;
    };
    start = special(file.start, SentencePieceType::kControl);
    end = special(file.end, SentencePieceType::kControl);
    unknown = special(file.unknown, SentencePieceType::kUnknown);
  }

  std::vector<ModelToken> tokens(std::string_view text) const;
  std::vector<Piece> pieces_of(const AlignedText& text, const std::vector<ModelToken>& tokens) const;

  SentencePieceModelType type;
  bool keeps_text;
  std::shared_ptr<const SentencePieceVocabulary> vocabulary;
  SentencePieceNormalizer normalizer;
  std::optional<SentencePieceNormalizer> denormalizer;
  std::unique_ptr<const TokenModel> model;
  std::string unknown_surface;
  bool strips_space, strips_spaces;  // from the beginning of decoded text: one space, or all
  int32_t start = -1, end = -1, unknown = -1;
  std::string bytes;

 private:
  mutable TokenCaches caches_;
};

namespace {

AlignedText normalized(const SentencePieceNormalizer& normalizer, std::string_view text) {
  if (text.size() > kMaxTokenizedBytes) {
    fail(ErrorKind::kText, "a text of {} MiB is too long to tokenize at once; split it into lines",
         text.size() >> 20);
  }
  return normalizer.normalize(text);
}

/// Samples an index with probability proportional to exp(alpha * score).
size_t draw(const std::vector<double>& scores, double alpha, Random& random) {
  const double best = *std::max_element(scores.begin(), scores.end());
  std::vector<double> weights;
  double sum = 0;
  for (const double score : scores) sum += weights.emplace_back(std::exp(alpha * (score - best)));
  double rest = random.uniform() * sum;
  for (size_t n = 0; n + 1 < weights.size(); ++n) {
    if (rest < weights[n]) return n;
    rest -= weights[n];
  }
  return weights.size() - 1;
}

/// Samples another segmentation of the same normalized text, given the best one. Byte pieces, unknown pieces
/// and user-defined symbols stay unchanged.
std::vector<Piece> resegment(const SentencePieceUnigram& model, const SentencePieceVocabulary& vocabulary,
                             const std::vector<Piece>& best, double alpha, Random& random) {
  const auto is_ordinary = [&](const Piece& piece) {
    return vocabulary[piece.number].type == SentencePieceType::kNormal;
  };
  std::vector<Piece> drawn;
  for (auto piece = best.begin(); piece != best.end();) {
    if (!is_ordinary(*piece)) {
      drawn.push_back(*piece++);
      continue;
    }
    std::string text;
    std::vector<const Piece*> owners;  // the piece of each byte of the text
    for (; piece != best.end() && is_ordinary(*piece); ++piece) {
      text += piece->text;
      owners.resize(text.size(), &*piece);
    }
    for (const ModelToken& token : model.sample(text, alpha, random)) {
      drawn.push_back(
          {vocabulary[token.id].text, owners[token.begin]->begin, owners[token.end - 1]->end, token.id});
    }
  }
  return drawn;
}

}  // namespace

std::vector<ModelToken> SentencePieceModel::Implementation::tokens(std::string_view text) const {
  std::vector<ModelToken> tokens;
  if (!model->is_slow()) {
    if (!text.empty()) model->tokenize(text, tokens);
    return tokens;
  }
  const TokenCaches::Loan cache(caches_);
  std::vector<ModelToken> fresh;
  for (uint32_t begin = 0; begin < text.size();) {
    const std::string_view rest = text.substr(begin);
    const std::string_view part = rest.substr(0, model->first_part(rest));
    std::span<const ModelToken> found = (*cache).find(part);
    if (found.empty()) {
      fresh.clear();
      model->tokenize(part, fresh);
      (*cache).insert(part, fresh);
      found = fresh;
    }
    for (ModelToken token : found) {
      token.begin += begin;
      token.end += begin;
      tokens.push_back(token);
    }
    begin += static_cast<uint32_t>(part.size());
  }
  return tokens;
}

std::vector<Piece> SentencePieceModel::Implementation::pieces_of(
    const AlignedText& text, const std::vector<ModelToken>& tokens) const {
  std::vector<Piece> pieces;
  pieces.reserve(tokens.size());
  for (const ModelToken& token : tokens) {
    const size_t begin = text.origin(token.begin).begin;
    const size_t behind = token.end > token.begin ? text.origin(token.end - 1).end : begin;
    pieces.push_back(
        {token.unknown ? std::string(text.text(token.begin, token.end)) : (*vocabulary)[token.id].text, begin,
         behind, token.id});
  }
  return pieces;
}

SentencePieceModel SentencePieceModel::load(const std::string& path) {
  return from_bytes(read_tokenizer_file(path), path);
}

SentencePieceModel SentencePieceModel::from_bytes(std::string bytes, const std::string& name) {
  return SentencePieceModel(std::make_shared<const Implementation>(std::move(bytes), name));
}

std::vector<Piece> SentencePieceModel::encode(std::string_view text) const {
  const AlignedText aligned = normalized(implementation_->normalizer, text);
  return implementation_->pieces_of(aligned, implementation_->tokens(aligned.text()));
}

std::vector<std::vector<Piece>> SentencePieceModel::sample(std::string_view text,
                                                           const SubwordSampling& sampling,
                                                           Random& random) const {
  const auto& [alpha, nbest, draws] = sampling;
  constexpr int kMaxNbest = 1024;
  if (nbest < 0 || nbest > kMaxNbest) {
    fail(ErrorKind::kUsage,
         "subword regularization samples from the 1 to {} best segmentations, or from all (0), not from {}",
         kMaxNbest, nbest);
  }
  if (!(alpha >= 0) || !std::isfinite(alpha)) {
    fail(ErrorKind::kUsage, "the alpha of subword regularization must be at least 0, not {}", alpha);
  }
  const auto* unigram = dynamic_cast<const SentencePieceUnigram*>(implementation_->model.get());
  if (unigram == nullptr) {
    fail(ErrorKind::kUsage, "subword regularization needs a unigram model, which {} is not: turn it off",
         implementation_->vocabulary->name());
  }
  std::vector<std::vector<Piece>> drawn(static_cast<size_t>(draws));
  if (nbest == 0) {
    const std::vector<Piece> best = encode(text);
    for (auto& cut : drawn) cut = resegment(*unigram, *implementation_->vocabulary, best, alpha, random);
    return drawn;
  }
  const AlignedText aligned = normalized(implementation_->normalizer, text);
  const std::vector<ScoredSegments> candidates =
      aligned.empty() ? std::vector<ScoredSegments>(1)
                      : unigram->best(aligned.text(), static_cast<size_t>(nbest));
  std::vector<double> scores;
  for (const ScoredSegments& candidate : candidates) scores.push_back(candidate.score);
  for (auto& cut : drawn)
    cut = implementation_->pieces_of(aligned, candidates[draw(scores, alpha, random)].tokens);
  return drawn;
}

namespace {

/// Appends the characters that bytes spell; an invalid byte becomes U+FFFD.
void append_bytes(std::string_view bytes, std::string& text) {
  for (size_t at = 0; at < bytes.size();) {
    const size_t length = length_of_valid_character(bytes, at);
    text += length == 0 ? std::string_view("\uFFFD") : bytes.substr(at, length);
    at += std::max<size_t>(length, 1);
  }
}

}  // namespace

std::string SentencePieceModel::decode(const std::vector<std::string>& pieces) const {
  const SentencePieceVocabulary& vocabulary = *implementation_->vocabulary;
  std::string text, bytes;
  bool at_beginning = true;  // whether a mark of a space is that of the beginning, which decodes to nothing
  bool stripped = false;     // whether the piece before had it
  for (const std::string& piece : pieces) {
    if (piece.empty()) continue;
    const int32_t id = vocabulary.id(piece);
    if (const int byte = vocabulary.byte_of(id); byte >= 0) {
      bytes.push_back(static_cast<char>(byte));
      continue;
    }
    append_bytes(std::exchange(bytes, {}), text);
    if (stripped || !text.empty()) at_beginning = false;
    stripped = false;
    if (vocabulary[id].type == SentencePieceType::kControl) continue;
    if (id == vocabulary.unknown()) {
      text += piece == vocabulary[id].text ? implementation_->unknown_surface : piece;
      continue;
    }
    std::string_view rest = piece;
    if (at_beginning && implementation_->strips_space && rest.starts_with(kSpaceMark)) {
      rest.remove_prefix(kSpaceMark.size());
      stripped = !implementation_->strips_spaces;
    }
    text += marks_to_spaces(rest);
  }
  append_bytes(bytes, text);
  if (implementation_->denormalizer) text = implementation_->denormalizer->normalize(text).text();
  return replace_invalid_utf8(text);
}

int SentencePieceModel::size() const {
  return implementation_->vocabulary->size();
}

const std::string& SentencePieceModel::piece(int number) const {
  HEED_CHECK(number >= 0 && number < size());
  return (*implementation_->vocabulary)[number].text;
}

bool SentencePieceModel::is_special(int number) const {
  HEED_CHECK(number >= 0 && number < size());
  const SentencePieceType type = (*implementation_->vocabulary)[number].type;
  return type == SentencePieceType::kControl || type == SentencePieceType::kUnknown;
}

int SentencePieceModel::byte_of(int number) const {
  HEED_CHECK(number >= 0 && number < size());
  return implementation_->vocabulary->byte_of(number);
}

float SentencePieceModel::score(int number) const {
  HEED_CHECK(number >= 0 && number < size());
  return (*implementation_->vocabulary)[number].score;
}

SubwordType SentencePieceModel::type() const {
  return implementation_->type == SentencePieceModelType::kUnigram ? SubwordType::kUnigram
                                                                   : SubwordType::kBpe;
}

bool SentencePieceModel::keeps_text() const {
  return implementation_->keeps_text;
}

int SentencePieceModel::start() const {
  return implementation_->start;
}

int SentencePieceModel::end() const {
  return implementation_->end;
}

int SentencePieceModel::unknown() const {
  return implementation_->unknown;
}

const std::string& SentencePieceModel::bytes() const {
  return implementation_->bytes;
}

}  // namespace heed
