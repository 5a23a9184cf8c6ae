#include "text/sentencepiece.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "base/check.h"
#include "text/sentencepiece_check.h"
#include "text/sentencepiece_log.h"
#include "text/subword_lattice.h"
#include "text/tokenizer_file.h"
#include "text/utf8.h"

namespace heed {

struct SentencePieceModel::Implementation {
  sentencepiece::SentencePieceProcessor processor;
  std::string bytes, name;
  SentencePieceModelFacts facts;
  /// Throws kFormat if the library fails with a model that passed all checks.
  void expect_ok(const sentencepiece::util::Status& status, std::string_view action) const {
    if (status.ok()) return;
    fail(ErrorKind::kFormat, "the SentencePiece model {} cannot {}: {}", name, action,
         status.error_message());
  }

  /// The lattice of a unigram model's ordinary pieces, built on first use (only in training).
  const SubwordLattice& lattice() const {
    std::call_once(lattice_made_, [&] {
      std::vector<SubwordLattice::Entry> entries;
      for (int number = 0; number < processor.GetPieceSize(); ++number) {
        if (!facts.ordinary[static_cast<size_t>(number)]) continue;
        entries.push_back({processor.IdToPiece(number), processor.GetScore(number), number});
      }
      lattice_.emplace(std::move(entries));
    });
    return *lattice_;
  }

