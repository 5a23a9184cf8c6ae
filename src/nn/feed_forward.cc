#include "nn/feed_forward.h"

#include "ops/elementwise.h"

namespace heed::nn {

FeedForward::FeedForward(ParameterTable& table, const std::string& prefix, const Options& options)
    : options_(options),
      first_(table, prefix + options.first_name, options.width, options.inner_width),
      second_(table, prefix + options.second_name, options.inner_width, options.width) {}

Var FeedForward::forward(Context& context, const Var& x) const {
  Var inner = ops::activate(options_.activation, first_.forward(context, x));      // (N, F)
  inner = ops::dropout(inner, context.next_dropout(options_.activation_dropout));  // (N, F)
  return second_.forward(context, inner);                                          // (N, D)
}

}  // namespace heed::nn
