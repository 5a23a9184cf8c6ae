#include "models/seq2seq.h"

#include "nn/linear.h"

namespace heed::models {

Tensor next_logits(nn::Context& context, const Var& hidden, nn::ParamRef weight, nn::ParamRef bias,
                   std::span<const StepRow> rows) {
  if (rows.empty() || rows.front().shortlist.empty())
    return nn::linear(context, hidden, weight, bias).value();
  std::vector<std::span<const int32_t>> wanted;
  wanted.reserve(rows.size());
  for (const StepRow& row : rows) wanted.push_back(row.shortlist);
  return nn::selected_linear(context, hidden.value(), weight, bias, wanted);
}

}  // namespace heed::models
