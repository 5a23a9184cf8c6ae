// The recurrent layer of a decoder with attention (Bahdanau, Cho and Bengio, 2015):
//
//   q_i = W_a s_(i-1)                                      the query (dot scores: the state itself)
//   c_i = sum_j softmax_j(score(q_i, k_j)) h_j             the context
//   s_i = cell(W_y y_i + W_c c_i + b, W_h s_(i-1) + b_h)   the new state
//
// Attention is in kernels/recurrent/additive_attention.h, the cell in kernels/recurrent/recurrent_cell.h.
//
// The context of a step depends on the previous state, so this cannot be a recurrent layer followed by an
// attention layer. Like ops/recurrent/recurrent.h it is one op for whole sequences, with a hand-written
// backward pass; a step of search is a sequence of one token.
#pragma once

#include "autograd/tape.h"
#include "kernels/gemm/gemm.h"
#include "kernels/recurrent/recurrent_cell.h"
#include "ops/attention/attention.h"

namespace heed {
class PackedMatrix;
}

namespace heed::ops {

/// S is the width of a state, G the number of gates of the cell, C the width of an annotation, A that of
/// query and key.
struct RecurrentDecoderWeights {
  RecurrentCell cell = RecurrentCell::kGru;
  /// W_h (G S, S) for dot products; for the additive score W_h and W_a together, (G S + A, S).
  Var hidden;
  Var hidden_bias{};  ///< b_h (G S), or undefined
  Var context;        ///< W_c (G S, C)
  Var v{};            ///< of the additive score, (A); undefined: dot products, and A = S
  MatmulPrecision precision = MatmulPrecision::kHighest;
  /// The packed weights, without biases, or null; used where no gradient is wanted.
  const PackedMatrix* packed_hidden = nullptr;
  const PackedMatrix* packed_context = nullptr;
};

/// The encoder output.
struct RecurrentMemory {
  Var annotations;  ///< h (Ns, C)
  Var keys;         ///< k (Ns, A)
};

/// The initial state.
struct RecurrentStart {
  Columns state{};  ///< S columns of (B, any); undefined: zeros
  Columns cell{};   ///< LSTM, likewise
};

struct RecurrentDecoderOutput {
  Var output;      ///< (Nt, S + C): each state, and the context that went into it
  Tensor cells;    ///< LSTM: (Nt, S), as values only
  Tensor weights;  ///< flat, in the order (sequence, query, key)
};

/// input_gates (Nt, G S) = W_y y + b, for the sequences of a layout: its queries are the rows of input_gates,
/// all of them in order, its keys rows of the memory. Throws kShape.
RecurrentDecoderOutput recurrent_decoder(const Var& input_gates, const RecurrentMemory& memory,
                                         const RecurrentDecoderWeights& weights,
                                         const AttentionLayout& layout, const RecurrentStart& start = {});

}  // namespace heed::ops
