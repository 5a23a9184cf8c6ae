#include "models/seq2seq.h"

namespace heed::models {

Tensor next_logits(nn::Context& context, const nn::Linear& output, const Var& hidden,
                   std::span<const StepRow> rows) {
  if (rows.empty() || rows.front().shortlist.empty()) return output.forward(context, hidden).value();
  std::vector<std::span<const int32_t>> selected;
  selected.reserve(rows.size());
  for (const StepRow& row : rows) selected.push_back(row.shortlist);
  return output.forward_selected(context, hidden.value(), selected);
}

}  // namespace heed::models
