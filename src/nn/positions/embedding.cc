#include "nn/positions/embedding.h"

#include <numeric>
#include <utility>

#include "base/check.h"

namespace heed::nn {

Var embedding(Context& context, ParamRef table, const std::vector<int32_t>& ids,
              const ops::EmbeddingOptions& options) {
  const auto count = static_cast<int64_t>(ids.size());
  if (context.compact == nullptr || !context.compact->holds(table)) {
    return ops::embedding(context.parameter(table), Tensor::from(ids, {count}), options);
  }
  const Shape shape = context.table->shape(table);  // (V, D)
  Tensor rows = Tensor::empty({count, shape[1]});   // (N, D)
  for (int64_t n = 0; n < count; ++n) {
    if (ids[n] < 0 || ids[n] >= shape[0]) {
      fail(ErrorKind::kUsage, "embedding: id {} at index {} is outside the table of {} rows", ids[n], n,
           shape[0]);
    }
    context.compact->widen(table, ids[n], 1, rows.data<float>() + n * shape[1]);
  }
  std::vector<int32_t> all(ids.size());
  std::iota(all.begin(), all.end(), 0);
  return ops::embedding(rows, Tensor::from(all, {count}), options);
}

Var token_embedding(Context& context, Stack stack, ParamRef table, const std::vector<int32_t>& ids,
                    const ops::EmbeddingOptions& options) {
  return context.pass({stack, StateKind::kTokens}, embedding(context, table, ids, options));  // (N, D)
}

}  // namespace heed::nn
