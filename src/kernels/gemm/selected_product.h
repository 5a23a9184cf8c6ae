// Selected outputs of a product with a weight matrix, y_ro = x_r . W_o + b_o for a list of o: logits of a
// vocabulary shortlist.
//
// Rows of W are gathered, not packed, because each list is used once. Batch-invariant: an element of y
// depends on its own row of x and of W alone, bit for bit.
#pragma once

#include <cstdint>

namespace heed {

struct SelectedProductArguments {
  int64_t rows = 0, in = 0, count = 0;
  const float* x = nullptr;          ///< (rows, in)
  const int32_t* outputs = nullptr;  ///< (count), each a row of W
  const float* weight = nullptr;     ///< W: (out, in)
  const float* bias = nullptr;       ///< (out) or null
  float* y = nullptr;                ///< (rows, count)
};
void selected_product(const SelectedProductArguments& arguments);

struct Int8SelectedProductArguments {
  int64_t rows = 0, in = 0, count = 0;
  const float* x = nullptr;
  const int32_t* outputs = nullptr;
  const int8_t* weight = nullptr;  ///< W_oi = scales[o] weight[o][i]
  const float* scales = nullptr;   ///< (out)
  const int32_t* sums = nullptr;   ///< (out) of each row of weights, or null: they are computed in every call
  const float* bias = nullptr;
  float* y = nullptr;
};
/// Bit for bit the results of multiply_packed_int8().
void selected_product(const Int8SelectedProductArguments& arguments);

}  // namespace heed
