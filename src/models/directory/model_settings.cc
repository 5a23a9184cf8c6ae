#include "models/directory/model_settings.h"

namespace heed::models {

const Words<Activation>& activation_names() {
  static const Words<Activation> names{{"relu", Activation::kRelu},
                                       {"gelu", Activation::kGelu},
                                       {"swish", Activation::kSwish},
                                       {"silu", Activation::kSwish},
                                       {"gelu_new", Activation::kGeluTanh},
                                       {"tanh", Activation::kTanh},
                                       {"sigmoid", Activation::kSigmoid},
                                       // The same function in files of other models.
                                       {"gelu_pytorch_tanh", Activation::kGeluTanh}};
  return names;
}

const Words<nn::PositionKind>& position_names() {
  using nn::PositionKind;
  static const Words<PositionKind> names{{"sinusoidal", PositionKind::kSinusoidal},
                                         {"halves", PositionKind::kSinusoidal},
                                         {"sinusoidal_interleaved", PositionKind::kSinusoidalInterleaved},
                                         {"interleaved", PositionKind::kSinusoidalInterleaved},
                                         {"learned", PositionKind::kLearned},
                                         {"none", PositionKind::kNone},
                                         {"relative", PositionKind::kRelative},
                                         {"buckets", PositionKind::kBuckets},
                                         {"rotary", PositionKind::kRotary},
                                         {"rotary_interleaved", PositionKind::kRotaryInterleaved}};
  return names;
}

const Words<nn::NormKind>& norm_names() {
  static const Words<nn::NormKind> names{
      {"layer", nn::NormKind::kLayer}, {"batch", nn::NormKind::kBatch}, {"rms", nn::NormKind::kRms}};
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
