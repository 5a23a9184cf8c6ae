// What self-attention itself knows of the places of its queries and keys.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nn/context.h"
#include "ops/distances.h"
#include "ops/rotary.h"

namespace heed::nn {

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
  double rotary_base = 10000;      ///< of kRotary: angles are i * base^(-2k / d_k)
};

/// How far rows at these places are turned; none, unless positions are rotary. Throws kShape for heads of an
/// odd width.
std::optional<ops::RotaryAngles> rotary_angles(const PositionOptions& options,
                                               const std::vector<int32_t>& places, int64_t head_width,
                                               DType dtype);

/// The tables of kRelative and kBuckets, and what self-attention does with them; for other kinds, nothing.
class RelativePositions {
 public:
  struct Heads {
    int count = 8;
    int64_t width = 64;      ///< d_k
    bool both_sides = true;  ///< keys behind a query are seen too
  };
  RelativePositions() = default;
  /// Registers, under `prefix`, for kRelative "relative_keys" and "relative_values", both (2 distance + 1,
  /// d_k) and shared by the heads, and for kBuckets "relative_attention_bias.weight" (buckets, H).
  RelativePositions(ParameterTable& table, const std::string& prefix, const PositionOptions& options,
                    const Heads& heads);

  bool defined() const { return distances_.defined(); }

  /// What distances add to the scores of these operands.
  Var add_to_scores(Context& context, const Var& scores, const ops::AttentionOperands& operands,
                    const ops::AttentionLayout& layout) const;
  /// What they add to the mix (Nq, D) that was made with these weights.
  Var add_to_mix(Context& context, const ops::WeightedMix& mix, const ops::AttentionLayout& layout,
                 int heads) const;

 private:
  ops::Distances distances_;
  ParamRef keys_, values_, bias_;
};

}  // namespace heed::nn
