#include "text/sentencepiece_check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "base/check.h"
#include "text/charsmap_check.h"
#include "text/sentencepiece_fields.h"
#include "text/utf8.h"
#include "text/wire_format.h"

namespace heed {
namespace {

// The largest known models have a quarter of a million pieces and 5 MB.
constexpr size_t kMaxModelBytes = size_t{64} << 20;
constexpr size_t kMaxNestedSymbols = 64;  // the size of PrefixMatcher's table of results

// The library recurses for each byte of a piece when it builds its trie and splits unused BPE pieces. Pieces
// of real models have at most some tens of bytes.
constexpr size_t kMaxPieceBytes = 4096;

using sentencepiece_proto::ModelField;
using sentencepiece_proto::NormalizerField;
using sentencepiece_proto::PieceField;
using sentencepiece_proto::PieceType;
using sentencepiece_proto::TrainerField;

class ModelCheck {
 public:
  ModelCheck(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  SentencePieceModelFacts check() {
    if (bytes_.empty()) broken("it is empty");
    if (bytes_.size() > kMaxModelBytes) broken(fmt::format("it has more than {} MiB", kMaxModelBytes >> 20));
    for_each_field(bytes_, [&](const WireField& field) {
      if (field.type != WireField::kBytes) return;
      if (field.number == ModelField::kPieces) check_piece(field.bytes);
      has_trainer_ |= field.number == ModelField::kTrainerSpec;
      has_normalizer_ |= field.number == ModelField::kNormalizerSpec;
      if (field.number == ModelField::kTrainerSpec) check_trainer(field.bytes);
      if (field.number == ModelField::kNormalizerSpec) check_normalizer(field.bytes);
      if (field.number == ModelField::kDenormalizerSpec) check_charsmap(field.bytes);
    });
    if (pieces_ == 0) broken("it has no pieces");
    // They follow the pieces, so a file truncated between two pieces lacks them.
    if (!has_trainer_ || !has_normalizer_)
      broken(fmt::format("it has no settings of the {}; it may be truncated",
                         has_trainer_ ? "normalizer" : "trainer"));
    check_nesting();
    const bool keeps_text = !has_charsmap_ && adds_space_ && !removes_spaces_ && marks_spaces_ &&
                            !marks_suffixes_ && byte_fallback_ && !has_odd_pieces_;
    return {type_, keeps_text, std::move(ordinary_)};
  }

 private:
  [[noreturn]] void broken(std::string_view what) const {
    fail(ErrorKind::kFormat, "{} is not a valid SentencePiece model: {}. Download or train it again", name_,
         what);
  }

  template <typename Visit>
  void for_each_field(std::string_view message, const Visit& visit) const {
    WireReader reader(message);
    while (const std::optional<WireField> field = reader.next()) visit(*field);
    if (!reader.intact()) broken("it is damaged or truncated");
  }

  void check_piece(std::string_view message) {
    std::string_view text;
    uint64_t type = PieceType::kNormal;
    float score = 0;
    for_each_field(message, [&](const WireField& field) {
      if (field.number == PieceField::kText && field.type == WireField::kBytes) text = field.bytes;
      if (field.number == PieceField::kScore && field.type == WireField::kFixed32) {
        score = std::bit_cast<float>(static_cast<uint32_t>(field.value));
      }
      if (field.number == PieceField::kType && field.type == WireField::kVarint) type = field.value;
    });
    const size_t number = pieces_++;
    if (text.empty()) broken(fmt::format("piece {} is empty", number));
    if (text.size() > kMaxPieceBytes)
      broken(fmt::format("piece {} has {} bytes, more than {}", number, text.size(), kMaxPieceBytes));
    if (find_invalid_utf8(text)) broken(fmt::format("piece {} is not valid UTF-8", number));
    if (text.find('\0') != std::string_view::npos)
      broken(fmt::format("piece {} contains a zero byte", number));
    if (!std::isfinite(score)) broken(fmt::format("the score of piece {} is not a finite number", number));
    if (type < PieceType::kFirst || type > PieceType::kLast)
      broken(fmt::format("piece {} is of unknown type {}", number, type));
    if (type == PieceType::kUserDefined) user_symbols_.push_back(text);
    ordinary_.push_back(type == PieceType::kNormal);
    has_odd_pieces_ |= type == PieceType::kUserDefined || type == PieceType::kUnused;
  }

  void check_trainer(std::string_view message) {
    for_each_field(message, [&](const WireField& field) {
      if (field.type != WireField::kVarint) return;
      if (field.number == TrainerField::kSuffixMarks) marks_suffixes_ = field.value != 0;
      if (field.number == TrainerField::kByteFallback) byte_fallback_ = field.value != 0;
      if (field.number != TrainerField::kModelType) return;
      if (field.value < static_cast<uint64_t>(SentencePieceModelType::kUnigram) ||
          field.value > static_cast<uint64_t>(SentencePieceModelType::kChar)) {
        broken(fmt::format("model type {} is unknown", field.value));
      }
      type_ = static_cast<SentencePieceModelType>(field.value);
    });
  }

  void check_normalizer(std::string_view message) {
    for_each_field(message, [&](const WireField& field) {
      if (field.type == WireField::kVarint) {
        if (field.number == NormalizerField::kAddsSpace) adds_space_ = field.value != 0;
        if (field.number == NormalizerField::kRemovesSpaces) removes_spaces_ = field.value != 0;
        if (field.number == NormalizerField::kMarksSpaces) marks_spaces_ = field.value != 0;
      }
    });
    check_charsmap(message);
  }

  /// Checks the table of a normalizer or denormalizer.
  void check_charsmap(std::string_view message) {
    for_each_field(message, [&](const WireField& field) {
      if (field.number != NormalizerField::kCharsmap || field.type != WireField::kBytes ||
          field.bytes.empty())
        return;
      has_charsmap_ = true;
      const std::string fault = find_charsmap_fault(field.bytes);
      if (!fault.empty()) broken("normalization table: " + fault);
    });
  }

  /// Limits the number of user-defined symbols that are prefixes of one another: in sorted order, a symbol
  /// follows its prefixes.
  void check_nesting() {
    std::sort(user_symbols_.begin(), user_symbols_.end());
    std::vector<std::string_view> open;
    for (const std::string_view symbol : user_symbols_) {
      while (!open.empty() && !symbol.starts_with(open.back())) open.pop_back();
      open.push_back(symbol);
      if (open.size() > kMaxNestedSymbols)
        broken("too many of its user-defined symbols are prefixes of one another");
    }
  }

  std::string_view bytes_, name_;
  size_t pieces_ = 0;
  bool has_trainer_ = false, has_normalizer_ = false;
  // The library's defaults.
  bool adds_space_ = true, removes_spaces_ = true, marks_spaces_ = true, has_charsmap_ = false;
  bool marks_suffixes_ = false, byte_fallback_ = false, has_odd_pieces_ = false;
  SentencePieceModelType type_ = SentencePieceModelType::kUnigram;
  std::vector<std::string_view> user_symbols_;
  std::vector<bool> ordinary_;
};

}  // namespace

SentencePieceModelFacts check_sentencepiece_model(std::string_view bytes, std::string_view name) {
  return ModelCheck(bytes, name).check();
}

}  // namespace heed
