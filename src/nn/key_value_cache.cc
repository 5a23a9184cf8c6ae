#include "nn/key_value_cache.h"

#include <algorithm>
#include <cstring>

namespace heed::nn {

void KeyValueCache::reserve(int64_t rows, int64_t width) {
  if (keys.defined() && keys.dim(0) >= rows) return;
  if (keys.defined()) rows = std::max(rows, 2 * keys.dim(0));  // so that growing costs little in all
  for (Tensor* tensor : {&keys, &values}) {
    Tensor larger = Tensor::empty({rows, width});
    if (tensor->defined()) std::copy_n(tensor->data<float>(), tensor->size(), larger.data<float>());
    *tensor = larger;
  }
}

}  // namespace heed::nn
