// Damaged models must be errors: each copy is loaded and used in a child process, which must not crash.
#include "text/readers/sentencepiece_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/file.h"
#include "heed/error.h"
#include "text/pipeline/normalization/charsmap_check.h"
#include "text/test_cases.h"
#include "text/tokenizers/test_text.h"
#include "text/training/test_sentencepiece_model.h"

namespace heed {
namespace {

/// Loads a model and, on success, uses all its functions. All failures must be of type Error.
void use_model(const std::string& bytes) {
  try {
    const SentencePieceModel model = SentencePieceModel::from_bytes(bytes, "damaged");
    Random random(RandomKey::from_seed(1));
    std::vector<std::string> names;
    for (int n = 0; n < model.size(); ++n) names.push_back(model.piece(n));
    for (int n = 0; n < 30; ++n) {
      const std::string text = random_text(random, 30);
      for (const Piece& piece : model.encode(text)) names.push_back(piece.text);
      if (n % 10 == 0) model.sample(text, {0.3, 8}, random);
    }
    for (const std::string& line : artificial_lines(20, 3)) model.encode(line);
    model.decode(names);
  } catch (const Error&) {
  }
}

/// Runs `body` in a child; whether it ended by itself.
bool survives(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    try {
      body();
    } catch (...) {
      _exit(2);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// A copy with one of many kinds of damage.
std::string damage(std::string bytes, Random& random) {
  const auto position = [&] { return random.below(bytes.size()); };
  const auto any_byte = [&] { return static_cast<char>(random.below(256)); };
  switch (random.below(6)) {
    case 0:
      bytes.resize(position());
      break;
    case 1:
      for (uint64_t n = 1 + random.below(8); n > 0; --n) bytes[position()] = any_byte();
      break;
    case 2:
      bytes[position()] ^= static_cast<char>(1 << random.below(8));
      break;
    case 3:
      for (uint64_t n = random.below(400); n > 0; --n) bytes[position()] = any_byte();
      break;
    case 4: {  // a stretch lost
      const size_t begin = position();
      bytes.erase(begin, 1 + random.below(64));
      break;
    }
    case 5: {  // a stretch written over another
      const size_t from = position(), to = position(), length = random.below(2000);
      for (size_t n = 0; n < length && from + n < bytes.size() && to + n < bytes.size(); ++n) {
        bytes[to + n] = bytes[from + n];
      }
      break;
    }
  }
  return bytes;
}

/// Damages and uses `copies` copies, some in each child, so that a failure names its few.
void fuzz(const std::string& bytes, int copies, uint64_t seed) {
  constexpr int kInOneChild = 20;
  for (int first = 0; first < copies; first += kInOneChild) {
    EXPECT_TRUE(survives([&] {
      for (int n = first; n < first + kInOneChild; ++n) {
        Random random(RandomKey::from_seed(seed).fold(static_cast<uint64_t>(n)));
        use_model(damage(bytes, random));
      }
    })) << "a damaged copy from number "
        << first << " on ends the process";
  }
}

std::string train_file(const SentencePieceTrainOptions& options) {
  return SentencePieceModel::train(options, reader_of(artificial_lines(300)));
}

int fuzz_copies() {
  const char* copies = std::getenv("HEED_FUZZ_COPIES");
  return copies ? std::atoi(copies) : 300;
}

TEST(BrokenModels, AreErrorsNeverCrashes) {
  const auto plain = TextNormalization::kIdentity;
  ASSERT_TRUE(survives([] { use_model(train_file({.vocabulary_size = 330})); }));
  fuzz(train_file({.vocabulary_size = 330}), fuzz_copies(),
       1);  // most of this file is the normalization table
  fuzz(train_file({.vocabulary_size = 330, .normalization = plain}), fuzz_copies(), 2);
  fuzz(train_file({.type = SubwordType::kBpe, .vocabulary_size = 330, .normalization = plain}), fuzz_copies(),
       3);
  fuzz(train_file({.vocabulary_size = 60, .byte_fallback = false, .normalization = plain}), fuzz_copies(), 4);
}

TEST(BrokenModels, FixturesDamaged) {
  const auto folder = fixtures_folder() / "marian" / "model";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no fixtures in " << fixtures_folder();
  for (const char* name : {"source.spm", "target.spm"})
    fuzz(read_file((folder / name).string()), fuzz_copies(), 5);
}

/// The control: crashes of children are detected.
TEST(BrokenModels, CrashesAreSeen) {
  EXPECT_FALSE(survives([] { _exit(1); }));
  EXPECT_FALSE(survives([] { raise(SIGKILL); }));
}

// Models written by hand, field by field.
std::string field(int number, const std::string& content) {
  std::string text(1, static_cast<char>(number << 3 | 2));
  size_t size = content.size();
  for (; size >= 0x80; size >>= 7) text += static_cast<char>(size | 0x80);
  return text + static_cast<char>(size) + content;
}
std::string piece(const std::string& text, char type,
                  const std::string& score = std::string("\0\0\x80\xBF", 4)) {
  return field(1, field(1, text) + "\x15" + score + "\x18" + std::string(1, type));
}
const std::string kUnknown = piece("<unk>", 2);

/// Of the trainer and the normalizer, all as the library has them by itself: every model ends with some.
const std::string kSettings = field(2, "") + field(3, "");

std::string message_of(const std::string& fields, const std::string& settings = kSettings) {
  try {
    SentencePieceModel::from_bytes(fields + settings, "model.spm").encode("some text");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kFormat);
    EXPECT_THAT(error.what(), testing::HasSubstr("model.spm"));
    return error.what();
  }
  return "";
}

TEST(BrokenModels, ErrorsAreSpecific) {
  using testing::HasSubstr;
  EXPECT_EQ(message_of(kUnknown + piece("a", 1)), "");
  EXPECT_THAT(message_of("", ""), HasSubstr("empty"));
  EXPECT_THAT(message_of("not a model", ""), HasSubstr("damaged or truncated"));
  EXPECT_THAT(message_of(field(2, "")), HasSubstr("no pieces"));
  EXPECT_THAT(message_of(kUnknown + piece("", 1)), HasSubstr("piece 1 is empty"));
  EXPECT_THAT(message_of(kUnknown + piece("\xFF", 1)), HasSubstr("piece 1 is not valid UTF-8"));
  EXPECT_THAT(message_of(kUnknown + piece(std::string("a\0b", 3), 1)), HasSubstr("zero byte"));
  EXPECT_THAT(message_of(kUnknown + piece("a", 1, std::string("\0\0\xC0\x7F", 4))), HasSubstr("finite"));
  EXPECT_THAT(message_of(kUnknown + piece("a", 9)), HasSubstr("unknown type 9"));
  EXPECT_THAT(message_of(kUnknown + piece("a", 1) + piece("a", 1)), HasSubstr("already defined"));
  EXPECT_THAT(message_of(piece("a", 1)), HasSubstr("(<unk>) is not defined"));
  EXPECT_THAT(message_of(kUnknown + piece("a", 1) + field(2, "\x18\x09")), HasSubstr("model type 9"));
  EXPECT_THAT(message_of(kUnknown + piece("a", 1) + field(3, field(2, "abc"))),
              HasSubstr("normalization table: it is truncated"));
}

TEST(BrokenModels, LongPiecesAreRefused) {
  // The library needs stack for each byte: one piece of 200,000 bytes has ended the process.
  EXPECT_TRUE(survives([] { use_model(kUnknown + piece(std::string(200'000, 'x'), 1) + kSettings); }));
  EXPECT_THAT(message_of(kUnknown + piece(std::string(4097, 'x'), 1)),
              testing::HasSubstr("piece 1 has 4097 bytes, more than 4096"));
  EXPECT_EQ(message_of(kUnknown + piece(std::string(4096, 'x'), 1)), "");
  std::string chain = kUnknown;  // every piece is unused, and made of the one before
  for (size_t n = 1; n <= 4096; n += n < 64 ? 1 : 63) chain += piece(std::string(n, 'x'), n == 1 ? 1 : 5);
  EXPECT_TRUE(survives([&] {
    use_model(chain + field(2, "\x18\x02") + field(3, ""));
    SentencePieceModel::from_bytes(chain + field(2, "\x18\x02") + field(3, ""), "chain")
        .encode(std::string(9000, 'x'));
  }));
}

TEST(BrokenModels, ModelsTruncatedAfterAPieceAreRefused) {
  EXPECT_THAT(message_of(kUnknown + piece("a", 1), ""), testing::HasSubstr("no settings of the trainer"));
  EXPECT_THAT(message_of(kUnknown + piece("a", 1), field(2, "")),
              testing::HasSubstr("no settings of the normalizer"));
}

TEST(BrokenModels, ManyNestedSymbolsAreRefused) {
  const auto nested = [](size_t count) {
    std::string model = kUnknown + piece("z", 1);
    for (size_t n = 1; n <= count; ++n) model += piece(std::string(n, 'x'), 4);
    return model;
  };
  EXPECT_EQ(message_of(nested(64)), "");
  EXPECT_THAT(message_of(nested(65)), testing::HasSubstr("user-defined symbols"));
}

/// A table whose trie has one key, "a", with the given unit for it and value.
std::string table_of(uint32_t child, uint32_t value) {
  const uint32_t unused = 1u << 31;  // a label that no byte has
  std::vector<uint32_t> units(512, unused);
  units[0] = 256u << 10;  // the root's base is 256
  units[256 ^ 'a'] = child;
  const size_t base = 256 ^ 'a' ^ (child >> 10);
  if (base < units.size()) units[base] = value;
  std::string table{"\x00\x08\x00\x00", 4};
  for (const uint32_t unit : units) {
    for (int shift = 0; shift < 32; shift += 8) table += static_cast<char>(unit >> shift);
  }
  return table + std::string("B\0ä\0", 5);
}

TEST(CharsmapCheck, FollowsTheTrie) {
  using testing::HasSubstr;
  const uint32_t leaf = 1u << 31, has_value = 1u << 8, offset = 5u << 10;
  EXPECT_EQ(find_charsmap_fault(table_of('a' | has_value | offset, leaf | 0)), "");
  EXPECT_EQ(find_charsmap_fault(table_of('a' | has_value | offset, leaf | 2)), "");
  EXPECT_THAT(find_charsmap_fault(table_of('a' | has_value | offset, leaf | 3)),
              HasSubstr("the middle of a character"));
  EXPECT_THAT(find_charsmap_fault(table_of('a' | has_value | offset, leaf | 5)),
              HasSubstr("beyond the replacements"));
  EXPECT_THAT(find_charsmap_fault(table_of('a' | 512u << 10, 0)), HasSubstr("out of range"));
  EXPECT_THAT(find_charsmap_fault(table_of('a' | uint32_t{'a'} << 10, 0)), HasSubstr("cycle"));
  std::string open_end = table_of('a' | has_value | offset, leaf);
  open_end.back() = 'x';
  EXPECT_THAT(find_charsmap_fault(open_end), HasSubstr("not terminated"));
}

}  // namespace
}  // namespace heed
