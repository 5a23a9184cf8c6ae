#include "data/augment/literal_inventor.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <array>

#include "base/text/ascii.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

using Choices = std::vector<std::string_view>;

std::string_view pick(const Choices& from, Random& random) {
  return from[random.below(from.size())];
}

char pick(std::string_view from, Random& random) {
  return from[random.below(from.size())];
}

constexpr std::string_view kSmallLetters = "abcdefghijklmnopqrstuvwxyz";

/// A random pseudo-word of alternating consonants and vowels.
std::string syllables(Random& random) {
  static const Choices begins{"b", "d", "f", "g", "h", "j", "k",  "l",  "m",  "n",   "p",  "r",
                              "s", "t", "v", "w", "z", "c", "st", "br", "ch", "sch", "tr", "qu"};
  static const Choices vowels{"a", "e", "i", "o", "u", "y", "ei", "ou", "ia", "ee"};
  std::string word;
  for (uint64_t left = 1 + random.below(3); left > 0; --left) {
    word += pick(begins, random);
    word += pick(vowels, random);
  }
  if (random.below(2) == 0) word += pick("lmnrstkx", random);
  return word;
}

// Patterns: "~" is a word, "^" one with a capital, "0" a digit, "1" a digit except 0, "&" a capital
// letter, "%" a hexadecimal digit, "=" one of the endings of a host, "*" one of those of a file; what stands
// in "[]" is there in half of the cases, and everything else is itself. A "!" before a character makes it
// itself.

/// The kinds of literals; a kind is sampled first, then one of its patterns.
const std::vector<Choices>& kinds() {
  static const Choices urls{"https://www.~=",      "https://~=/~",        "www.~=",    "http://~=/~/~[.html]",
                            "https://~=/~/~?~!=1", "https://~-~=/~/100",  "www.~-~=/", "~=[/~]",
                            "https://~.~=/~#~",    "https://~=/~/~_~.pdf"};
  static const Choices emails{"~@~=", "~.~@~=", "~_~@~-~=", "~[00]@~=", "~-~@~.~=", "~1000@~="};
  static const Choices files{"~*",    "~_~*",      "~-1[0]*", "^*",        "~_1000*",      "~/~/~*",
                             "/~/~*", "/~/~/~[/]", "./~*",    "C:\\^\\~*", "D:\\^\\^\\^*", "~/^_~*"};
  static const Choices names{"@~", "@~00", "@~_~", "#~", "#^", "#^^", "#~1000"};
  static const Choices versions{"1.0",  "1.0.0",   "v1.0",    "v1[0].0.1",  "1.10.1[0]",
                                "10.0", "1.0-rc1", "1.0.0b1", "1.0.0-beta", "20[1]0.01"};
  static const Choices phones{"+10 100 10000[00]", "010/10000[0]",   "(100) 000-0000",
                              "100-000-0000",      "0100 100000[0]", "+1000000000[0]"};
  static const Choices ids{"%%%%%%%%-%%%%-%%%%-%%%%-%%%%%%%%%%%%",
                           "!0x%%[%%]",
                           "#%%%%%%",
                           "&&-1000[0]",
                           "&1000",
                           "&&&[-]10000",
                           "%%%%%%%[%%][%%%]"};
  static const Choices code{"~_~", "~_~()", "~^",      "--~", "{~}",  "!%s",
                            "!%d", "$~",    "~!=1[0]", "<~>", "~::~", "~.~()"};
  // Repetitions approximate real frequencies.
  static const std::vector<Choices> all{urls,  urls,     emails, emails, files, files, names,
                                        names, versions, phones, phones, ids,   ids,   code};
  return all;
}

void append_date(std::string& text, Random& random) {
  const uint64_t year = 1900 + random.below(150), month = 1 + random.below(12), day = 1 + random.below(28);
  text += fmt::format("{}-{:02}-{:02}", year, month, day);
  if (random.below(4) != 0) return;
  const uint64_t hour = random.below(24), minute = random.below(60);
  text += fmt::format("T{:02}:{:02}Z", hour, minute);
}

}  // namespace

