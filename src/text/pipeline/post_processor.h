// Post-processors of tokenizer.json: special tokens around one text or two, and offsets without white space.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heed {

/// A tokenized text or text pair. All vectors have the same length, except `tokens`, which may be left out.
struct PipelineEncoding {
  std::vector<int32_t> ids;
  /// Token types: which text of a pair, by the post-processor's rules.
  std::vector<int32_t> types;
  /// The text that each token comes from, 0 or 1; -1: the post-processor added it.
  std::vector<int8_t> sources;
  /// [begin, end) in code points of that text; 0, 0 for added ones.
  std::vector<std::pair<uint32_t, uint32_t>> offsets;
  /// As the vocabulary spells them; unknown and added tokens as the text does.
  std::vector<std::string> tokens;

  size_t size() const { return ids.size(); }
};

/// A part of a template: one of the texts, or special tokens.
struct TemplatePart {
  int8_t source = -1;  ///< 0 or 1; -1: `ids`
  int32_t type = 0;
  std::vector<int32_t> ids = {};
  std::vector<std::string> tokens = {};
};

struct PostProcessorStep {
  /// Moves offsets past the spaces that tokens begin and end with; `keeps_first_space`: not past the one that
  /// add_prefix_space inserted.
  bool trims_offsets = false;
  bool keeps_first_space = false;
  bool clears_types = false;  ///< all tokens get the type 0
  /// Puts the texts and the special tokens in this order; empty: no template.
  std::vector<TemplatePart> single = {}, pair = {};
};

/// Applies the steps. At most one has a template; without one, texts follow each other with types 0 and 1.
class PostProcessor {
 public:
  PostProcessor() = default;
  explicit PostProcessor(std::vector<PostProcessorStep> steps) : steps_(std::move(steps)) {}

  bool trims_offsets() const;
  /// The special tokens before and after a single text.
  std::vector<int32_t> before() const { return frame(true); }
  std::vector<int32_t> after() const { return frame(false); }

  /// `first` and `second` have their tokens if trims_offsets(). `specials`: adds special tokens.
  PipelineEncoding process(PipelineEncoding first, std::optional<PipelineEncoding> second,
                           bool specials) const;

 private:
  std::vector<int32_t> frame(bool before) const;
  std::vector<PostProcessorStep> steps_;
};

}  // namespace heed
