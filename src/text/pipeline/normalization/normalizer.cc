#include "text/pipeline/normalization/normalizer.h"

#include <unicode/uchar.h>

#include <utility>

#include "base/text/ascii.h"
#include "text/pipeline/normalization/unicode_forms.h"
#include "text/pipeline/pipeline_steps.h"
#include "text/pipeline/words/byte_characters.h"
#include "text/unicode/characters.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

/// Keeps the characters for which `keep` is true; calls map(character) for the new character.
template <typename Keep, typename Map>
void filter(AlignedText& text, const Keep& keep, const Map& map) {
  std::vector<Edit> edits;
  size_t removed = 0;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = take_code_point(text.text(), at);
    if (keep(c)) {
      edits.push_back({map(c), 0});
    } else if (edits.empty()) {
      ++removed;
    } else {
      --edits.back().change;
    }
  }
  text.rewrite(edits, removed);
}

template <typename Keep>
void filter(AlignedText& text, const Keep& keep) {
  for (size_t at = 0; at < text.size();) {
    if (keep(take_code_point(text.text(), at))) continue;
    filter(text, keep, [](char32_t c) { return c; });
    return;
  }
}

void lowercase(AlignedText& text) {
  if (text.is_ascii()) {
    for (size_t at = 0; at < text.size(); ++at) {
      const char c = text.text()[at];
      if (is_ascii_upper(c)) text.set(at, ascii_lower(c));
    }
    return;
  }
  constexpr char32_t kCapitalWithDot = 0x130;  // the only one that becomes two characters
  std::vector<Edit> edits;
  edits.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const char32_t c = take_code_point(text.text(), at);
    if (c == kCapitalWithDot) {
      edits.insert(edits.end(), {{'i', 0}, {0x307, 1}});
    } else {
      edits.push_back({static_cast<char32_t>(u_tolower(static_cast<UChar32>(c))), 0});
    }
  }
  text.rewrite(edits);
}

class Lowercase : public Normalizer {
 public:
  void apply(AlignedText& text) const override { lowercase(text); }
};

class StripNormalizer : public Normalizer {
 public:
  StripNormalizer(bool left, bool right) : left_(left), right_(right) {}
  void apply(AlignedText& text) const override {
    size_t begin = 0, end = text.size();
    for (size_t at = 0; left_ && at < end && is_white_space(take_code_point(text.text(), at));) begin = at;
    while (right_ && end > begin) {
      const size_t last = character_start(text.text(), end - 1);
      size_t at = last;
      if (!is_white_space(take_code_point(text.text(), at))) break;
      end = last;
    }
    if (begin == 0 && end == text.size()) return;
    AlignedText result;
    result.append(text, begin, end);
    text = std::move(result);
  }

 private:
  bool left_, right_;
};

class StripAccents : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    filter(text, [](char32_t c) { return !is_mark(c); });
  }
};

class ReplaceNormalizer : public Normalizer {
 public:
  ReplaceNormalizer(Pattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void apply(AlignedText& text) const override { replace_matches(text, pattern_, content_); }

 private:
  Pattern pattern_;
  std::string content_;
};

class PrependNormalizer : public Normalizer {
 public:
  explicit PrependNormalizer(std::string text) : text_(std::move(text)) {}
  void apply(AlignedText& text) const override { text.prepend(text_); }

 private:
  std::string text_;
};

class Nmt : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    const auto keep = [](char32_t c) {
      const bool control = (c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F);
      return !control && c != 0x7F && c != 0x8F && c != 0x9F;
    };
    filter(text, keep, [](char32_t c) -> char32_t {
      const bool space = c == '\t' || c == '\n' || c == '\f' || c == '\r' || c == 0x1680 ||
                         (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                         c == 0xFEFF || c == 0xFFFD;
      return space ? ' ' : c;
    });
  }
};

class ByteLevelNormalizer : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    AlignedText result;
    result.set_limit(text.limit());
    result.reserve(2 * text.size());
    for (size_t at = 0; at < text.size(); ++at) {
      result.append(characters_of_bytes()[static_cast<unsigned char>(text.text()[at])], text.origin(at));
    }
    text = std::move(result);
  }
};

