// Some outputs alone of a product with a weight matrix, y_ro = x_r . W_o + b_o for o among those that are
// named: the logits of the words that may follow, where others are left out.
//
// The rows of W are read where they lie, without any packing, for each list of outputs names other ones. A
// number of y depends on its own row of x and of W alone, to the last bit.
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
  const float* bias = nullptr;
  float* y = nullptr;
};
/// The same numbers as those of int8_product(), to the last bit.
void selected_product(const Int8SelectedProductArguments& arguments);

}  // namespace heed
