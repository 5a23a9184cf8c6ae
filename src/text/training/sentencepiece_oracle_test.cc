// SentencePieceModel equals the SentencePiece library: pieces, ids, spans, decoded text, and n-best lists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <bit>
#include <sstream>

#include "base/files/file.h"
#include "text/pipeline/segmentation/sentencepiece_vocabulary.h"
#include "text/readers/sentencepiece_file.h"
#include "text/test_cases.h"
#include "text/tokenizers/test_text.h"
#include "text/training/test_sentencepiece_model.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

/// A model in both implementations.
class BothModels {
 public:
  explicit BothModels(const std::string& bytes) : model_(SentencePieceModel::from_bytes(bytes, "test")) {
    if (!oracle_.LoadFromSerializedProto(bytes).ok()) throw std::runtime_error("the library refuses it");
  }

  /// Compares everything for a text.
  void compare(const std::string& text) const {
    sentencepiece::ImmutableSentencePieceText expected;
    ASSERT_TRUE(oracle_.Encode(text, expected.mutable_proto()).ok());
    const std::vector<Piece> pieces = model_.encode(text);
    ASSERT_EQ(shown(pieces), shown(expected)) << testing::PrintToString(text);
    std::vector<std::string> texts;
    for (const Piece& piece : pieces) texts.push_back(piece.text);
    compare_decoded(texts);
  }

  void compare_decoded(const std::vector<std::string>& pieces) const {
    std::string decoded;
    ASSERT_TRUE(oracle_.Decode(pieces, &decoded).ok());
    ASSERT_EQ(model_.decode(pieces), replace_invalid_utf8(decoded)) << testing::PrintToString(pieces);
  }

  void compare_nbest(const std::string& text, int n) const {
    sentencepiece::ImmutableNBestSentencePieceText expected;
    ASSERT_TRUE(oracle_.NBestEncode(text, n, expected.mutable_proto()).ok());
    const SentencePieceFile file = read_sentencepiece_file(model_.bytes(), "test");
    const auto vocabulary =
        std::make_shared<const SentencePieceVocabulary>("test", file.pieces, file.byte_fallback);
    const AlignedText normal =
        SentencePieceNormalizer(file.normalizer, vocabulary->symbols()).normalize(text);
    if (normal.empty()) return;
    const auto found = sentencepiece_unigram_model(vocabulary)->best(normal.text(), static_cast<size_t>(n));
    ASSERT_EQ(found.size(), expected.nbests_size());
    for (size_t k = 0; k < found.size(); ++k) {
      ASSERT_EQ(found[k].score, expected.nbests(static_cast<int>(k)).score());
      std::vector<int32_t> ids, expected_ids;
      for (const ModelToken& token : found[k].tokens) ids.push_back(token.id);
      for (const auto& piece : expected.nbests(static_cast<int>(k)).pieces())
        expected_ids.push_back(static_cast<int32_t>(piece.id()));
      ASSERT_EQ(ids, expected_ids) << "the " << k + 1 << "th of " << testing::PrintToString(text);
    }
  }

  /// Texts that are hard in one way or another, and combinations of random ones.
  void compare_odd_texts(int count) const {
    for (const std::string& text : odd_texts()) ASSERT_NO_FATAL_FAILURE(compare(text));
    Random random(RandomKey::from_seed(7));
    const auto symbols = read_sentencepiece_file(model_.bytes(), "test").pieces;
    for (int n = 0; n < count; ++n) {
      std::string text = random_text(random, 20);
      for (uint64_t k = random.below(4); k > 0; --k) {
        // Pieces of the model, invalid bytes, and the mark of a space.
        text.insert(random.below(text.size() + 1), symbols[random.below(symbols.size())].text);
        if (random.below(3) == 0)
          text.insert(random.below(text.size() + 1), 1, static_cast<char>(random.below(256)));
      }
      ASSERT_NO_FATAL_FAILURE(compare(text));
    }
    std::vector<std::string> pieces;
    for (int n = 0; n < count; ++n) {
      if (random.below(8) == 0) pieces.clear();
      pieces.push_back(symbols[random.below(symbols.size())].text);
      if (random.below(8) == 0) pieces.push_back("▁" + random_text(random, 3) + "x");
      if (random.below(16) == 0) pieces.push_back("\xE2\x98");
      ASSERT_NO_FATAL_FAILURE(compare_decoded(pieces));
    }
  }

  const SentencePieceModel& model() const { return model_; }

