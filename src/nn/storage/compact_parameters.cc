#include "nn/storage/compact_parameters.h"

#include "base/check.h"

namespace heed::nn {

bool CompactParameters::holds(ParamRef ref) const {
  for (int row = ref.first; row < ref.first + ref.count; ++row) {
    if (!holds_row(row)) return false;
  }
  return true;
}

Tensor CompactParameters::floats(ParamRef ref) const {
  HEED_CHECK(holds(ref));
  const std::lock_guard lock(mutex_);
  Tensor& all = floats_[{ref.first, ref.count}];
  if (!all.defined()) {
    all = Tensor::empty(table_->shape(ref));
    widen(ref, 0, all.dim(0), all.data<float>());
  }
  return all;
}

}  // namespace heed::nn
