// Multi-head attention (Vaswani et al., 2017, section 3.2.2).
#pragma once

#include <string>

#include "nn/attention_sink.h"
#include "nn/context.h"
#include "nn/key_value_cache.h"
#include "nn/linear.h"
#include "ops/attention.h"

namespace heed::nn {

class MultiHeadAttention {
 public:
  /// What the four linear layers are called, behind the prefix.
  struct Names {
    std::string query = "q_proj", key = "k_proj", value = "v_proj", output = "out_proj";
  };
  struct Options {
    int64_t width = 512;      ///< D, of queries and output; the heads share it evenly
    int heads = 8;            ///< H
    int64_t key_width = 0;    ///< of the rows that keys are made from; 0: as `width`
    int64_t value_width = 0;  ///< of the rows that values are made from; 0: as `width`
    bool bias = true;         ///< in the four linear layers
    double dropout = 0;       ///< on the weights
    AttentionPlace place{};   ///< what listeners are told
    Names names{};
  };

  MultiHeadAttention() = default;
  /// Registers the four under `prefix`. Throws kShape where D is not divisible by H.
  MultiHeadAttention(ParameterTable& table, const std::string& prefix, const Options& options);

  /// Attention of all queries to all keys that layout and mask let them see.
  /// query (Nq, D), key (Nk, key_width), value (Nk, value_width) -> (Nq, D). For self-attention, the same Var
  /// thrice.
  Var forward(Context& context, const Var& query, const Var& key, const Var& value,
              const ops::AttentionLayout& layout, const ops::AttentionMask& mask) const;

  /// One more position of self-attention for each row of x (R, D): its key and value are put into the cache
  /// first.
  Var step(Context& context, const Var& x, KeyValueCache& cache, const StepLayout& steps) const;

  /// The keys and values of a memory (N, key_width), side by side: (N, 2 D). Computed once, used at every
  /// step.
  Var project_memory(Context& context, const Var& memory) const;
  /// Attention of x (R, D) to such keys and values.
  Var step_cross(Context& context, const Var& x, const Tensor& memory_keys_values,
                 const StepLayout& steps) const;

  int heads() const { return options_.heads; }

 private:
  Var mix(Context& context, const ops::AttentionOperands& operands, const ops::AttentionLayout& layout,
          const ops::AttentionMask& mask) const;
  ops::AttentionOperands split_heads(const ops::Columns& query, const ops::Columns& key,
                                     const ops::Columns& value) const;

  Options options_;
  Linear query_, key_, value_, output_;
  Linear query_key_value_, key_value_;  // the same weights, as one product; undefined where widths differ
  bool joined_ = false;
};

}  // namespace heed::nn