 private:
  static std::vector<std::string> odd_texts() {
    std::vector<std::string> texts{"",
                                   " ",
                                   "  \t ",
                                   "▁",
                                   "▁▁a▁ ▁",
                                   std::string("a\0b", 3),
                                   std::string(1, '\0'),
                                   "\xFF",
                                   "\xE2\x98",
                                   "\xE2\x98 \xC0\x80 \xED\xA0\x80 \xF4\x90\x80\x80 \xF0\x9F\x98",
                                   "\uFFFD",
                                   "\uFEFFa",
                                   "a\u200Bb\u00ADc\u200Dd",
                                   "e\u0301\u0301\u0323 o\u0308 \u0301",
                                   "ﬁne ﬀ ½ ² Å ㌀ ﷺ ﷺ",
                                   "ＡＢＣ　ａｂｃ",
                                   "각 각 ᄀ",
                                   "😀👩‍👩‍👧🇩🇪❤️",
                                   "\x01\x7F\u0085\u2028\u2029",
                                   "<s> </s> <unk> <0x41> <pad>",
                                   "STRASSE straße İı ΑΣ",
                                   "https://example.org/a?b=c&d=%20#e",
                                   "12345678901234567890",
                                   "日本語のテキスト。家"};
    std::string all;
    for (const std::string& text : texts) all += text + " ";
    texts.push_back(all);
    texts.emplace_back(3000, 'a');
    texts.emplace_back(3000, ' ');
    std::string houses;
    for (int n = 0; n < 400; ++n) houses += n % 7 == 0 ? " große Häuser" : "haus";
    texts.push_back(houses);
    for (char32_t c = 1; c < 0x3200; ++c) {
      if (c % 64 == 1) texts.emplace_back();
      append_utf8(texts.back(), c);
    }
    return texts;
  }

  static std::string shown(const std::vector<Piece>& pieces) {
    std::ostringstream out;
    for (const auto& [text, begin, end, number] : pieces)
      out << number << " '" << text << "' " << begin << '-' << end << '\n';
    return out.str();
  }
  static std::string shown(const sentencepiece::ImmutableSentencePieceText& encoded) {
    std::ostringstream out;
    for (const auto& piece : encoded.pieces())
      out << piece.id() << " '" << piece.piece() << "' " << piece.begin() << '-' << piece.end() << '\n';
    return out.str();
  }

  SentencePieceModel model_;
  sentencepiece::SentencePieceProcessor oracle_;
};

std::string trained(const SentencePieceTrainOptions& options) {
  return SentencePieceModel::train(options, reader_of(artificial_lines(400)));
}

/// A field of a message.
std::string message_field(uint32_t number, const std::string& content) {
  std::string text;
  const auto varint = [&](size_t value) {
    for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
    text += static_cast<char>(value);
  };
  varint(number << 3 | 2);
  varint(content.size());
  return text + content;
}

/// Settings that follow others replace them.
std::string as_type(const std::string& bytes, SentencePieceModelType type) {
  return bytes + message_field(2, std::string("\x18") + static_cast<char>(type));
}
std::string with_suffix_marks(const std::string& bytes) {
  return bytes + message_field(2, "\xC0\x01\x01");
}

/// A model with other pieces.
std::string with_pieces(const std::string& bytes, const std::vector<SentencePieceEntry>& pieces,
                        SentencePieceModelType type) {
  std::string result;
  for (const auto& [text, score, kind] : pieces) {
    std::string bits;
    for (int shift = 0; shift < 32; shift += 8)
      bits += static_cast<char>(std::bit_cast<uint32_t>(score) >> shift & 0xFF);
    result += message_field(1, message_field(1, text) + "\x15" + bits + "\x18" + static_cast<char>(kind));
  }
  const SentencePieceFile file = read_sentencepiece_file(bytes, "test");
  const auto flag = [](char tag, bool value) { return std::string(1, tag) + static_cast<char>(value); };
  return result +
         message_field(2, std::string("\x18") + static_cast<char>(type) + "\x98\x02" +
                              static_cast<char>(file.byte_fallback)) +
         message_field(3, message_field(2, file.normalizer.charsmap) +
                              flag(0x18, file.normalizer.adds_space) +
                              flag(0x20, file.normalizer.removes_spaces));
}

TEST(SentencePieceOracle, TrainedModels) {
  for (const auto type : {SubwordType::kUnigram, SubwordType::kBpe}) {
    for (const auto normalization :
         {TextNormalization::kNmtNfkc, TextNormalization::kNfkc, TextNormalization::kNmtNfkcCf,
          TextNormalization::kNfkcCf, TextNormalization::kIdentity}) {
      for (const bool byte_fallback : {false, true}) {
        SentencePieceTrainOptions options{.type = type,
                                          .vocabulary_size = 370,
                                          .byte_fallback = byte_fallback,
                                          .normalization = normalization};
        options.keep_spaces = normalization == TextNormalization::kNfkc;
        if (normalization == TextNormalization::kNmtNfkc)
          options.symbols = {"\u27e60\u27e7", "a\u27e7", "<x>", "▁ü", "日本語"};
        ASSERT_NO_FATAL_FAILURE(BothModels(trained(options)).compare_odd_texts(300));
      }
    }
  }
}

