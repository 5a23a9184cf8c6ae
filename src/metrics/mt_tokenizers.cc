#include "metrics/mt_tokenizers.h"

#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/check.h"
#include "base/text/ascii.h"
#include "text/readers/sentencepiece_parts.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed {
namespace {

constexpr std::array<std::pair<BleuTokenizer, std::string_view>, 7> kTokenizerNames{
    {{BleuTokenizer::k13a, "13a"},
     {BleuTokenizer::kNone, "none"},
     {BleuTokenizer::kChar, "char"},
     {BleuTokenizer::kIntl, "intl"},
     {BleuTokenizer::kZh, "zh"},
     {BleuTokenizer::kFlores101, "flores101"},
     {BleuTokenizer::kFlores200, "flores200"}}};

/// A SentencePiece model that sacreBLEU downloads, and its file name.
struct PiecesFile {
  BleuTokenizer tokenizer;
  const char *name, *url;
};
constexpr std::array<PiecesFile, 2> kPiecesFiles{
    {{BleuTokenizer::kFlores101, "sacrebleu_tokenizer_spm.model",
      "https://dl.fbaipublicfiles.com/fairseq/models/flores/sacrebleu_tokenizer_spm.model"},
     {BleuTokenizer::kFlores200, "flores200sacrebleuspm", "https://tinyurl.com/flores200sacrebleuspm"}}};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

bool is_period_or_comma(char32_t c) {
  return c == '.' || c == ',';
}
bool is_not_digit(char32_t c) {
  return !is_ascii_digit(c);
}
bool is_dash(char32_t c) {
  return c == '-';
}

/// ASCII punctuation and symbols, except those that depend on context (period, comma, dash) and the
/// apostrophe.
bool is_separate_mark(char32_t c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= '!' && c <= '&') ||
         (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

/// Puts spaces around each character for which `test` is true.
template <typename Text, typename Test>
Text separate(const Text& text, Test test) {
  Text spaced;
  spaced.reserve(text.size() * 2);
  for (const auto c : text) {
    const bool apart = test(static_cast<char32_t>(c));
    if (apart) spaced.push_back(' ');
    spaced.push_back(c);
    if (apart) spaced.push_back(' ');
  }
  return spaced;
}

/// The replacement of a matching pair ab.
enum class PairKind { kFirstApart, kSecondApart };  // " a b" or "a b "

/// Applies a rule to adjacent pairs from left to right; matches do not overlap.
template <typename Text, typename First, typename Second>
Text separate_pairs(const Text& text, First first, Second second, PairKind result) {
  Text spaced;
  spaced.reserve(text.size() * 2);
  for (size_t i = 0; i < text.size(); ++i) {
    const bool match = i + 1 < text.size() && first(static_cast<char32_t>(text[i])) &&
                       second(static_cast<char32_t>(text[i + 1]));
    if (!match) {
      spaced.push_back(text[i]);
      continue;
    }
    if (result == PairKind::kFirstApart) spaced.push_back(' ');
    spaced.push_back(text[i]);
    spaced.push_back(' ');
    spaced.push_back(text[++i]);
    if (result == PairKind::kSecondApart) spaced.push_back(' ');
  }
  return spaced;
}

// These rules only name ASCII characters, so they work on bytes: bytes of multi-byte UTF-8 sequences are
// neither digits nor marks.
std::string separate_western(const std::string& text) {
  std::string line = separate(text, is_separate_mark);
  line = separate_pairs(line, is_not_digit, is_period_or_comma, PairKind::kSecondApart);
  line = separate_pairs(line, is_period_or_comma, is_not_digit, PairKind::kFirstApart);
  return separate_pairs(line, is_ascii_digit, is_dash, PairKind::kSecondApart);
}

std::string separate_13a(std::string_view text) {
  std::string line(text);
  replace_all(line, "<skipped>", "");
  replace_all(line, "-\n", "");
  replace_all(line, "\n", " ");
  replace_all(line, "&quot;", "\"");
  replace_all(line, "&amp;", "&");
  replace_all(line, "&lt;", "<");
  replace_all(line, "&gt;", ">");
  return separate_western(" " + line + " ");
}

bool in_category(char32_t c, uint32_t mask) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & mask) != 0;
}
bool is_not_number(char32_t c) {
  return !in_category(c, U_GC_N_MASK);
}
bool is_punctuation(char32_t c) {
  return in_category(c, U_GC_P_MASK);
}
bool is_symbol(char32_t c) {
  return in_category(c, U_GC_S_MASK);
}

std::string separate_intl(std::string_view text) {
  std::u32string line = utf8_to_utf32(text);
  line = separate_pairs(line, is_not_number, is_punctuation, PairKind::kSecondApart);
  line = separate_pairs(line, is_punctuation, is_not_number, PairKind::kFirstApart);
  std::string spaced;
  for (const char32_t c : separate(line, is_symbol)) append_utf8(spaced, c);
  return spaced;
}

struct CodePointRange {
  char32_t first, last;
};

