#include "text/readers/sentencepiece_file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "base/check.h"
#include "text/pipeline/normalization/charsmap_check.h"
#include "text/pipeline/segmentation/byte_piece.h"
#include "text/readers/sentencepiece_fields.h"
#include "text/readers/tokenizer_file.h"
#include "text/readers/wire_format.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

// The largest known models have a quarter of a million pieces and 5 MB.
constexpr size_t kMaxModelBytes = size_t{64} << 20;
constexpr size_t kMaxNestedSymbols = 64;  // of the library, too

// Pieces of real models have at most some tens of bytes, and lattices of texts as many pieces per character.
constexpr size_t kMaxPieceBytes = 4096;
constexpr size_t kMaxPieces = size_t{1} << 22;

using sentencepiece_proto::ModelField;
using sentencepiece_proto::NormalizerField;
using sentencepiece_proto::PieceField;
using sentencepiece_proto::TrainerField;

class Reader {
 public:
  Reader(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  SentencePieceFile read() {
    if (bytes_.empty()) broken("it is empty");
    if (bytes_.size() > kMaxModelBytes) broken(fmt::format("it has more than {} MiB", kMaxModelBytes >> 20));
    bool has_trainer = false, has_normalizer = false;
    for_each_field(bytes_, [&](const WireField& field) {
      if (field.type != WireField::kBytes) return;
      if (field.number == ModelField::kPieces) read_piece(field.bytes);
      has_trainer |= field.number == ModelField::kTrainerSpec;
      has_normalizer |= field.number == ModelField::kNormalizerSpec;
      if (field.number == ModelField::kTrainerSpec) read_trainer(field.bytes);
      if (field.number == ModelField::kNormalizerSpec) read_normalizer(field.bytes, file_.normalizer);
      if (field.number == ModelField::kDenormalizerSpec) read_normalizer(field.bytes, file_.denormalizer);
    });
    if (file_.pieces.empty()) broken("it has no pieces");
    // They follow the pieces, so a file truncated between two pieces lacks them.
    if (!has_trainer || !has_normalizer)
      broken(fmt::format("it has no settings of the {}; it may be truncated",
                         has_trainer ? "normalizer" : "trainer"));
    check_nesting();
    return std::move(file_);
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

  void read_piece(std::string_view message) {
    const size_t number = file_.pieces.size();
    if (number == kMaxPieces) broken(fmt::format("it has more than {} pieces", kMaxPieces));
    std::string_view text;
    uint64_t type = static_cast<uint64_t>(SentencePieceType::kNormal);
    float score = 0;
    for_each_field(message, [&](const WireField& field) {
      if (field.number == PieceField::kText && field.type == WireField::kBytes) text = field.bytes;
      if (field.number == PieceField::kScore && field.type == WireField::kFixed32) {
        score = std::bit_cast<float>(static_cast<uint32_t>(field.value));
      }
      if (field.number == PieceField::kType && field.type == WireField::kVarint) type = field.value;
    });
    if (text.empty()) broken(fmt::format("piece {} is empty", number));
    if (text.size() > kMaxPieceBytes)
      broken(fmt::format("piece {} has {} bytes, more than {}", number, text.size(), kMaxPieceBytes));
    if (find_invalid_utf8(text)) broken(fmt::format("piece {} is not valid UTF-8", number));
    if (text.find('\0') != std::string_view::npos)
      broken(fmt::format("piece {} contains a zero byte", number));
    if (!std::isfinite(score)) broken(fmt::format("the score of piece {} is not a finite number", number));
    if (type < static_cast<uint64_t>(SentencePieceType::kNormal) ||
        type > static_cast<uint64_t>(SentencePieceType::kByte))
      broken(fmt::format("piece {} is of unknown type {}", number, type));
    file_.pieces.push_back({std::string(text), score, static_cast<SentencePieceType>(type)});
  }

  void read_trainer(std::string_view message) {
    for_each_field(message, [&](const WireField& field) {
      if (field.type == WireField::kBytes) read_trainer_text(field);
      if (field.type != WireField::kVarint) return;
      if (field.number == TrainerField::kSuffixMarks) file_.normalizer.adds_space_behind = field.value != 0;
      if (field.number == TrainerField::kByteFallback) file_.byte_fallback = field.value != 0;
      if (field.number != TrainerField::kModelType) return;
      if (field.value < static_cast<uint64_t>(SentencePieceModelType::kUnigram) ||
          field.value > static_cast<uint64_t>(SentencePieceModelType::kChar)) {
        broken(fmt::format("model type {} is unknown", field.value));
      }
      file_.type = static_cast<SentencePieceModelType>(field.value);
    });
  }

  void read_trainer_text(const WireField& field) {
    const auto read = [&](uint32_t number, std::string& text) {
      if (field.number == number && !field.bytes.empty()) text = field.bytes;
    };
    read(TrainerField::kUnknown, file_.unknown);
    read(TrainerField::kStart, file_.start);
    read(TrainerField::kEnd, file_.end);
    if (field.number == TrainerField::kUnknownSurface)
      file_.unknown_surface = field.bytes.substr(0, field.bytes.find('\0'));
  }

  void read_normalizer(std::string_view message, SentencePieceNormalizerOptions& options) const {
    for_each_field(message, [&](const WireField& field) {
      if (field.type == WireField::kVarint) {
        if (field.number == NormalizerField::kAddsSpace) options.adds_space = field.value != 0;
        if (field.number == NormalizerField::kRemovesSpaces) options.removes_spaces = field.value != 0;
        if (field.number == NormalizerField::kMarksSpaces) options.marks_spaces = field.value != 0;
      } else if (field.number == NormalizerField::kCharsmap && field.type == WireField::kBytes) {
        const std::string fault = field.bytes.empty() ? "" : find_charsmap_fault(field.bytes);
        if (!fault.empty()) broken("normalization table: " + fault);
        options.charsmap = field.bytes;
      }
    });
  }

  /// Limits the number of user-defined symbols that are prefixes of one another: in sorted order, a symbol
  /// follows its prefixes.
  void check_nesting() const {
    std::vector<std::string_view> symbols, open;
    for (const SentencePieceEntry& piece : file_.pieces) {
      if (piece.type == SentencePieceType::kSymbol) symbols.push_back(piece.text);
    }
    std::sort(symbols.begin(), symbols.end());
    for (const std::string_view symbol : symbols) {
      while (!open.empty() && !symbol.starts_with(open.back())) open.pop_back();
      open.push_back(symbol);
      if (open.size() > kMaxNestedSymbols)
        broken("too many of its user-defined symbols are prefixes of one another");
    }
  }

  std::string_view bytes_, name_;
  SentencePieceFile file_;
};

}  // namespace

int SentencePieceFile::byte_of(int32_t id) const {
  return (*this)[id].type == SentencePieceType::kByte ? byte_of_piece((*this)[id].text) : -1;
}

int32_t SentencePieceFile::find(const std::string& text, SentencePieceType wanted) const {
  const auto found = std::ranges::find_if(
      pieces, [&](const SentencePieceEntry& piece) { return piece.type == wanted && piece.text == text; });
  return found == pieces.end() ? -1 : static_cast<int32_t>(found - pieces.begin());
}

bool SentencePieceFile::keeps_text() const {
  const bool has_odd_pieces = std::ranges::any_of(pieces, [](const SentencePieceEntry& piece) {
    return piece.type == SentencePieceType::kSymbol || piece.type == SentencePieceType::kUnused;
  });
  return normalizer.charsmap.empty() && denormalizer.charsmap.empty() && normalizer.adds_space &&
         !normalizer.removes_spaces && normalizer.marks_spaces && !normalizer.adds_space_behind &&
         byte_fallback && !has_odd_pieces;
}

SentencePieceFile read_sentencepiece_file(std::string_view bytes, std::string_view name) {
  return Reader(bytes, name).read();
}

SentencePieceFile read_sentencepiece_file(const std::string& path) {
  return read_sentencepiece_file(read_tokenizer_file(path), path);
}

}  // namespace heed
