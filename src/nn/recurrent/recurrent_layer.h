// A recurrent layer over packed sequences, in one direction or in both (Schuster and Paliwal, 1997).
#pragma once

#include <string>
#include <vector>

#include "nn/context.h"
#include "nn/linear.h"
#include "ops/recurrent/recurrent.h"
#include "ops/recurrent/recurrent_decoder.h"

namespace heed::nn {

class RecurrentLayer {
 public:
  struct Options {
    RecurrentCell cell = RecurrentCell::kGru;
    int64_t input_width = 256;
    int64_t width = 256;         ///< S, of the state in each direction
    bool bidirectional = false;  ///< also from the last token to the first
  };

  RecurrentLayer() = default;
  /// Registers `prefix`forward.input, W_i (G S, input width) and b_i, and `prefix`forward.hidden, W_h (G S,
  /// S) and b_h, with G gates in the order of kernels/recurrent/recurrent_cell.h; and `prefix`backward where
  /// there are two directions.
  RecurrentLayer(ParameterTable& table, const std::string& prefix, const Options& options);

  /// x (N, input width), sequences with offsets (B + 1) -> (N, S), or (N, 2 S): the forward state after each
  /// token, and the backward state, which has read the sequence from its end to that token. `start` is for
  /// one direction; both begin at 0 without it.
  ops::RecurrentStates forward(Context& context, const Var& x, const std::vector<int32_t>& offsets,
                               const ops::RecurrentStart& start = {}) const;

 private:
  struct Direction {
    ProductRef hidden;  // without the bias, which the cell adds
    ParamRef hidden_bias;
  };
  Options options_;
  Linear input_;  // of all directions, as one product
  std::vector<Direction> directions_;
};

}  // namespace heed::nn
