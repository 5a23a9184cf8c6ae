#include "ops/embedding.h"

#include "kernels/pointwise/elementwise.h"
#include "ops/dispatch.h"

namespace heed::ops {
namespace {

void require_in_range(const Tensor& numbers, int64_t limit, const char* what) {
  const int32_t* values = numbers.data<int32_t>();
  for (int64_t i = 0; i < numbers.size(); ++i) {
    if (values[i] < 0 || values[i] >= limit) {
      fail(ErrorKind::kUsage, "embedding: {} {} at index {} is outside the table of {} rows", what, values[i],
           i, limit);
    }
  }
}

}  // namespace

Var embedding(const Var& table, const Tensor& ids, const EmbeddingOptions& options) {
  if (table.shape().rank() != 2) {
    fail(ErrorKind::kShape, "embedding: the table must be (V, D), not {}", table.shape().to_string());
  }
  if (ids.rank() == Shape::kMaxRank) {
    fail(ErrorKind::kShape, "embedding: ids of {} leave no axis for the width", ids.shape().to_string());
  }
  require_contiguous("embedding", table.value());
  require_contiguous("embedding", ids);
  const int64_t width = table.dim(1);
  require_in_range(ids, table.dim(0), "id");
  const Tensor& positions = options.positions;
  if (positions.defined()) {
    if (positions.rank() != 2 || positions.dim(1) != width || !options.position_ids.defined() ||
        options.position_ids.size() != ids.size()) {
      fail(ErrorKind::kShape,
           "embedding: ids {} and table {} do not fit a position table {} and positions {}",
           ids.shape().to_string(), table.shape().to_string(), positions.shape().to_string(),
           options.position_ids.defined() ? options.position_ids.shape().to_string() : "()");
    }
    require_same_type("embedding", table.value(), positions);
    require_contiguous("embedding", positions);
    require_contiguous("embedding", options.position_ids);
    require_in_range(options.position_ids, positions.dim(0), "position");
  }
  std::vector<int64_t> lengths(ids.shape().begin(), ids.shape().end());
  lengths.push_back(width);
  Tensor y = Tensor::empty(Shape(lengths), table.dtype());
  for_float_type("embedding", y, [&]<typename T>(T) {
    const T scale = static_cast<T>(options.scale);
    for (int64_t t = 0; t < ids.size(); ++t) {
      const T* row = table.value().data<T>() + ids.data<int32_t>()[t] * width;
      T* out = y.data<T>() + t * width;
      if (positions.defined()) {
        const T* position = positions.data<T>() + options.position_ids.data<int32_t>()[t] * width;
        for (int64_t c = 0; c < width; ++c) out[c] = row[c] * scale + position[c];
      } else {
        for (int64_t c = 0; c < width; ++c) out[c] = row[c] * scale;
      }
    }
  });
  if (!table.wants_gradient()) return y;
  return table.tape()->record(
      y, [table, ids, width, scale = options.scale, padding_id = options.padding_id](const Tensor& dy) {
        Tensor dtable = table.tape()->accumulator(table);
        for_float_type("embedding", dy, [&]<typename T>(T) {
          for (int64_t t = 0; t < ids.size(); ++t) {
            const int32_t id = ids.data<int32_t>()[t];
            if (id == padding_id) continue;
            add_scaled({.size = width,
                        .factor = static_cast<T>(scale),
                        .x = dy.data<T>() + t * width,
                        .y = dtable.data<T>() + id * width});
          }
        });
      });
}

}  // namespace heed::ops
