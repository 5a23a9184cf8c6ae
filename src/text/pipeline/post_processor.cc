#include "text/pipeline/post_processor.h"

#include <algorithm>

#include "text/pipeline/aligned_text.h"
#include "text/unicode/characters.h"

namespace heed {
namespace {

constexpr char32_t kByteLevelSpace = 0x120;  // "Ġ"

bool is_space(char32_t c) {
  return c == kByteLevelSpace || is_white_space(c);
}

void trim(const std::string& token, bool keeps_first_space, bool first,
          std::pair<uint32_t, uint32_t>& offsets) {
  uint32_t leading = 0, trailing = 0, run = 0;
  bool leads = true;
  for (size_t at = 0; at < token.size();) {
    run = is_space(take_code_point(token, at)) ? run + 1 : 0;
    leads &= run > 0;
    leading = leads ? run : leading;
  }
  trailing = run;
  if (leading == 1 && keeps_first_space && (first || offsets.first == 0)) leading = 0;
  offsets.first = std::min(offsets.first + leading, offsets.second);
  if (trailing > 0 && offsets.second >= trailing) {
    offsets.second = std::max(offsets.second - trailing, offsets.first);
  }
}

void trim(PipelineEncoding& encoding, bool keeps_first_space) {
  for (size_t n = 0; n < encoding.size(); ++n) {
    const std::string& token = encoding.tokens[n];
    const auto begins_or_ends_with_space = [&] {
      const auto starts = static_cast<unsigned char>(token.front()),
                 ends = static_cast<unsigned char>(token.back());
      const auto plain = [](unsigned char c) { return c > ' ' && c < 0x7F; };
      return !plain(starts) || !plain(ends);
    };
    if (!token.empty() && begins_or_ends_with_space())
      trim(token, keeps_first_space, n == 0, encoding.offsets[n]);
  }
}

void append(PipelineEncoding& to, PipelineEncoding&& from) {
  if (to.size() == 0) {
    to = std::move(from);
    return;
  }
  const auto add = [](auto& target, auto& source) {
    target.insert(target.end(), std::make_move_iterator(source.begin()),
                  std::make_move_iterator(source.end()));
  };
  add(to.ids, from.ids);
  add(to.types, from.types);
  add(to.sources, from.sources);
  add(to.offsets, from.offsets);
  add(to.tokens, from.tokens);
}

PipelineEncoding special_tokens(const TemplatePart& part) {
  PipelineEncoding encoding;
  encoding.ids = part.ids;
  encoding.types.assign(part.ids.size(), part.type);
  encoding.sources.assign(part.ids.size(), -1);
  encoding.offsets.resize(part.ids.size());
  encoding.tokens = part.tokens;
  return encoding;
}

}  // namespace

bool PostProcessor::trims_offsets() const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [](const PostProcessorStep& step) { return step.trims_offsets; });
}

std::vector<int32_t> PostProcessor::frame(bool before) const {
  std::vector<int32_t> ids;
  bool seen = false;
  for (const PostProcessorStep& step : steps_) {
    for (const TemplatePart& part : step.single) {
      seen |= part.source >= 0;
      if (part.source < 0 && seen != before) ids.insert(ids.end(), part.ids.begin(), part.ids.end());
    }
  }
  return ids;
}

PipelineEncoding PostProcessor::process(PipelineEncoding first, std::optional<PipelineEncoding> second,
                                        bool specials) const {
  std::vector<PipelineEncoding> parts;  // texts and special tokens in their order
  first.types.assign(first.size(), 0);
  first.sources.assign(first.size(), 0);
  parts.push_back(std::move(first));
  if (second) {
    second->types.assign(second->size(), 1);
    second->sources.assign(second->size(), 1);
    parts.push_back(std::move(*second));
  }
  for (const PostProcessorStep& step : steps_) {
    for (PipelineEncoding& part : parts) {
      if (step.trims_offsets) trim(part, step.keeps_first_space);
      if (step.clears_types) std::fill(part.types.begin(), part.types.end(), 0);
    }
    const std::vector<TemplatePart>& order = second ? step.pair : step.single;
    if (order.empty()) continue;
    std::vector<PipelineEncoding> ordered;
    for (const TemplatePart& part : order) {
      if (part.source >= 0) {
        PipelineEncoding& text = parts[static_cast<size_t>(part.source)];
        text.types.assign(text.size(), part.type);
        ordered.push_back(text);
      } else if (specials) {
        ordered.push_back(special_tokens(part));
      }
    }
    parts = std::move(ordered);
  }
  PipelineEncoding all;
  for (PipelineEncoding& part : parts) append(all, std::move(part));
  return all;
}

}  // namespace heed
