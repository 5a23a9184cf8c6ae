// Attention as users of the library call it: ops::flash_attention, with the tape for the backward pass.
#include "ops/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using heed::Shape;
using heed::Tape;
using heed::Tensor;
using heed::Var;

struct Case {
  heed::ops::AttentionLayout layout;
  int heads = 1;
  double scale = 1;
  bool causal = false;
  heed::DropoutStream dropout;
  Tensor query, key, value, upstream;                          // (N, H d_k), and the gradient of the output
  Tensor mixed, query_gradient, key_gradient, value_gradient;  // of the latest run

  Var mix(const Var& q, const Var& k, const Var& v) const {
    return heed::ops::flash_attention({{q, 0, q.dim(1)}, {k, 0, k.dim(1)}, {v, 0, v.dim(1)}, heads, scale},
                                      layout, causal, dropout);
  }
};

}  // namespace

extern "C" {

/// What rows/attention.py fills in: sentences as offsets of rows, the same for queries and keys.
struct HeedBenchAttention {
  const int32_t* offsets;
  int64_t sentences;
  int64_t heads, width;  ///< width: of one head
  int64_t causal;
  double dropout;
  const float *query, *key, *value, *upstream;  ///< (N, heads * width)
};

void* heed_bench_attention_make(const HeedBenchAttention* wanted) {
  const std::vector<int32_t> offsets(wanted->offsets, wanted->offsets + wanted->sentences + 1);
  const Shape shape{offsets.back(), wanted->heads * wanted->width};
  const auto copy = [&](const float* from) {
    return Tensor::from(std::vector<float>(from, from + shape.size()), shape);
  };
  auto* made = new Case;
  made->layout = heed::ops::AttentionLayout::packed(offsets, offsets);
  made->heads = static_cast<int>(wanted->heads);
  made->scale = 1 / std::sqrt(static_cast<double>(wanted->width));
  made->causal = wanted->causal != 0;
  made->dropout = {heed::RandomKey::from_seed(1), wanted->dropout};
  made->query = copy(wanted->query);
  made->key = copy(wanted->key);
  made->value = copy(wanted->value);
  made->upstream = copy(wanted->upstream);
  return made;
}

void heed_bench_attention_forward(void* made) {
  auto* c = static_cast<Case*>(made);
  c->mixed = c->mix(c->query, c->key, c->value).value();
}

void heed_bench_attention_backward(void* made) {
  auto* c = static_cast<Case*>(made);
  Tape tape;
  const Var query = tape.leaf(c->query), key = tape.leaf(c->key), value = tape.leaf(c->value);
  const Var mixed = c->mix(query, key, value);
  tape.backward(mixed, c->upstream);
  c->mixed = mixed.value();
  c->query_gradient = tape.gradient(query);
  c->key_gradient = tape.gradient(key);
  c->value_gradient = tape.gradient(value);
}

/// Of the latest run: 0 the mix, 1 to 3 the gradients of query, key and value.
void heed_bench_attention_result(void* made, int64_t which, float* out) {
  const auto* c = static_cast<const Case*>(made);
  const Tensor* results[] = {&c->mixed, &c->query_gradient, &c->key_gradient, &c->value_gradient};
  std::copy_n(results[which]->data<float>(), results[which]->size(), out);
}

void heed_bench_attention_free(void* made) {
  delete static_cast<Case*>(made);
}

}  // extern "C"
