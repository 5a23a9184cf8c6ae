// The weights of products packed in float32 for both directions, y = x W^T + b and dx = dy W: for gradients
// with respect to inputs alone, with weights that stay. Products are batch-invariant, forward and backward.
#pragma once

#include "kernels/gemm/packed/packed_matrix.h"
#include "nn/context.h"

namespace heed::nn {

/// Of any model: weights that are stored in fewer bits are widened. A product is packed at its first use.
/// Thread-safe.
class DifferentiableWeights {
 public:
  /// `packed`: the same weights packed in float32 already, or null. All of these must outlive this, and all
  /// weights stay as they are.
  DifferentiableWeights(const ParameterTable& table, const ParameterArray& values,
                        const CompactParameters* compact = nullptr, const PackedWeights* packed = nullptr);

  struct Product {
    PackedMatrix forward;   ///< W (out, in), with the bias
    PackedMatrix backward;  ///< W^T (in, out)
  };
  const Product& operator[](const ProductRef& product) const;

 private:
  Product pack(const ProductRef& product) const;

  const ParameterTable& table_;
  const ParameterArray values_;
  const CompactParameters* compact_;
  const PackedWeights* packed_;
  mutable FilledOnce<Product> products_;
};

}  // namespace heed::nn
