#include "inspect/trace/trace_labels.h"

namespace heed {

std::vector<Label> query_labels(const Trace& trace, Stack stack, std::string_view word_mark) {
  return token_labels(query_tokens(trace, stack), word_mark);
}

std::vector<Label> key_labels(const Trace& trace, Stack stack, std::string_view word_mark) {
  const std::vector<std::string> tokens = key_tokens(trace, stack);
  std::vector<Label> labels = token_labels(tokens, word_mark);
  const bool translates = stack == Stack::kDecoder && !trace.source_tokens.empty();
  if (translates && !tokens.empty() && is_special_token(tokens[0])) labels[0] = token_labels({"<s>"}, "")[0];
  return labels;
}

}  // namespace heed
