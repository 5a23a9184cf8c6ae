// Position encodings. Absolute encodings are vectors, one per position, that are added to the embeddings.
// Relative encodings are part of self-attention and depend only on the distance between two positions.
// MultiHeadAttentionOptions::positions (heed/attention.h) selects relative encodings; the functions here
// compute their components.
#pragma once

#include <cstdint>

#include "heed/tensor.h"

namespace heed {

/// The order of the columns of sinusoidal encodings. With angle(i, k) = i / 10000^(2k / D):
enum class SinusoidLayout {
  kInterleaved,  ///< column 2k is sin(angle(i, k)), column 2k + 1 is cos(angle(i, k)), as in the paper
  kHalves,  ///< column k is the sine, column D/2 + k the cosine, as in Marian and Hugging Face's MarianMT
};

/// Sinusoidal encodings (length, width), one vector per position (Vaswani et al., 2017, section 3.5). Angles
/// are computed in float64. With an odd width there is one more sine than cosines. Throws kShape for a length
/// below 0 or a width below 1, and kUsage for integers.
Tensor sinusoidal_positions(int64_t length, int64_t width,
                            SinusoidLayout layout = SinusoidLayout::kInterleaved,
                            DType dtype = DType::kFloat32);

enum class PositionKind {
  // -- Absolute: added to embeddings.
  kSinusoidal,             ///< all sines, then all cosines (Marian)
  kSinusoidalInterleaved,  ///< sines and cosines alternate (Vaswani et al., 2017)
  kLearned,                ///< a learned vector per position (Gehring et al., 2017)
  kNone,                   ///< no position information, except by the look-ahead mask
  // -- Relative: part of self-attention.
  kRelative,           ///< a key and a value vector per distance (Shaw et al., 2018)
  kBuckets,            ///< a bias per head and bucket of distances (Raffel et al., "T5", 2020)
  kRotary,             ///< rotary (RoPE; Su et al., 2021); pairs are d_k / 2 apart
  kRotaryInterleaved,  ///< the same with adjacent pairs, as in the paper
};

struct PositionOptions {
  PositionKind kind = PositionKind::kSinusoidal;
  int64_t max_relative_distance = 16;  ///< of kRelative: larger distances are clipped to this
  int64_t buckets = 32;                ///< of kBuckets
  int64_t bucket_max_distance = 128;   ///< of kBuckets: larger distances share a bucket
  bool bidirectional = true;   ///< of kBuckets: half of the buckets are for later keys; otherwise none
  double rotary_base = 10000;  ///< of kRotary: angles are i * base^(-2k / d_k)
};

/// Applies rotary encoding to the rows of x (..., T, d_k), float32 or float64, with kRotary or
/// kRotaryInterleaved; the first row of each (T, d_k) has position `first`. The dot product of two rotated
/// rows depends only on their distance. Throws kShape for an odd d_k, kUsage for other kinds.
Tensor rotate_positions(const Tensor& x, const PositionOptions& options, int64_t first = 0);

/// int32 (queries, keys): the row of the table of kRelative or kBuckets for each query and key; the last
/// query is aligned with the last key. Throws kUsage for other kinds and invalid options.
Tensor distance_rows(const PositionOptions& options, int64_t queries, int64_t keys);

}  // namespace heed
