#include "ops/attention/distances.h"

#include <algorithm>
#include <cmath>

#include "base/memory_pool.h"
#include "kernels/gemm/gemm.h"
#include "ops/attention/attention_operands.h"
#include "ops/dispatch.h"
#include "ops/gradients.h"

namespace heed::ops {

// ---- Rows of distances ------------------------------------------------------------------------------------

constexpr int64_t kMaxReach = int64_t{1} << 20;  // each distance has a row

Distances Distances::clipped(int64_t reach) {
  if (reach > kMaxReach) {
    fail(ErrorKind::kUsage, "relative positions: the maximum distance {} exceeds {}", reach, kMaxReach);
  }
  if (reach < 1)
    fail(ErrorKind::kUsage, "relative positions: the maximum distance must be at least 1, not {}", reach);
  Distances distances;
  distances.reach_ = reach;
  distances.count_ = 2 * reach + 1;
  for (int32_t row = 0; row < distances.count_; ++row) distances.rows_.push_back(row);
  return distances;
}

namespace {

/// The bucket of a distance on one side: exact below half of them, then logarithmic. In float32, as the
/// implementations have it that models were trained with.
int32_t bucket_of(int64_t distance, int64_t buckets, int64_t reach) {
  const int64_t exact = buckets / 2;
  if (distance < exact) return static_cast<int32_t>(distance);
  const auto whole = static_cast<float>(exact);
  const float share = std::log(static_cast<float>(distance) / whole) /
                      static_cast<float>(std::log(static_cast<double>(reach) / static_cast<double>(exact)));
  const auto further = static_cast<int64_t>(share * static_cast<float>(buckets - exact));
  return static_cast<int32_t>(std::min(exact + further, buckets - 1));
}

}  // namespace

Distances Distances::buckets(const BucketOptions& options) {
  const int64_t of_a_side = options.bidirectional ? options.buckets / 2 : options.buckets;
  if (of_a_side < 2 || options.reach <= of_a_side / 2 || options.reach > kMaxReach) {
    fail(ErrorKind::kUsage,
         "relative positions: {} buckets for distances up to {} leave none to share; there must be {} "
         "buckets at least, and distances beyond {}, up to {}",
         options.buckets, options.reach, options.bidirectional ? 4 : 2, of_a_side / 2, kMaxReach);
  }
  if (options.table_rows != 0 && options.table_rows < options.buckets) {
    fail(ErrorKind::kUsage, "relative positions: {} buckets need a table of as many rows, not {}",
         options.buckets, options.table_rows);
  }
  Distances distances;
  distances.reach_ = options.reach;
  distances.count_ = options.table_rows != 0 ? options.table_rows : options.buckets;
  for (int64_t distance = -options.reach; distance <= options.reach; ++distance) {
    const bool behind = distance > 0;
    int64_t row = 0;
    if (options.bidirectional) {
      row = bucket_of(std::abs(distance), of_a_side, options.reach) + (behind ? of_a_side : 0);
    } else if (!behind) {
      row = bucket_of(-distance, of_a_side, options.reach);
    }
    distances.rows_.push_back(static_cast<int32_t>(row));
  }
  return distances;
}

int32_t Distances::row(int64_t distance) const {
  return rows_[static_cast<size_t>(std::clamp(distance, -reach_, reach_) + reach_)];
}

// ---- Common to all three ---------------------------------------------------------------------------------

namespace {

void require_table(const char* op, const Var& table, const Distances& distances, int64_t width) {
  require_contiguous(op, table.value());
  if (!(table.shape() == Shape{distances.count(), width})) {
    fail(ErrorKind::kShape, "{}: the table must be ({}, {}), not {}", op, distances.count(), width,
         table.shape().to_string());
  }
}

/// visit(index of the pair in (Tq, Tk), query, table row of the distance)
template <typename Visit>
void for_each_pair(const AttentionSpan& span, const Distances& distances, const Visit& visit) {
  const int64_t ahead = span.keys() - span.queries();  // the position of the first query
  for (int64_t q = 0; q < span.queries(); ++q) {
    for (int64_t k = 0; k < span.keys(); ++k) {
      visit(q * span.keys() + k, q, distances.row(k - q - ahead));
    }
  }
}

template <typename T>
using Scratch = std::vector<T, PoolAllocator<T>>;

/// pairs (Tq, Tk) += scale * what each query has for the row of the distance: by_row (Tq, rows).
template <typename T>
void spread(const AttentionSpan& span, const Distances& distances, const T* by_row, T scale, T* pairs) {
  for_each_pair(span, distances, [&](int64_t pair, int64_t q, int32_t row) {
    pairs[pair] += scale * by_row[q * distances.count() + row];
  });
}

/// Backward: for each query, the sum over its pairs with each table row. -> (Tq, rows)
template <typename T>
Scratch<T> collect(const AttentionSpan& span, const Distances& distances, const T* pairs, T scale) {
  Scratch<T> by_row(static_cast<size_t>(span.queries() * distances.count()));
  for_each_pair(span, distances, [&](int64_t pair, int64_t q, int32_t row) {
    by_row[static_cast<size_t>(q * distances.count() + row)] += scale * pairs[pair];
  });
  return by_row;
}

// Of one head: x (Tq, width) are rows of queries or outputs, `stride` apart; table (rows, width).
struct TableProduct {
  const AttentionSpan& span;
  int64_t stride;
  MatmulPrecision precision;
};

/// x table^T -> (Tq, rows)
template <typename T>
Scratch<T> multiply_by_table(const TableProduct& p, const T* x, const Tensor& table) {
  const int64_t rows = table.dim(0), width = table.dim(1);
  Scratch<T> by_row(static_cast<size_t>(p.span.queries() * rows));
  gemm({.transpose_b = true,
        .m = p.span.queries(),
        .n = rows,
        .k = width,
        .a = x,
        .a_stride = p.stride,
        .b = table.data<T>(),
        .b_stride = width,
        .c = by_row.data(),
        .c_stride = rows,
        .precision = p.precision});
  return by_row;
}

/// x += by_row table
template <typename T>
void add_table_mix(const TableProduct& p, const Scratch<T>& by_row, const Tensor& table, T* x) {
  const int64_t rows = table.dim(0), width = table.dim(1);
  gemm({.m = p.span.queries(),
        .n = width,
        .k = rows,
        .a = by_row.data(),
        .a_stride = rows,
        .b = table.data<T>(),
        .b_stride = width,
        .accumulate = true,
        .c = x,
        .c_stride = p.stride,
        .precision = p.precision});
}

/// dtable += by_row^T x
template <typename T>
void add_table_gradient(const TableProduct& p, const Scratch<T>& by_row, const T* x, Tensor& dtable) {
  const int64_t rows = dtable.dim(0), width = dtable.dim(1);
  gemm({.transpose_a = true,
        .m = rows,
        .n = width,
        .k = p.span.queries(),
        .a = by_row.data(),
        .a_stride = rows,
        .b = x,
        .b_stride = p.stride,
        .accumulate = true,
        .c = dtable.data<T>(),
        .c_stride = width,
        .precision = p.precision});
}

}  // namespace

// ---- A bias -----------------------------------------------------------------------------------------------

Var add_distance_bias(const Var& scores, const Var& table, const Distances& distances,
                      const AttentionLayout& layout, int heads) {
  require_weights("add_distance_bias", "scores", scores.value(), layout, heads);
  require_table("add_distance_bias", table, distances, heads);
  require_same_type("add_distance_bias", scores.value(), table.value());
  Tensor biased = scores.value().clone();
  for_float_type("add_distance_bias", biased, [&]<typename T>(T) {
    for_each_head(layout.spans, heads, [&](const AttentionSpan& span, int64_t head, int64_t at) {
      T* score = biased.data<T>() + at;
      const T* bias = table.value().data<T>() + head;
      for_each_pair(span, distances,
                    [&](int64_t pair, int64_t, int32_t row) { score[pair] += bias[row * heads]; });
    });
  });
  Tape* tape = tape_of(scores, table);
  if (tape == nullptr) return biased;
  return tape->record(biased, [tape, scores, table, distances, layout, heads](const Tensor& dbiased) {
    Tensor dtable = accumulator_of(table);
    if (dtable.defined()) {
      for_float_type("add_distance_bias", dbiased, [&]<typename T>(T) {
        for_each_head(layout.spans, heads, [&](const AttentionSpan& span, int64_t head, int64_t at) {
          const T* upstream = dbiased.data<T>() + at;
          T* sum = dtable.data<T>() + head;
          for_each_pair(span, distances,
                        [&](int64_t pair, int64_t, int32_t row) { sum[row * heads] += upstream[pair]; });
        });
      });
    }
    tape->add_gradient(scores, dbiased);
  });
}

// ---- Keys -------------------------------------------------------------------------------------------------

Var add_distance_keys(const Var& scores, const Var& table, const Distances& distances,
                      const AttentionOperands& x, const AttentionLayout& layout) {
  const int64_t width = x.query.width / x.heads, stride = x.query.var.dim(-1);
  require_weights("add_distance_keys", "scores", scores.value(), layout, x.heads);
  require_table("add_distance_keys", table, distances, width);
  require_same_type("add_distance_keys", scores.value(), table.value());
  require_same_type("add_distance_keys", scores.value(), x.query.var.value());
  Tensor all = scores.value().clone();
  for_float_type("add_distance_keys", all, [&]<typename T>(T) {
    const T* query = x.query.var.value().data<T>() + x.query.begin;
    for_each_head(layout.spans, x.heads, [&](const AttentionSpan& span, int64_t head, int64_t at) {
      const Scratch<T> by_row = multiply_by_table(
          {span, stride, x.precision}, query + span.query_begin * stride + head * width, table.value());
      spread(span, distances, by_row.data(), static_cast<T>(x.scale), all.data<T>() + at);
    });
  });
  Tape* tape = tape_of(scores, table, x.query.var);
  if (tape == nullptr) return all;
  return tape->record(all, [tape, scores, table, distances, query = x.query, heads = x.heads, scale = x.scale,
                            precision = x.precision, layout, width, stride](const Tensor& dall) {
    Tensor dquery = accumulator_of(query.var), dtable = accumulator_of(table);
    for_float_type("add_distance_keys", dall, [&]<typename T>(T) {
      for_each_head(layout.spans, heads, [&](const AttentionSpan& span, int64_t head, int64_t at) {
        const int64_t query_at = query.begin + span.query_begin * stride + head * width;
        const Scratch<T> by_row = collect(span, distances, dall.data<T>() + at, static_cast<T>(scale));
        if (dquery.defined()) {  // dQ = dP table
          add_table_mix({span, stride, precision}, by_row, table.value(), dquery.data<T>() + query_at);
        }
        if (dtable.defined()) {  // dtable = dP^T Q
          add_table_gradient({span, stride, precision}, by_row, query.var.value().data<T>() + query_at,
                             dtable);
        }
      });
    });
    tape->add_gradient(scores, dall);
  });
}

// ---- Values -----------------------------------------------------------------------------------------------

Var add_distance_values(const WeightedMix& mix, const Var& table, const Distances& distances,
                        const AttentionLayout& layout, int heads) {
  const Var &weights = mix.weights, &mixed = mix.mixed;
  const int64_t stride = mixed.dim(-1), width = stride / heads;
  require_rows("add_distance_values", mixed.value());
  require_weights("add_distance_values", "weights", weights.value(), layout, heads);
  require_table("add_distance_values", table, distances, width);
  require_same_type("add_distance_values", weights.value(), table.value());
  require_same_type("add_distance_values", weights.value(), mixed.value());
  Tensor all = mixed.value().clone();
  for_float_type("add_distance_values", all, [&]<typename T>(T) {
    for_each_head(layout.spans, heads, [&](const AttentionSpan& span, int64_t head, int64_t at) {
      add_table_mix({span, stride, mix.precision},
                    collect(span, distances, weights.value().data<T>() + at, T{1}), table.value(),
                    all.data<T>() + span.query_begin * stride + head * width);
    });
  });
  Tape* tape = tape_of(weights, mixed, table);
  if (tape == nullptr) return all;
  return tape->record(all, [tape, mix, table, distances, layout, heads, stride, width](const Tensor& dall) {
    Tensor dweights = accumulator_of(mix.weights), dtable = accumulator_of(table);
    for_float_type("add_distance_values", dall, [&]<typename T>(T) {
      for_each_head(layout.spans, heads, [&](const AttentionSpan& span, int64_t head, int64_t at) {
        const T* upstream = dall.data<T>() + span.query_begin * stride + head * width;
        if (dweights.defined()) {  // of a query and a row: dO . table[row]
          const Scratch<T> by_row = multiply_by_table({span, stride, mix.precision}, upstream, table.value());
          spread(span, distances, by_row.data(), T{1}, dweights.data<T>() + at);
        }
        if (dtable.defined()) {
          add_table_gradient({span, stride, mix.precision},
                             collect(span, distances, mix.weights.value().data<T>() + at, T{1}), upstream,
                             dtable);
        }
      });
    });
    tape->add_gradient(mix.mixed, dall);
  });
}

}  // namespace heed::ops
