#include "nn/recurrent/recurrent_decoder_layer.h"

#include "base/check.h"

namespace heed::nn {

RecurrentDecoderLayer::RecurrentDecoderLayer(ParameterTable& table, const std::string& prefix,
                                             const Options& options)
    : options_(options) {
  const int64_t gates = gates_of(options.cell) * options.width;
  input_ = Linear(table, prefix + "input", options.input_width, gates);
  context_ = Linear(table, prefix + "context", options.annotation_width, gates, false);
  hidden_bias_ = table.add({prefix + "hidden.bias", {gates}, {Initialization::Kind::kZeros}, {}});
  ParamRef hidden = Linear(table, prefix + "hidden", options.width, gates, false).weight();
  attention_ = RecurrentAttention(table, prefix + "attention.",
                                  {.score = options.score,
                                   .state_width = options.width,
                                   .annotation_width = options.annotation_width,
                                   .width = options.attention_width});
  if (attention_.query_weight().defined()) {
    HEED_CHECK(attention_.query_weight().first == hidden.first + 1);
    hidden = hidden.slice(0, 2);
  }
  hidden_ = table.add_product(hidden);
}

ops::RecurrentMemory RecurrentDecoderLayer::remember(Context& context, const Var& annotations) const {
  return {annotations, attention_.keys(context, annotations)};
}

ops::RecurrentDecoderOutput RecurrentDecoderLayer::forward(Context& context, const Var& x,
                                                           const ops::RecurrentMemory& memory,
                                                           const ops::AttentionLayout& layout,
                                                           const ops::RecurrentStart& start) const {
  const Var gates = input_.forward(context, x);  // (Nt, input width) -> (Nt, G S)
  return ops::recurrent_decoder(gates, memory,
                                {.cell = options_.cell,
                                 .hidden = context.parameter(hidden_.weight),
                                 .hidden_bias = context.parameter(hidden_bias_),
                                 .context = context.parameter(context_.weight()),
                                 .v = attention_.score_vector(context),
                                 .precision = context.precision,
                                 .packed_hidden = context.packed_matrix(hidden_),
                                 .packed_context = context.packed_matrix(context_.product())},
                                layout, start);
}

}  // namespace heed::nn
