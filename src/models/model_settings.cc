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

}  // namespace heed::models
