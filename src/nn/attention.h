// Multi-head attention (Vaswani et al., 2017, section 3.2.2).
#pragma once

#include <span>
#include <string>

#include "nn/attention_sink.h"
#include "nn/context.h"
#include "nn/linear.h"
#include "nn/positions/relative_positions.h"
#include "nn/storage/key_value_cache.h"
#include "ops/attention/attention.h"
#include "ops/attention/rotary.h"
#include "ops/norms/rms_norm.h"

namespace heed::nn {

/// What attention reads: query (Nq, D), key (Nk, key_width), value (Nk, value_width).
struct AttentionInputs {
  Var query, key, value;
};

/// Optional inputs of self-attention.
struct SelfAttentionExtras {
  const ops::RotaryAngles* angles = nullptr;  ///< rotary positions of queries and keys
  KeyValueCache* cache = nullptr;             ///< stores keys and values for later steps,
  std::span<const int32_t> cache_rows = {};   ///< those of row n of x in row cache_rows[n]
};

class MultiHeadAttention {
 public:
  /// Names of the four linear layers, after the prefix.
  struct Names {
    std::string query = "q_proj", key = "k_proj", value = "v_proj", output = "out_proj";
    std::string joined{};  ///< one layer for queries, keys and values, in this order; empty: three layers
    std::string query_norm{}, key_norm{};  ///< RMS norms of each head's queries and keys; empty: none
  };
  struct Options {
    int64_t width = 512;     ///< D, of queries and output; the heads share it evenly
    int heads = 8;           ///< H
    int64_t head_width = 0;  ///< d_k; 0: D / H
    /// Grouped-query attention (Ainslie et al., "GQA", 2023): the number of key-value heads, a divisor of H;
    /// 0: H.
    int key_value_heads = 0;
    double scale = 0;             ///< of the scores; 0: 1 / sqrt(d_k)
    double score_cap = 0;         ///< soft cap of the scores (ops::AttentionOperands); 0: none
    int64_t key_width = 0;        ///< width of the input of keys; 0: as `width`
    int64_t value_width = 0;      ///< width of the input of values; 0: as `width`
    bool bias = true;             ///< in the linear layers
    bool output_bias = true;      ///< with `bias`: also in that of the output
    double dropout = 0;           ///< on the weights
    AttentionLayerId layer_id{};  ///< reported to attention sinks
    Names names{};
    AttentionWindow window{};         ///< of self-attention, instead of that of a mask
    RelativePositions relative{};     ///< of self-attention; these need the whole weight matrix
    ops::RmsNormOptions head_norm{};  ///< of query_norm and key_norm, which only self-attention has
  };

  MultiHeadAttention() = default;
  /// Registers the four under `prefix`. Throws kShape where D is not divisible by H.
  MultiHeadAttention(ParameterTable& table, const std::string& prefix, const Options& options);

  /// Attention of all queries to the keys that layout and mask make visible.
  /// query (Nq, D), key (Nk, key_width), value (Nk, value_width) -> (Nq, D). For self-attention, pass the
  /// same Var three times. Others need projections that are parameters of their own (not Names::joined), and
  /// have no window, rotary positions or query_norm.
  Var forward(Context& context, const AttentionInputs& inputs, const ops::AttentionLayout& layout,
              const ops::AttentionMask& mask) const;

  /// Self-attention: x (N, D) -> (N, D).
  Var forward_self(Context& context, const Var& x, const ops::AttentionLayout& layout,
                   const ops::AttentionMask& mask, const SelfAttentionExtras& extras = {}) const;

  /// Self-attention of one new position per hypothesis, x (R, D) -> (R, D). Its key and value are written to
  /// the cache first.
  Var step(Context& context, const Var& x, KeyValueCache& cache, const StepLayout& steps,
           const ops::RotaryAngles* angles = nullptr) const;

  /// The keys and values of the encoder output (N, key_width), side by side: (N, 2 D). Computed once per
  /// sentence, used at every step. Needs keys and values as wide as the queries, and parameters of their own.
  Var project_memory(Context& context, const Var& memory) const;
  /// Attention of x (R, D) to such keys and values.
  Var step_cross(Context& context, const Var& x, const Tensor& memory_keys_values,
                 const StepLayout& steps) const;

  int heads() const { return options_.heads; }
  /// The width of the keys of all heads, and of the values.
  int64_t key_value_width() const { return options_.key_value_heads * options_.head_width; }

 private:
  Var mix(Context& context, const ops::AttentionOperands& operands, const ops::AttentionLayout& layout,
          const ops::AttentionMask& mask) const;
  struct Visible {
    const ops::AttentionLayout& layout;
    const ops::AttentionMask& mask;
  };
  void report(Context& context, const ops::AttentionOperands& operands, const Visible& visible,
              const Tensor& scores, const Var& weights) const;
  Tensor mix_with_distances(Context& context, const Var& query, const KeyValueCache& cache,
                            const StepLayout& steps) const;
  ops::AttentionOperands split_heads(const Context& context, const ops::Columns& query,
                                     const ops::Columns& key, const ops::Columns& value) const;
  /// The queries, keys and values that project_self() computed.
  ops::AttentionOperands split_self(const Context& context, const Var& all) const;
  /// Queries, keys and values of x, side by side, rotated where positions are rotary.
  Var project_self(Context& context, const Var& x, const ops::RotaryAngles* angles) const;
  void keep(const Tensor& projected, KeyValueCache& cache, std::span<const int32_t> rows) const;
  Tensor mix_cached(const ops::AttentionOperands& operands, const StepLayout& steps) const;
  Var merge_heads(Context& context, Var mixed) const;
  StateId heads_id() const;
  int64_t query_width() const { return options_.heads * options_.head_width; }
  double scale() const;

  Options options_;
  Linear query_, key_, value_, output_;
  ParamRef query_norm_, key_norm_;
  Linear query_key_value_, key_value_;  // the same weights, as one product; undefined if widths differ
  bool joined_ = false;
};

}  // namespace heed::nn
