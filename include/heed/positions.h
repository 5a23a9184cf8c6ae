// Positions: how attention, which by itself sees a set of words, comes to know their order.
//
// Absolute ones are vectors, one for each place, that are added to the words before the first layer. Relative
// ones are part of self-attention and know only how far apart two words are: move a sentence, and nothing
// changes. MultiHeadAttentionOptions::positions (heed/attention.h) takes the relative ones; what they are
// made of can be called by itself here.
#pragma once

#include <cstdint>

#include "heed/tensor.h"

namespace heed {

/// The columns of sinusoidal positions. With angle(i, k) = i / 10000^(2k / D):
enum class SinusoidLayout {
  kInterleaved,  ///< column 2k is sin(angle(i, k)), column 2k + 1 is cos(angle(i, k)): the paper's
  kHalves,       ///< column k is the sine, column D/2 + k the cosine: Marian's in Hugging Face's library
};

/// (length, width): a vector for each place, to be added to the words (Vaswani et al., 2017, section 3.5).
/// Angles are computed in float64. An odd width has one sine more than cosines. Throws kShape for a length
/// below 0 or a width below 1.
Tensor sinusoidal_positions(int64_t length, int64_t width,
                            SinusoidLayout layout = SinusoidLayout::kInterleaved,
                            DType dtype = DType::kFloat32);

enum class PositionKind {
  // -- Absolute: added to embeddings.
  kSinusoidal,             ///< all sines first, then the cosines: Marian's
  kSinusoidalInterleaved,  ///< the paper's (Vaswani et al., 2017)
  kLearned,                ///< a vector for each place (Gehring et al., 2017)
  kNone,                   ///< a sentence is a set of words, but for what the look-ahead mask hides
  // -- Relative: part of self-attention.
  kRelative,           ///< a key and a value for each distance (Shaw et al., 2018)
  kBuckets,            ///< a bias of each head for distances, in buckets (Raffel et al., "T5", 2020)
  kRotary,             ///< queries and keys turned; pairs are halves of a head apart (Su et al., 2021)
  kRotaryInterleaved,  ///< the same with pairs of neighbours, as in the paper
};

struct PositionOptions {
  PositionKind kind = PositionKind::kSinusoidal;
  int64_t relative_distance = 16;  ///< of kRelative: further ones count as this
  int64_t buckets = 32;            ///< of kBuckets
  int64_t bucket_reach = 128;      ///< of kBuckets: distances from here on share a bucket
  bool both_sides = true;          ///< of kBuckets: keys behind the query have half of them; else none
  double rotary_base = 10000;      ///< of kRotary: angles are i * base^(-2k / d_k)
};

/// The rows of x (..., T, d_k), in float32 or float64, turned as kRotary or kRotaryInterleaved say; the first
/// row of each (T, d_k) stands at place `first`. A dot product of two turned rows depends on their distance
/// alone. Throws kShape for an odd d_k, kUsage for other kinds.
Tensor rotate_positions(const Tensor& x, const PositionOptions& options, int64_t first = 0);

/// int32 (queries, keys): which row of its table kRelative or kBuckets takes for each query and key; the last
/// query stands where the last key does. Throws kUsage for other kinds and for numbers that make no sense.
Tensor distance_rows(const PositionOptions& options, int64_t queries, int64_t keys);

}  // namespace heed