void LiteralInventor::learn(std::string_view text, Random& random) {
  constexpr size_t kMost = 4096, kMinLetters = 3, kMaxLetters = 12;
  std::vector<std::string_view> found;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view each = text.substr(begin, end - begin);
    begin = end + 1;
    if (each.size() >= kMinLetters && each.size() <= kMaxLetters &&
        std::ranges::all_of(each, is_ascii_lower)) {
      found.push_back(each);
    }
  }
  if (found.empty()) return;
  const std::string_view chosen = found[random.below(found.size())];
  ++learnt_;
  if (words_.size() < kMost) {
    words_.emplace_back(chosen);
  } else if (const uint64_t slot = random.below(learnt_); slot < kMost) {
    words_[slot] = chosen;
  }
}

std::string LiteralInventor::word(Random& random) const {
  const uint64_t kind = random.below(10);
  if (kind < 6 && !words_.empty()) return words_[random.below(words_.size())];
  if (kind < 9) return syllables(random);
  std::string letters;
  for (uint64_t left = 2 + random.below(6); left > 0; --left) letters += pick(kSmallLetters, random);
  return letters;
}

void LiteralInventor::append(std::string& text, std::string_view pattern, Random& random) const {
  static const Choices hosts{".com", ".com", ".com", ".de",    ".de",   ".org", ".net",
                             ".es",  ".io",  ".eu",  ".co.uk", ".info", ".at",  ".edu"};
  static const Choices files{".pdf", ".txt",  ".docx", ".jpg", ".png", ".xlsx", ".zip", ".py",
                             ".cc",  ".json", ".html", ".csv", ".mp3", ".md",   ".xml", ".tar.gz"};
  for (size_t n = 0; n < pattern.size(); ++n) {
    switch (pattern[n]) {
      case '~':
        text += word(random);
        break;
      case '^': {
        const size_t begin = text.size();
        text += word(random);
        text[begin] = static_cast<char>(text[begin] - 'a' + 'A');
        break;
      }
      case '0':
        text += pick("0123456789", random);
        break;
      case '1':
        text += pick("123456789", random);
        break;
      case '&':
        text += pick("ABCDEFGHJKLMNPRSTUVWXYZ", random);
        break;
      case '%':
        text += pick("0123456789abcdef", random);
        break;
      case '=':
        text += pick(hosts, random);
        break;
      case '*':
        text += pick(files, random);
        break;
      case '[':
        if (random.below(2) == 0) n = pattern.find(']', n);
        break;
      case ']':
        break;
      case '!':
        ++n;
        [[fallthrough]];
      default:
        text += pattern[n];
    }
  }
}

std::string LiteralInventor::invent(Random& random) const {
  const uint64_t kind = random.below(kinds().size() + 1);
  std::string text;
  if (kind == kinds().size()) {
    append_date(text, random);
  } else {
    append(text, pick(kinds()[kind], random), random);
  }
  return text;
}

std::string invent_emoji(Random& random) {
  struct Block {
    char32_t first, last;
  };
  static constexpr std::array<Block, 6> blocks{{{0x1f600, 0x1f64f},  // faces
                                                {0x1f600, 0x1f64f},
                                                {0x1f300, 0x1f5ff},
                                                {0x1f680, 0x1f6ff},
                                                {0x1f90c, 0x1f9ff},
                                                {0x2600, 0x27bf}}};
  const auto draw = [&] {
    const Block& block = blocks[random.below(blocks.size())];
    while (true) {
      const auto c = block.first + static_cast<char32_t>(random.below(block.last - block.first + 1));
      if (u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_EMOJI_PRESENTATION) != 0) return c;
    }
  };
  char32_t emoji = draw();
  std::string text;
  const uint64_t kind = random.below(10);
  for (uint64_t left = kind < 6 ? 1 : kind < 8 ? 2 : 3; left > 0; --left) {
    append_utf8(text, emoji);
    if (random.below(4) == 0) emoji = draw();
  }
  return text;
}

}  // namespace heed
