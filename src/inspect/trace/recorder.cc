#include "inspect/trace/recorder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "models/finite_output.h"

namespace heed {
namespace {

/// Columns [begin, begin + width) of the rows [first, last), row by row.
std::vector<float> take_columns(const Tensor& rows, int64_t begin, int64_t width, int64_t first,
                                int64_t last) {
  const std::vector<float> all = rows.to_vector<float>();
  const int64_t stride = rows.dim(rows.rank() - 1);
  std::vector<float> taken;
  for (int64_t row = first; row < last; ++row) {
    const auto from = all.begin() + row * stride + begin;
    taken.insert(taken.end(), from, from + width);
  }
  return taken;
}

/// The (queries, keys) of a head in a flat (H, queries, keys), which may be undefined.
template <typename Number>
std::vector<Number> head_of(const Tensor& all, int head, int64_t size) {
  if (!all.defined()) return {};
  return all.narrow(0, head * size, size).to_vector<Number>();
}

}  // namespace

void AttentionRecorder::receive(const nn::AttentionLayerId& id, const Var& weights,
                                const ops::AttentionLayout& layout, int heads) {
  if (layout.spans.size() != 1) {
    fail(ErrorKind::kUsage, "attention is recorded for one sentence at a time, not for {}",
         layout.spans.size());
  }
  const auto& span = layout.spans[0];
  const int queries = span.query_end - span.query_begin, keys = span.key_end - span.key_begin;
  StackWeights& layers = stacks_[static_cast<size_t>(id.stack)];
  if (layers.size() <= static_cast<size_t>(id.layer)) layers.resize(id.layer + 1);
  auto& recorded = layers[id.layer];
  recorded.clear();
  const std::vector<float> all = weights.value().to_vector<float>();  // (H, queries, keys)
  models::require_finite_output(all);
  const auto size = static_cast<size_t>(queries) * keys;
  HEED_CHECK(all.size() == size * heads);
  for (int head = 0; head < heads; ++head) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(head * size);
    recorded.push_back({queries, keys, {first, first + static_cast<std::ptrdiff_t>(size)}});
  }
}

void AttentionRecorder::receive_operands(const nn::AttentionLayerId& id,
                                         const ops::AttentionOperands& operands,
                                         const nn::AttentionScores& scores,
                                         const ops::AttentionLayout& layout) {
  if (layout.spans.size() != 1) return;
  const auto& span = layout.spans[0];
  const int groups = operands.key_value_heads == 0 ? operands.heads : operands.key_value_heads;
  const int64_t width = operands.query.width / operands.heads;
  const int64_t value_width = operands.value.width / groups;
  HEED_CHECK(width == value_width && operands.key.width / groups == width);
  auto& layers = details_[static_cast<size_t>(id.stack)];
  if (layers.size() <= static_cast<size_t>(id.layer)) layers.resize(id.layer + 1);
  layers[id.layer].clear();
  const int64_t size = span.queries() * span.keys();
  for (int head = 0; head < operands.heads; ++head) {
    const int group = head / (operands.heads / groups);
    const auto columns = [&](const ops::Columns& from, int index, int64_t first, int64_t last) {
      return take_columns(from.var.value(), from.begin + index * width, width, first, last);
    };
    HeadDetail detail;
    detail.width = static_cast<int>(width);
    detail.scale = static_cast<float>(operands.scale);
    detail.query = columns(operands.query, head, span.query_begin, span.query_end);
    detail.key = columns(operands.key, group, span.key_begin, span.key_end);
    detail.value = columns(operands.value, group, span.key_begin, span.key_end);
    detail.scores = head_of<float>(scores.scores, head, size);
    detail.cap = static_cast<float>(operands.score_cap);
    detail.bias = head_of<float>(scores.bias, head, size);
    detail.visible = head_of<uint8_t>(scores.visible, head, size);
    if (std::ranges::find(detail.visible, 0) == detail.visible.end()) detail.visible.clear();
    layers[id.layer].push_back(std::move(detail));
  }
}

void AttentionRecorder::move_into(Trace& trace) {
  trace.details = std::exchange(details_, {});
  for (const Stack which : kStacks)
    stack_of(trace, which) = std::exchange(stacks_[static_cast<size_t>(which)], {});
}

}  // namespace heed
