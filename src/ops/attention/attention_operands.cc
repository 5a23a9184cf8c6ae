#include "ops/attention/attention_operands.h"

#include <algorithm>
#include <limits>

#include "ops/dispatch.h"

namespace heed::ops {

AttentionLayout AttentionLayout::packed(const std::vector<int32_t>& query_offsets,
                                        const std::vector<int32_t>& key_offsets) {
  if (query_offsets.size() != key_offsets.size()) {
    fail(ErrorKind::kShape, "attention: {} sequences of queries for {} sequences of keys",
         query_offsets.empty() ? 0 : query_offsets.size() - 1,
         key_offsets.empty() ? 0 : key_offsets.size() - 1);
  }
  AttentionLayout layout;
  int64_t pairs = 0;
  for (size_t b = 0; b + 1 < query_offsets.size(); ++b) {
    const AttentionSpan span{query_offsets[b], query_offsets[b + 1], key_offsets[b], key_offsets[b + 1],
                             pairs};
    if (span.queries() < 0 || span.keys() < 0)
      fail(ErrorKind::kShape, "attention: offsets of sequences must not fall");
    pairs += span.queries() * span.keys();
    layout.spans.push_back(span);
  }
  return layout;
}

AttentionLayout AttentionLayout::padded(int64_t batch, int64_t queries, int64_t keys) {
  if (batch * std::max(queries, keys) > std::numeric_limits<int32_t>::max()) {
    fail(ErrorKind::kShape, "attention: a batch of {} sequences of {} is too large", batch,
         std::max(queries, keys));
  }
  std::vector<int32_t> query_offsets, key_offsets;
  for (int64_t b = 0; b <= batch; ++b) {
    query_offsets.push_back(static_cast<int32_t>(b * queries));
    key_offsets.push_back(static_cast<int32_t>(b * keys));
  }
  return packed(query_offsets, key_offsets);
}

int64_t AttentionLayout::pairs() const {
  return spans.empty() ? 0 : spans.back().pairs_begin + spans.back().queries() * spans.back().keys();
}

namespace {

void require_inside(const AttentionLayout& layout, const Columns& query, const Columns& key) {
  const int64_t queries = rows_of(query.var.value()), keys = rows_of(key.var.value());
  for (const AttentionSpan& span : layout.spans) {
    if (span.query_end > queries || span.key_end > keys) {
      fail(ErrorKind::kShape,
           "attention: a sequence with queries [{}, {}) and keys [{}, {}) lies outside query {} and key {}",
           span.query_begin, span.query_end, span.key_begin, span.key_end, query.var.shape().to_string(),
           key.var.shape().to_string());
    }
  }
}

}  // namespace

void require_columns(const char* name, const Columns& columns, int heads) {
  if (heads < 1) fail(ErrorKind::kShape, "attention: the number of heads must be at least 1, not {}", heads);
  require_rows("attention", columns.var.value());
  if (columns.begin < 0 || columns.width <= 0 || columns.begin + columns.width > columns.var.dim(-1)) {
    fail(ErrorKind::kShape, "attention: columns [{}, {}) of {} lie outside {}", columns.begin,
         columns.begin + columns.width, name, columns.var.shape().to_string());
  }
  if (columns.width % heads != 0) {
    fail(ErrorKind::kShape, "attention: the width {} of {} cannot be divided among {} heads", columns.width,
         name, heads);
  }
}

int key_value_heads_of(int heads, int key_value_heads) {
  if (key_value_heads == 0) return heads;
  if (key_value_heads < 0 || heads % key_value_heads != 0) {
    fail(ErrorKind::kShape, "attention: {} heads cannot share {} keys and values evenly", heads,
         key_value_heads);
  }
  return key_value_heads;
}

void require_operands(const AttentionOperands& x, const AttentionLayout& layout) {
  require_columns("query", x.query, x.heads);
  const int key_value_heads = key_value_heads_of(x.heads, x.key_value_heads);
  require_columns("key", x.key, key_value_heads);
  require_columns("value", x.value, key_value_heads);
  if (x.query.width / x.heads != x.key.width / key_value_heads) {
    fail(ErrorKind::kShape, "attention: query and key must be equally wide: {} of query {} and {} of key {}",
         x.query.width, x.query.var.shape().to_string(), x.key.width, x.key.var.shape().to_string());
  }
  if (rows_of(x.key.var.value()) != rows_of(x.value.var.value())) {
    fail(ErrorKind::kShape, "attention: there must be a value for every key: key {} and value {}",
         x.key.var.shape().to_string(), x.value.var.shape().to_string());
  }
  require_same_type("attention", x.query.var.value(), x.key.var.value());
  require_same_type("attention", x.query.var.value(), x.value.var.value());
  require_inside(layout, x.query, x.key);
  if (!(x.score_cap >= 0)) fail(ErrorKind::kUsage, "attention: the soft cap must not be {}", x.score_cap);
}

void require_window(const AttentionWindow& window) {
  if (window.left < 0 || window.right < 0) {
    fail(ErrorKind::kUsage, "attention: a window must not be negative, as [{}, {}] is", window.left,
         window.right);
  }
}

void require_weights(const char* op, const char* name, const Tensor& weights, const AttentionLayout& layout,
                     int heads) {
  require_contiguous(op, weights);
  if (weights.size() != heads * layout.pairs()) {
    fail(ErrorKind::kShape, "{}: {} of {} are not {} heads times {} pairs of query and key", op, name,
         weights.shape().to_string(), heads, layout.pairs());
  }
}

}  // namespace heed::ops
