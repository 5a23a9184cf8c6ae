// The decoder layer of a recurrent network with attention (Bahdanau, Cho and Bengio, 2015), as
// transformer_layer.h is a Transformer's: ops/recurrent/recurrent_decoder.h with its parameters.
#pragma once

#include <string>

#include "nn/context.h"
#include "nn/linear.h"
#include "nn/recurrent/recurrent_attention.h"
#include "ops/recurrent/recurrent_decoder.h"

namespace heed::nn {

class RecurrentDecoderLayer {
 public:
  struct Options {
    RecurrentCell cell = RecurrentCell::kGru;
    int64_t input_width = 256;       ///< of the embedded tokens
    int64_t width = 512;             ///< S
    int64_t annotation_width = 512;  ///< C
    AttentionScore score = AttentionScore::kAdditive;
    int64_t attention_width = 256;  ///< A, of the additive score
  };

  RecurrentDecoderLayer() = default;
  /// Registers `prefix`input, W_y (G S, input width) and b, `prefix`context.weight, W_c (G S, C), and
  /// `prefix`hidden, W_h (G S, S) and b_h; and `prefix`attention, see RecurrentAttention.
  RecurrentDecoderLayer(ParameterTable& table, const std::string& prefix, const Options& options);

  /// annotations (Ns, C) with their keys, once for a sentence.
  ops::RecurrentMemory remember(Context& context, const Var& annotations) const;
  /// x (Nt, input width) -> (Nt, S + C): states and contexts. The queries of the layout are the rows of x.
  ops::RecurrentDecoderOutput forward(Context& context, const Var& x, const ops::RecurrentMemory& memory,
                                      const ops::AttentionLayout& layout,
                                      const ops::RecurrentStart& start) const;

 private:
  Options options_;
  Linear input_, context_;
  ParamRef hidden_bias_;
  ProductRef hidden_;  // W_h and, for the additive score, W_a below it: both multiply the state
  RecurrentAttention attention_;
};

}  // namespace heed::nn
