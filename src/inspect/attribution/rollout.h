// Attention rollout (Abnar and Zuidema, 2020), also of decoders that attend to an encoder.
//
// A layer's output is taken for 1/2 of its input and 1/2 of what it attends to, in the mean of the heads:
//   R_0 = I,  R_l = (1/2 I + 1/2 A_l) R_(l-1)
// A decoder's states are mixtures of its own tokens (U) and of the source (C), with cross-attention as one
// more sub-layer, which reads the encoder's output:
//   U <- (1/2 I + 1/2 A) U,  C <- (1/2 I + 1/2 A) C;   U <- 1/2 U,  C <- 1/2 C + 1/2 A_cross R
#pragma once

#include "inspect/attribution/explained.h"

namespace heed {

/// The shares of the tokens of the whole reading in the states that predict, one row for each row of the
/// stack that predicts; row-major.
struct Rollout {
  std::vector<double> encoder{};  ///< (rows, tokens of the encoder); empty without one
  std::vector<double> decoder{};  ///< (rows, tokens of the decoder); empty without one
  size_t encoder_tokens = 0, decoder_tokens = 0;
};

/// Throws kUsage for a recurrent network, whose states do not mix by attention alone.
Rollout attention_rollout(const InspectedModel& model, const Reading& reading);

/// The values of one prediction. A classifier that pools by the mean averages the rows.
TokenAttribution rollout_of(const InspectedModel& model, const Rollout& rollout, const Explained& explained);

}  // namespace heed
