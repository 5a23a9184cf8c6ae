#include "nn/key_value_cache.h"

#include <algorithm>
#include <cstring>

namespace heed::nn {

void KeyValueCache::reserve(int64_t rows, int64_t width) {
  if (keys.defined() && keys.dim(0) >= rows) return;
  for (Tensor* tensor : {&keys, &values}) {
    Tensor larger = Tensor::empty({rows, width});
    if (tensor->defined()) std::copy_n(tensor->data<float>(), tensor->size(), larger.data<float>());
    *tensor = larger;
  }
}

}  // namespace heed::nn
