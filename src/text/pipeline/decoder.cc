#include "text/pipeline/decoder.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "text/pipeline/aligned_text.h"
#include "text/pipeline/pipeline_steps.h"
#include "text/pipeline/words/byte_characters.h"
#include "text/unicode/clean_up.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

using Tokens = std::vector<std::string>;

class ByteLevelDecoder : public DecoderStep {
 public:
  void apply(Tokens& tokens) const override {
    std::string text;
    for (const std::string& token : tokens) text += bytes_of_characters(token).value_or(token);
    tokens.assign(1, replace_invalid_utf8(text));
  }
  std::optional<std::string> bytes(std::string_view token, bool& done) const override {
    done = true;
    return bytes_of_characters(token).value_or(std::string(token));
  }
};

class MetaspaceDecoder : public DecoderStep {
 public:
  MetaspaceDecoder(char32_t replacement, bool strips_first) : strips_first_(strips_first) {
    append_utf8(replacement_, replacement);
  }
  void apply(Tokens& tokens) const override {
    for (size_t n = 0; n < tokens.size(); ++n)
      tokens[n] = written(tokens[n], n == 0 && strips_first_ ? "" : " ");
  }
  std::optional<std::string> bytes(std::string_view token, bool&) const override {
    return written(token, " ");
  }
  bool removes_leading_space() const override { return strips_first_; }

 private:
  std::string written(std::string_view token, std::string_view space) const {
    return Pattern::literal(replacement_).replaced(token, space);
  }
  std::string replacement_;
  bool strips_first_;
};

class WordPieceDecoder : public DecoderStep {
 public:
  WordPieceDecoder(std::string prefix, bool cleans_up) : prefix_(std::move(prefix)), cleans_up_(cleans_up) {}
  void apply(Tokens& tokens) const override {
    for (size_t n = 0; n < tokens.size(); ++n) {
      std::string& token = tokens[n];
      if (n > 0) token = token.starts_with(prefix_) ? token.substr(prefix_.size()) : " " + token;
      if (cleans_up_) token = cleaned_up(std::move(token));
    }
  }

 private:
  std::string prefix_;
  bool cleans_up_;
};

class BpeDecoder : public DecoderStep {
 public:
  explicit BpeDecoder(std::string suffix) : suffix_(Pattern::literal(std::move(suffix))) {}
  void apply(Tokens& tokens) const override {
    for (std::string& token : tokens) token = suffix_.replaced(token, &token == &tokens.back() ? "" : " ");
  }

 private:
  Pattern suffix_;
};

class ReplaceDecoder : public DecoderStep {
 public:
  ReplaceDecoder(Pattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void apply(Tokens& tokens) const override {
    size_t limit = max_written_bytes(total_bytes(tokens));
    for (std::string& token : tokens) {
      token = pattern_.replaced(token, content_, limit);
      limit -= token.size();
    }
  }
  std::optional<std::string> bytes(std::string_view token, bool&) const override {
    return pattern_.replaced(token, content_, max_written_bytes(token.size()));
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class Fuse : public DecoderStep {
 public:
  void apply(Tokens& tokens) const override {
    std::string text;
    for (const std::string& token : tokens) text += token;
    tokens.assign(1, std::move(text));
  }
  std::optional<std::string> bytes(std::string_view token, bool& done) const override {
    done = true;  // what follows concerns the ends of the text
    return std::string(token);
  }
};

class StripDecoder : public DecoderStep {
 public:
  StripDecoder(char32_t content, size_t left, size_t right) : left_(left), right_(right) {
    append_utf8(content_, content);
  }
  void apply(Tokens& tokens) const override {
    for (std::string& token : tokens) {
      std::string_view rest = token;
      for (size_t n = 0; n < left_ && rest.starts_with(content_); ++n) rest.remove_prefix(content_.size());
      for (size_t n = 0; n < right_ && rest.ends_with(content_); ++n) rest.remove_suffix(content_.size());
      token = std::string(rest);
    }
  }
  bool removes_leading_space() const override { return left_ > 0 && content_ == " "; }

 private:
  std::string content_;
  size_t left_, right_;
};

class ByteFallback : public DecoderStep {
 public:
  void apply(Tokens& tokens) const override {
    Tokens result;
    std::string bytes;
    const auto flush = [&] {
      if (find_invalid_utf8(bytes)) {
        result.insert(result.end(), bytes.size(), "\uFFFD");
      } else if (!bytes.empty()) {
        result.push_back(bytes);
      }
      bytes.clear();
    };
    for (std::string& token : tokens) {
      if (const auto byte = byte_of(token)) {
        bytes += *byte;
        continue;
      }
      flush();
      result.push_back(std::move(token));
    }
    flush();
    tokens = std::move(result);
  }
  std::optional<std::string> bytes(std::string_view token, bool& done) const override {
    const auto byte = byte_of(token);
    done = byte.has_value();
    return byte ? std::string(1, *byte) : std::string(token);
  }

 private:
  /// "<0xE4>"
  static std::optional<char> byte_of(std::string_view token) {
    if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return {};
    const char* digits = token.data() + 3;
    if (*digits == '+') ++digits;  // as the library's parser of numbers
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(digits, token.data() + 5, byte, 16);
    if (error != std::errc() || end != token.data() + 5) return {};
    return static_cast<char>(byte);
  }
};

class Ctc : public DecoderStep {
 public:
  explicit Ctc(CtcDecoderOptions options) : options_(std::move(options)) {}
  void apply(Tokens& tokens) const override {
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    for (std::string& token : tokens) {
      token = Pattern::literal(options_.pad).replaced(token, "");
      if (!options_.cleans_up) continue;
      token = Pattern::literal(options_.word_delimiter).replaced(cleaned_up(std::move(token)), " ");
    }
    std::erase(tokens, "");
  }

 private:
  CtcDecoderOptions options_;
};

}  // namespace

std::optional<std::string> DecoderStep::bytes(std::string_view, bool&) const {
  return std::nullopt;
}

std::unique_ptr<DecoderStep> byte_level_decoder() {
  return std::make_unique<ByteLevelDecoder>();
}
std::unique_ptr<DecoderStep> metaspace_decoder(char32_t replacement, bool strips_first) {
  return std::make_unique<MetaspaceDecoder>(replacement, strips_first);
}
std::unique_ptr<DecoderStep> word_piece_decoder(std::string prefix, bool cleans_up) {
  return std::make_unique<WordPieceDecoder>(std::move(prefix), cleans_up);
}
std::unique_ptr<DecoderStep> bpe_decoder(std::string suffix) {
  return std::make_unique<BpeDecoder>(std::move(suffix));
}
std::unique_ptr<DecoderStep> replace_decoder(Pattern pattern, std::string content) {
  return std::make_unique<ReplaceDecoder>(std::move(pattern), std::move(content));
}
std::unique_ptr<DecoderStep> fuse_decoder() {
  return std::make_unique<Fuse>();
}
std::unique_ptr<DecoderStep> strip_decoder(char32_t content, size_t left, size_t right) {
  return std::make_unique<StripDecoder>(content, left, right);
}
std::unique_ptr<DecoderStep> byte_fallback_decoder() {
  return std::make_unique<ByteFallback>();
}
std::unique_ptr<DecoderStep> ctc_decoder(CtcDecoderOptions options) {
  return std::make_unique<Ctc>(std::move(options));
}

}  // namespace heed
