#include "nn/feed_forward.h"

#include "nn/storage/half_parameters.h"
#include "ops/elementwise.h"
#include "ops/linear.h"

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
  const PackedMatrix *first = first_.packed(context), *second = second_.packed(context);
  // Weights in 16 bits may be packed at each call, which is better done once for all rows.
  const bool in_16_bits = dynamic_cast<const HalfParameters*>(context.compact) != nullptr;
  if (first != nullptr && !in_16_bits && !gated_ && !context.training && !x.wants_gradient()) {
    return ops::feed_forward(x.value(), *first, options_.activation, *second);  // (N, D)
  }
  const Var projected = first_.forward(context, x);  // (N, F), or with a gate (N, 2 F), the gate first
  Var inner = gated_ ? ops::gated_activation(options_.activation, projected)
                     : ops::activate(options_.activation, projected);              // (N, F)
  inner = ops::dropout(inner, context.next_dropout(options_.activation_dropout));  // (N, F)
  return second_.forward(context, inner);                                          // (N, D)
}

}  // namespace heed::nn
