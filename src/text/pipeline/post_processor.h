// Post-processors: special tokens around one text or two, and spans without white space.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/encoding.h"

namespace heed {

/// A part of a template: one of the texts, or special tokens.
struct TemplatePart {
  int8_t source = -1;  ///< 0 or 1; -1: `ids`
  int32_t type = 0;
  std::vector<int32_t> ids = {};
  std::vector<std::string> tokens = {};
};

struct PostProcessorStep {
  /// Moves spans past the spaces that tokens begin and end with; `keeps_first_space`: not past the one that
  /// add_prefix_space inserted.
  bool trims_spans = false;
  bool keeps_first_space = false;
  /// Puts the texts and the special tokens in this order; empty: no template.
  std::vector<TemplatePart> single = {}, pair = {};
};

/// The tokens of a text of so many bytes.
struct TokenizedText {
  Encoding tokens;
  size_t bytes = 0;
};

/// At most one step has a template; without one, texts follow each other with types 0 and 1.
class PostProcessor {
 public:
  explicit PostProcessor(std::vector<PostProcessorStep> steps = {});

  bool trims_spans() const;
  /// The special tokens before and after a single text.
  std::vector<int32_t> before() const { return frame(true); }
  std::vector<int32_t> after() const { return frame(false); }

  /// Trims the spans of the tokens of a text, which have their pieces.
  void trim(std::string_view text, Encoding& tokens) const;
  /// Puts the texts together. `specials`: adds special tokens.
  Encoding process(TokenizedText first, std::optional<TokenizedText> second, bool specials) const;

 private:
  std::vector<int32_t> frame(bool before) const;

  std::vector<PostProcessorStep> steps_;
  std::vector<TemplatePart> single_, pair_;
};

}  // namespace heed
