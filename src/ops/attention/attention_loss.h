// A loss on attention weights: one head is trained to follow a given alignment ("guided alignment";
// Chen et al., "Guided alignment training for topic-aware neural machine translation", 2016; for
// Transformers, Garg et al., "Jointly learning to align and translate with Transformer models", 2019):
//
//   loss = - sum over links (q, k) of share(q, k) log A(q, k)
#pragma once

#include <vector>

#include "ops/attention/attention.h"

namespace heed::ops {

/// Query `query` of span `span` should attend to key `key`; both are counted from the beginning of the
/// span.
struct AttentionLink {
  int32_t span = 0, query = 0, key = 0;
  float share = 1;  ///< of the query's attention
};

/// One head of a layer.
struct SelectedHead {
  int head = 0, heads = 1;
};

/// The loss above of the weights of one head, times `scale`: (1). `weights` is what attention_softmax()
/// gives. Weights below 1e-20 count as 1e-20. Throws kShape for weights that do not fit the layout, kUsage
/// for a head or a link outside it.
Var attention_cross_entropy(const Var& weights, const AttentionLayout& layout, SelectedHead selected,
                            const std::vector<AttentionLink>& links, double scale = 1);

}  // namespace heed::ops
