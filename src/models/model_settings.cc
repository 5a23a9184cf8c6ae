#include "models/model_settings.h"

namespace heed::models {

const Words<Activation>& activation_names() {
  static const Words<Activation> names{{"relu", Activation::kRelu},         {"gelu", Activation::kGelu},
                                       {"swish", Activation::kSwish},       {"silu", Activation::kSwish},
                                       {"gelu_new", Activation::kGeluTanh}, {"tanh", Activation::kTanh},
                                       {"sigmoid", Activation::kSigmoid}};
  return names;
}

const Words<nn::SinusoidLayout>& position_layouts() {
  static const Words<nn::SinusoidLayout> names{{"halves", nn::SinusoidLayout::kHalves},
                                               {"interleaved", nn::SinusoidLayout::kInterleaved}};
  return names;
}

const Words<RecurrentCell>& recurrent_cell_names() {
  static const Words<RecurrentCell> names{{"gru", RecurrentCell::kGru}, {"lstm", RecurrentCell::kLstm}};
  return names;
}

const Words<nn::AttentionScore>& attention_score_names() {
  static const Words<nn::AttentionScore> names{{"additive", nn::AttentionScore::kAdditive},
                                               {"dot", nn::AttentionScore::kDot},
                                               {"general", nn::AttentionScore::kGeneral}};
  return names;
}

}  // namespace heed::models