/// The characters that sacreBLEU treats as Chinese, including its mistake: in Python, "\u20000" is U+2000 and
/// a zero, so U+2001 to U+2A6D (dashes, quotation marks, arrows, ...) count as Chinese, and ideographs above
/// U+FFFF do not.
constexpr std::array<CodePointRange, 21> kChinese{
    {{0x3400, 0x4DB5}, {0x4E00, 0x9FA5}, {0x9FA6, 0x9FBB}, {0xF900, 0xFA2D}, {0xFA30, 0xFA6A},
     {0xFA70, 0xFAD9}, {0x2001, 0x2A6D}, {0x2F81, 0x2FA1}, {0xFF00, 0xFFEF}, {0x2E80, 0x2EFF},
     {0x3000, 0x303F}, {0x31C0, 0x31EF}, {0x2F00, 0x2FDF}, {0x2FF0, 0x2FFF}, {0x3100, 0x312F},
     {0x31A0, 0x31BF}, {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F}, {0x2600, 0x26FF}, {0x2700, 0x27BF},
     {0x3200, 0x33FF}}};

bool is_chinese(char32_t c) {
  return std::ranges::any_of(
      kChinese, [c](const CodePointRange& range) { return c >= range.first && c <= range.last; });
}

/// Unlike 13a, without spaces around the line, so marks at its ends have no context.
std::string separate_zh(std::string_view text) {
  std::string spaced;
  for (const char32_t c : separate(utf8_to_utf32(strip(text)), is_chinese)) append_utf8(spaced, c);
  return separate_western(spaced);
}

std::vector<std::string> characters(std::string_view text) {
  std::vector<std::string> tokens;
  for (size_t offset = 0; offset < text.size();) {
    const size_t start = offset;
    if (!is_whitespace(next_code_point(text, offset)))
      tokens.emplace_back(text.substr(start, offset - start));
  }
  return tokens;
}

std::vector<std::string> words(std::string_view text) {
  const std::vector<std::string_view> parts = split_whitespace(text);
  return {parts.begin(), parts.end()};
}

}  // namespace

std::string_view bleu_tokenizer_name(BleuTokenizer tokenizer) {
  for (const auto& [value, name] : kTokenizerNames) {
    if (value == tokenizer) return name;
  }
  HEED_CHECK(false);
  return {};
}

BleuTokenizer parse_bleu_tokenizer(std::string_view name) {
  for (const auto& [value, known] : kTokenizerNames) {
    if (known == name) return value;
  }
  fail(ErrorKind::kUsage,
       "unknown BLEU tokenizer '{}'; choose 13a, none, char, intl, zh, flores101 or flores200", name);
}

std::optional<TextPipeline> load_bleu_pieces(BleuTokenizer tokenizer) {
  const auto* file = std::ranges::find(kPiecesFiles, tokenizer, &PiecesFile::tokenizer);
  if (file == kPiecesFiles.end()) return std::nullopt;
  const char *named = std::getenv("SACREBLEU"), *home = std::getenv("HOME");
  const std::filesystem::path folder =
      named != nullptr ? named : std::filesystem::path(home != nullptr ? home : "") / ".sacrebleu";
  const std::filesystem::path path = folder / "models" / file->name;
  if (!std::filesystem::exists(path)) {
    fail(ErrorKind::kNotFound,
         "the BLEU tokenizer {} needs the SentencePiece model '{}', which does not exist: download {} to "
         "that path (sacreBLEU does so when it uses the tokenizer)",
         bleu_tokenizer_name(tokenizer), path.string(), file->url);
  }
  const SentencePieceFile model = read_sentencepiece_file(path.string());
  return TextPipeline(sentencepiece_parts(model, path.string()), model.size());
}

std::vector<std::string> tokenize_for_bleu(std::string_view text, BleuTokenizer tokenizer,
                                           const TextPipeline* pieces) {
  // Trailing white space only matters for "intl", where it is context for a final mark.
  text = strip_right(text);
  switch (tokenizer) {
    case BleuTokenizer::k13a:
      return words(separate_13a(text));
    case BleuTokenizer::kNone:
      return words(text);
    case BleuTokenizer::kChar:
      return characters(text);
    case BleuTokenizer::kIntl:
      return words(separate_intl(text));
    case BleuTokenizer::kZh:
      return words(separate_zh(text));
    case BleuTokenizer::kFlores101:
    case BleuTokenizer::kFlores200: {
      HEED_CHECK(pieces != nullptr);
      std::string spaced;
      for (const std::string& piece : pieces->tokens(text).pieces) spaced += piece + " ";
      return words(spaced);
    }
  }
  HEED_CHECK(false);
  return {};
}

std::string lower_case(std::string_view text) {
  auto unicode = icu::UnicodeString::fromUTF8({text.data(), static_cast<int32_t>(text.size())});
  std::string lowered;
  unicode.toLower(icu::Locale::getRoot()).toUTF8String(lowered);
  return lowered;
}

}  // namespace heed
