#include "inspect/recorder.h"

#include <utility>

#include "base/check.h"
#include "models/finite_output.h"

namespace heed {
namespace {

Stack stack_at(nn::AttentionStack place) {
  switch (place) {
    case nn::AttentionStack::kEncoder:
      return Stack::kEncoder;
    case nn::AttentionStack::kDecoder:
      return Stack::kDecoder;
    case nn::AttentionStack::kCross:
      return Stack::kCross;
  }
  HEED_CHECK(false);
}

}  // namespace

void AttentionRecorder::receive(const nn::AttentionPlace& place, const Tensor& weights,
                                const ops::AttentionLayout& layout, int heads) {
  if (layout.spans.size() != 1) {
    fail(ErrorKind::kUsage, "attention is recorded for one sentence at a time, not for {}",
         layout.spans.size());
  }
  const auto& span = layout.spans[0];
  const int queries = span.query_end - span.query_begin, keys = span.key_end - span.key_begin;
  AttentionStack& layers = stacks_[static_cast<size_t>(stack_at(place.stack))];
  if (layers.size() <= static_cast<size_t>(place.layer)) layers.resize(place.layer + 1);
  auto& recorded = layers[place.layer];
  recorded.clear();
  const std::vector<float> all = weights.to_vector<float>();  // (H, queries, keys)
  models::require_finite_output(all);
  const auto size = static_cast<size_t>(queries) * keys;
  HEED_CHECK(all.size() == size * heads);
  for (int head = 0; head < heads; ++head) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(head * size);
    recorded.push_back({queries, keys, {first, first + static_cast<std::ptrdiff_t>(size)}});
  }
}

void AttentionRecorder::move_into(Trace& trace) {
  for (const Stack which : kStacks)
    stack_of(trace, which) = std::exchange(stacks_[static_cast<size_t>(which)], {});
}

}  // namespace heed