class BertNormalizer : public Normalizer {
 public:
  explicit BertNormalizer(const BertNormalizerOptions& options) : options_(options) {}
  void apply(AlignedText& text) const override {
    if (options_.clean_text) clean(text);
    if (!text.is_ascii()) {
      if (options_.chinese_apart) set_ideographs_apart(text);
      if (options_.strip_accents) {
        to_unicode_form(text, UnicodeForm::kNfd);
        filter(text, [](char32_t c) { return !is_nonspacing_mark(c); });
      }
    }
    if (options_.lowercase) lowercase(text);
  }

 private:
  static void clean(AlignedText& text) {
    const auto keep = [](char32_t c) { return c != 0 && c != 0xFFFD && !is_control(c); };
    filter(text, keep);
    if (text.is_ascii()) {
      for (size_t at = 0; at < text.size(); ++at) {
        if (is_white_space(static_cast<unsigned char>(text.text()[at]))) text.set(at, ' ');
      }
      return;
    }
    filter(text, keep, [](char32_t c) -> char32_t { return is_white_space(c) ? ' ' : c; });
  }

  static void set_ideographs_apart(AlignedText& text) {
    std::vector<Edit> edits;
    edits.reserve(text.size());
    bool found = false;
    for (size_t at = 0; at < text.size();) {
      const char32_t c = take_code_point(text.text(), at);
      if (is_cjk_ideograph(c)) {
        edits.insert(edits.end(), {{' ', 0}, {c, 1}, {' ', 1}});
        found = true;
      } else {
        edits.push_back({c, 0});
      }
    }
    if (found) text.rewrite(edits);
  }

  BertNormalizerOptions options_;
};

class UnicodeNormalizer : public Normalizer {
 public:
  explicit UnicodeNormalizer(UnicodeForm form) : form_(form) {}
  void apply(AlignedText& text) const override { to_unicode_form(text, form_); }

 private:
  UnicodeForm form_;
};

}  // namespace

void normalize(AlignedText& text, const NormalizerList& normalizers, size_t limit) {
  run_steps(
      "normalizer", normalizers, limit,
      [&](const Normalizer& normalizer) {
        text.set_limit(limit);
        normalizer.apply(text);
      },
      [&] { return text.size(); });
}

void replace_matches(AlignedText& text, const Pattern& pattern, std::string_view content) {
  const std::vector<Match> matches = pattern.find_in(text.text());
  if (matches.empty()) return;
  AlignedText result;
  result.set_limit(text.limit());
  result.reserve(text.size());
  size_t at = 0;
  for (const Match& match : matches) {
    result.append(text, at, match.begin);
    result.append(content, match.end > 0 ? text.origin(match.end - 1) : Origin{});
    at = match.end;
  }
  result.append(text, at, text.size());
  text = std::move(result);
}

std::unique_ptr<Normalizer> unicode_normalizer(UnicodeForm form) {
  return std::make_unique<UnicodeNormalizer>(form);
}
std::unique_ptr<Normalizer> lowercase_normalizer() {
  return std::make_unique<Lowercase>();
}
std::unique_ptr<Normalizer> strip_normalizer(bool left, bool right) {
  return std::make_unique<StripNormalizer>(left, right);
}
std::unique_ptr<Normalizer> strip_accents_normalizer() {
  return std::make_unique<StripAccents>();
}
std::unique_ptr<Normalizer> replace_normalizer(Pattern pattern, std::string content) {
  return std::make_unique<ReplaceNormalizer>(std::move(pattern), std::move(content));
}
std::unique_ptr<Normalizer> prepend_normalizer(std::string text) {
  return std::make_unique<PrependNormalizer>(std::move(text));
}
std::unique_ptr<Normalizer> nmt_normalizer() {
  return std::make_unique<Nmt>();
}
std::unique_ptr<Normalizer> byte_level_normalizer() {
  return std::make_unique<ByteLevelNormalizer>();
}
std::unique_ptr<Normalizer> bert_normalizer(const BertNormalizerOptions& options) {
  return std::make_unique<BertNormalizer>(options);
}

}  // namespace heed