TEST(SentencePieceOracle, OtherTypesAndSettings) {
  for (const auto type : {SubwordType::kUnigram, SubwordType::kBpe}) {
    for (const bool byte_fallback : {false, true}) {
      SentencePieceTrainOptions options{.type = type, .vocabulary_size = 370, .byte_fallback = byte_fallback};
      options.symbols = {"<x>"};
      const std::string bytes = trained(options);
      const std::string charsmap = read_sentencepiece_file(bytes, "test").normalizer.charsmap;
      for (const auto other : {SentencePieceModelType::kChar, SentencePieceModelType::kWord})
        ASSERT_NO_FATAL_FAILURE(BothModels(as_type(bytes, other)).compare_odd_texts(100));
      ASSERT_NO_FATAL_FAILURE(BothModels(with_suffix_marks(bytes)).compare_odd_texts(100));
      ASSERT_NO_FATAL_FAILURE(
          BothModels(bytes + message_field(5, message_field(2, charsmap))).compare_odd_texts(100));
      for (const std::string& off : {std::string("\x18\0", 2), std::string("\x20\0", 2),
                                     std::string("\x28\0", 2), std::string("\x18\0\x20\0\x28\0", 6)})
        ASSERT_NO_FATAL_FAILURE(BothModels(bytes + message_field(3, off)).compare_odd_texts(100));
      const std::string surface = message_field(2, "\xE2\x02\x03[?]");
      ASSERT_NO_FATAL_FAILURE(BothModels(bytes + surface).compare_odd_texts(100));
    }
  }
}

TEST(SentencePieceOracle, UnusualPieces) {
  for (const auto type : {SubwordType::kUnigram, SubwordType::kBpe}) {
    for (const bool byte_fallback : {false, true}) {
      const std::string bytes =
          trained({.type = type, .vocabulary_size = 370, .byte_fallback = byte_fallback});
      const SentencePieceFile file = read_sentencepiece_file(bytes, "test");
      for (uint64_t seed = 1; seed <= 6; ++seed) {
        Random random(RandomKey::from_seed(seed));
        std::vector<SentencePieceEntry> pieces = file.pieces;
        for (SentencePieceEntry& piece : pieces) {
          if (piece.type != SentencePieceType::kNormal) continue;
          if (random.below(6) == 0) piece.type = SentencePieceType::kUnused;
          if (random.below(20) == 0) piece.type = SentencePieceType::kSymbol;
          if (seed % 2 == 0) piece.score = static_cast<float>(random.below(4)) - 3;  // ties
        }
        pieces.push_back({"e ▁a", -1.0F, SentencePieceType::kNormal});
        pieces.push_back({"s▁a", -1.0F, SentencePieceType::kNormal});
        ASSERT_NO_FATAL_FAILURE(BothModels(with_pieces(bytes, pieces, file.type)).compare_odd_texts(150));
      }
    }
  }
}

TEST(SentencePieceOracle, NbestLists) {
  for (const bool byte_fallback : {false, true}) {
    SentencePieceTrainOptions options{.vocabulary_size = 370, .byte_fallback = byte_fallback};
    options.symbols = {"<x>", "日本語"};
    const BothModels pair(trained(options));
    Random random(RandomKey::from_seed(3));
    for (int n = 0; n < 60; ++n) ASSERT_NO_FATAL_FAILURE(pair.compare_nbest(random_text(random, 12), 64));
    for (const std::string& line : artificial_lines(30, 9))
      ASSERT_NO_FATAL_FAILURE(
          pair.compare_nbest(line, std::min(1024, 2 + static_cast<int>(line.size()) * 20)));
    // So many that the agenda is cut.
    std::string houses;
    for (int n = 0; n < 60; ++n) houses += "smallest houses <x> walking größer ";
    ASSERT_NO_FATAL_FAILURE(pair.compare_nbest(houses, 1024));
  }
}

/// Whatever models and lines are at hand: HEED_ORACLE_LINES is a file.
TEST(SentencePieceOracle, ModelsAtHand) {
  const char* lines_file = std::getenv("HEED_ORACLE_LINES");
  std::vector<std::string> lines = artificial_lines(50, 5);
  if (lines_file != nullptr) {
    std::istringstream in(read_file(lines_file));
    for (std::string line; std::getline(in, line);) lines.push_back(line);
  }
  size_t models = 0;
  for (const auto& folder :
       {std::filesystem::path(source_folder()) / "models", fixtures_folder(), families_folder()}) {
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string extension = entry.path().extension().string();
      if (!entry.is_regular_file() || (extension != ".spm" && extension != ".model")) continue;
      SCOPED_TRACE(entry.path().string());
      const BothModels pair(read_file(entry.path().string()));
      ++models;
      ASSERT_NO_FATAL_FAILURE(pair.compare_odd_texts(50));
      for (const std::string& line : lines) ASSERT_NO_FATAL_FAILURE(pair.compare(line));
    }
  }
  if (models == 0) GTEST_SKIP() << "no models";
}

}  // namespace
}  // namespace heed
