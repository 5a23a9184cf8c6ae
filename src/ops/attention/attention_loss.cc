#include "ops/attention/attention_loss.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "ops/attention/attention_operands.h"
#include "ops/dispatch.h"

namespace heed::ops {
namespace {

constexpr double kMinWeight = 1e-20;

/// The index of the weight of a link, in the order (span, head, query, key).
size_t index_of(const AttentionLink& link, const AttentionLayout& layout, int heads, int head) {
  const bool in_layout = link.span >= 0 && static_cast<size_t>(link.span) < layout.spans.size();
  if (in_layout) {
    const AttentionSpan& span = layout.spans[static_cast<size_t>(link.span)];
    if (link.query >= 0 && link.query < span.queries() && link.key >= 0 && link.key < span.keys()) {
      const int64_t matrix = span.queries() * span.keys();
      return static_cast<size_t>(heads * span.pairs_begin + head * matrix + link.query * span.keys() +
                                 link.key);
    }
  }
  fail(ErrorKind::kUsage, "attention_cross_entropy: there is no query {} and key {} in span {} of {}",
       link.query, link.key, link.span, layout.spans.size());
}

}  // namespace

Var attention_cross_entropy(const Var& weights, const AttentionLayout& layout, SelectedHead selected,
                            const std::vector<AttentionLink>& links, double scale) {
  const auto [head, heads] = selected;
  require_weights("attention_cross_entropy", "weights", weights.value(), layout, heads);
  if (head < 0 || head >= heads) {
    fail(ErrorKind::kUsage, "attention_cross_entropy: there is no head {} of {}", head, heads);
  }
  std::vector<std::pair<size_t, double>> shares;  // index and share
  for (const AttentionLink& link : links)
    shares.emplace_back(index_of(link, layout, heads, head), link.share * scale);
  Tensor loss = Tensor::zeros({1}, weights.dtype());
  for_float_type("attention_cross_entropy", loss, [&]<typename T>(T) {
    const T* w = weights.value().data<T>();
    double sum = 0;
    for (const auto& [at, share] : shares)
      sum -= share * std::log(std::max<double>(static_cast<double>(w[at]), kMinWeight));
    *loss.data<T>() = static_cast<T>(sum);
  });
  if (!weights.wants_gradient()) return loss;
  // d loss / d A(q, k) = - share(q, k) / A(q, k)
  return weights.tape()->record(loss, [weights, shares = std::move(shares)](const Tensor& dloss) {
    Tensor dweights = weights.tape()->accumulator(weights);
    for_float_type("attention_cross_entropy", dweights, [&]<typename T>(T) {
      const T* w = weights.value().data<T>();
      const double upstream = static_cast<double>(*dloss.data<T>());
      T* d = dweights.data<T>();
      for (const auto& [at, share] : shares) {
        d[at] -= static_cast<T>(upstream * share / std::max<double>(static_cast<double>(w[at]), kMinWeight));
      }
    });
  });
}

}  // namespace heed::ops
