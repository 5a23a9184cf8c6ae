#include "nn/feed_forward.h"

#include "ops/elementwise.h"

namespace heed::nn {

FeedForward::FeedForward(ParameterTable& table, const std::string& prefix, const Options& options)
    : options_(options), gated_(options.gate_in_first || !options.gate_name.empty()) {
  if (options.gate_name.empty()) {
    const int64_t matrices = options.gate_in_first ? 2 : 1;
    first_ = Linear(table, prefix + options.first_name, options.width, matrices * options.inner_width,
                    options.bias);
  } else {
    first_ = Linear::join(table, {prefix + options.gate_name, prefix + options.first_name}, options.width,
                          options.inner_width, options.bias);
  }
  second_ = Linear(table, prefix + options.second_name, options.inner_width, options.width, options.bias);
}

Var FeedForward::forward(Context& context, const Var& x) const {
  const Var projected = first_.forward(context, x);  // (N, F), or with a gate (N, 2 F), the gate first
  Var inner = gated_ ? ops::gated_activation(options_.activation, projected)
                     : ops::activate(options_.activation, projected);              // (N, F)
  inner = ops::dropout(inner, context.next_dropout(options_.activation_dropout));  // (N, F)
  return second_.forward(context, inner);                                          // (N, D)
}

}  // namespace heed::nn