 private:
  mutable std::once_flag lattice_made_;
  mutable std::optional<SubwordLattice> lattice_;
};

namespace {

// The library uses 32-bit positions, and normalization may expand a character to 18 bytes.
constexpr size_t kMaxTokenizedBytes = size_t{64} << 20;

void check_length(std::string_view text) {
  if (text.size() > kMaxTokenizedBytes) {
    fail(ErrorKind::kText, "a text of {} MiB is too long to tokenize at once; split it into lines",
         text.size() >> 20);
  }
}

std::vector<Piece> pieces_of(const sentencepiece::ImmutableSentencePieceText& encoded) {
  std::vector<Piece> pieces;
  pieces.reserve(encoded.pieces_size());
  for (const auto& piece : encoded.pieces()) {
    pieces.push_back({piece.piece(), piece.begin(), piece.end(), static_cast<int>(piece.id())});
  }
  return pieces;
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
std::vector<Piece> resegment(const SubwordLattice& lattice, const SentencePieceModelFacts& facts,
                             const std::vector<Piece>& best, double alpha, Random& random) {
  const auto is_ordinary = [&](const Piece& piece) {
    return facts.ordinary[static_cast<size_t>(piece.number)];
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
    for (const auto& segment : lattice.sample(text, alpha, random)) {
      drawn.push_back({text.substr(segment.begin, segment.end - segment.begin), owners[segment.begin]->begin,
                       owners[segment.end - 1]->end, segment.number});
    }
  }
  return drawn;
}

}  // namespace

std::string marks_to_spaces(std::string_view text) {
  std::string result;
  size_t begin = 0;
  for (size_t at = text.find(kSpaceMark); at != std::string_view::npos; at = text.find(kSpaceMark, begin)) {
    result.append(text.substr(begin, at - begin)).push_back(' ');
    begin = at + kSpaceMark.size();
  }
  return result.append(text.substr(begin));
}

SentencePieceModel SentencePieceModel::load(const std::string& path) {
  return from_bytes(read_tokenizer_file(path), path);
}

SentencePieceModel SentencePieceModel::from_bytes(std::string bytes, const std::string& name) {
  silence_sentencepiece();
  auto model = std::make_shared<Implementation>();
  model->facts = check_sentencepiece_model(bytes, name);
  model->name = name;
  try {
    model->expect_ok(model->processor.LoadFromSerializedProto(bytes), "be loaded");
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {  // from the library's trie
    fail(ErrorKind::kFormat, "the SentencePiece model {} cannot be loaded: {}", name, error.what());
  }
  model->bytes = std::move(bytes);
  return SentencePieceModel(std::move(model));
}

std::vector<Piece> SentencePieceModel::encode(std::string_view text) const {
  check_length(text);
  sentencepiece::ImmutableSentencePieceText encoded;
  implementation_->expect_ok(implementation_->processor.Encode(text, encoded.mutable_proto()), "encode text");
  return pieces_of(encoded);
}

std::vector<std::vector<Piece>> SentencePieceModel::sample(std::string_view text,
                                                           const SubwordSampling& sampling,
                                                           Random& random) const {
  const auto& [alpha, nbest, draws] = sampling;
  constexpr int kMaxNbest = 1024;  // the library's own limit
  if (nbest < 0 || nbest > kMaxNbest) {
    fail(ErrorKind::kUsage,
         "subword regularization samples from the 1 to {} best segmentations, or from all (0), not from {}",
         kMaxNbest, nbest);
  }
  if (!(alpha >= 0) || !std::isfinite(alpha)) {
    fail(ErrorKind::kUsage, "the alpha of subword regularization must be at least 0, not {}", alpha);
  }
  if (implementation_->facts.type != SentencePieceModelType::kUnigram) {
    fail(ErrorKind::kUsage, "subword regularization needs a unigram model, which {} is not: turn it off",
         implementation_->name);
  }
  check_length(text);
  std::vector<std::vector<Piece>> drawn(static_cast<size_t>(draws));
  if (nbest == 0) {
    const std::vector<Piece> best = encode(text);
    for (auto& cut : drawn)
      cut = resegment(implementation_->lattice(), implementation_->facts, best, alpha, random);
    return drawn;
  }
  sentencepiece::ImmutableNBestSentencePieceText cuts;
  implementation_->expect_ok(implementation_->processor.NBestEncode(text, nbest, cuts.mutable_proto()),
                             "encode text");
  const auto candidates = cuts.nbests();
  std::vector<double> scores;
  for (const auto& candidate : candidates) scores.push_back(candidate.score());
  if (candidates.empty()) return drawn;
  for (auto& cut : drawn) cut = pieces_of(candidates[draw(scores, alpha, random)]);
  return drawn;
}

std::string SentencePieceModel::decode(const std::vector<std::string>& pieces) const {
  std::vector<std::string_view> present;  // the library reads out of bounds for an empty piece
  present.reserve(pieces.size());
  for (const std::string& piece : pieces) {
    if (!piece.empty()) present.push_back(piece);
  }
  std::string text;
  implementation_->expect_ok(implementation_->processor.Decode(present, &text), "decode pieces");
  return replace_invalid_utf8(text);
}

int SentencePieceModel::size() const {
  return implementation_->processor.GetPieceSize();
}

const std::string& SentencePieceModel::piece(int number) const {
  HEED_CHECK(number >= 0 && number < size());
  return implementation_->processor.IdToPiece(number);
}

bool SentencePieceModel::is_special(int number) const {
  HEED_CHECK(number >= 0 && number < size());
  return implementation_->processor.IsControl(number) || implementation_->processor.IsUnknown(number);
}

int SentencePieceModel::byte_of(int number) const {
  HEED_CHECK(number >= 0 && number < size());
  const std::string& text = piece(number);
  int byte = -1;
  if (!implementation_->processor.IsByte(number) || text.size() != 6) return byte;
  const auto [end, error] = std::from_chars(text.data() + 3, text.data() + 5, byte, 16);
  return error == std::errc() && end == text.data() + 5 ? byte : -1;
}

float SentencePieceModel::score(int number) const {
  HEED_CHECK(number >= 0 && number < size());
  return implementation_->processor.GetScore(number);
}

SubwordType SentencePieceModel::type() const {
  return implementation_->facts.type == SentencePieceModelType::kUnigram ? SubwordType::kUnigram
                                                                         : SubwordType::kBpe;
}

bool SentencePieceModel::keeps_text() const {
  return implementation_->facts.keeps_text;
}

int SentencePieceModel::start() const {
  return implementation_->processor.bos_id();
}

int SentencePieceModel::end() const {
  return implementation_->processor.eos_id();
}

int SentencePieceModel::unknown() const {
  return implementation_->processor.unk_id();
}

const std::string& SentencePieceModel::bytes() const {
  return implementation_->bytes;
}

}  // namespace heed
