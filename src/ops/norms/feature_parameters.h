// Parameters with one number for each feature, as norms have them.
#pragma once

#include <initializer_list>

#include "ops/dispatch.h"

namespace heed::ops {

/// x (..., D) and parameters (D), contiguous and of one type. Throws kShape otherwise; `names` describes the
/// parameters, such as "weight and bias".
inline void require_feature_parameters(const char* op, const Tensor& x, const char* names,
                                       std::initializer_list<Tensor> parameters) {
  require_rows(op, x);
  const Shape width{x.dim(-1)};
  for (const Tensor& parameter : parameters) {
    require_same_type(op, x, parameter);
    require_contiguous(op, parameter);
    if (!(parameter.shape() == width)) {
      fail(ErrorKind::kShape, "{}: x {} needs {} of {}, not {}", op, x.shape().to_string(), names,
           width.to_string(), parameter.shape().to_string());
    }
  }
}

}  // namespace heed::ops
