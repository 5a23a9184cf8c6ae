#include "ops/attention/decode_attention.h"

#include "base/check.h"
#include "ops/attention/attention_operands.h"

namespace heed::ops {
namespace {

const uint16_t* first_half(const Columns& columns) {
  return static_cast<const uint16_t*>(columns.var.value().bytes()) + columns.begin;
}

}  // namespace

Tensor decode_attention(const AttentionOperands& x, const CachedKeys& cached) {
  const Tensor &query = x.query.var.value(), &key = x.key.var.value(), &value = x.value.var.value();
  HEED_CHECK(key.dtype() == value.dtype());
  Tensor mixed = Tensor::empty({query.dim(0), x.query.width});
  AttentionArguments<float> arguments{.spans = cached.spans.data(),
                                      .span_count = static_cast<int64_t>(cached.spans.size()),
                                      .heads = x.heads,
                                      .key_value_heads = x.key_value_heads,
                                      .key_width = x.query.width / x.heads,
                                      .value_width = x.query.width / x.heads,
                                      .scale = static_cast<float>(x.scale),
                                      .window = cached.window,
                                      .score_cap = static_cast<float>(x.score_cap),
                                      .dropout = {},
                                      .query = first_column<float>(x.query),
                                      .query_stride = query.stride(0),
                                      .key_rows = cached.key_rows.empty() ? nullptr : cached.key_rows.data(),
                                      .output = mixed.data<float>(),
                                      .output_stride = x.query.width};
  if (key.dtype() == DType::kFloat16) {
    attention(arguments, {first_half(x.key), first_half(x.value), key.stride(0), value.stride(0)});
    return mixed;
  }
  arguments.key = first_column<float>(x.key);
  arguments.value = first_column<float>(x.value);
  arguments.key_stride = key.stride(0);
  arguments.value_stride = value.stride(0);
  attention(arguments);
  return mixed;
}

}  // namespace heed::ops
