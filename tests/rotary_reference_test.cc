// Rotary positions against the reference: queries and keys turned, causal attention over them, and gradients.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ops/attention.h"
#include "ops/rotary.h"
#include "reference.h"

namespace heed {
namespace {

/// x (A, B, C, d) with B and C exchanged.
template <typename T>
Tensor exchanged(const Tensor& x) {
  Tensor y = Tensor::empty({x.dim(0), x.dim(2), x.dim(1), x.dim(3)}, x.dtype());
  T* to = y.data<T>();
  for (int64_t a = 0; a < x.dim(0); ++a) {
    for (int64_t c = 0; c < x.dim(2); ++c) {
      for (int64_t b = 0; b < x.dim(1); ++b) {
        const T* from = x.data<T>() + ((a * x.dim(1) + b) * x.dim(2) + c) * x.dim(3);
        to = std::copy_n(from, x.dim(3), to);
      }
    }
  }
  return y;
}
Tensor exchange(const Tensor& x) {
  return x.dtype() == DType::kFloat32 ? exchanged<float>(x) : exchanged<double>(x);
}

/// (B, H, T, d_k) -> (B T, H d_k): rows are tokens, heads are columns; and back.
Tensor rows_of_heads(const Tensor& x) {
  return exchange(x).reshape({x.dim(0) * x.dim(2), x.dim(1) * x.dim(3)});
}
Tensor heads_of_rows(const Tensor& x, const Shape& shape) {
  return exchange(x.reshape({shape[0], shape[2], shape[1], shape[3]}));
}

TEST(RotaryReference, TurnsAttendsAndDifferentiates) {
  const auto cases = fixture_cases("relative");
  if (cases.empty()) GTEST_SKIP() << missing_fixtures();
  int found = 0;
  for (const std::string& name : cases) {
    const bool halves = name == "relative/rotary_halves";
    if (!halves && name != "relative/rotary_interleaved") continue;
    ++found;
    const ReferenceCase reference(name);
    for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
      const auto input = [&](const std::string& tensor) {
        return rows_of_heads(reference.tensor("input." + tensor, dtype));
      };
      const Shape shape = reference.tensor("input.query").shape();  // (B, H, T, d_k)
      std::vector<int32_t> positions;
      for (int64_t b = 0; b < shape[0]; ++b) {
        for (const int64_t each : reference.tensor("input.positions").to_vector<int64_t>()) {
          positions.push_back(static_cast<int32_t>(each));
        }
      }
      const ops::RotaryAngles angles = ops::rotary_angles(
          positions, {.head_width = shape[3],
                      .base = reference.hyperparameters().at("base").get<double>(),
                      .layout = halves ? ops::RotaryLayout::kHalves : ops::RotaryLayout::kInterleaved,
                      .dtype = dtype});
      Tape tape;
      const Var query = tape.leaf(input("query")), key = tape.leaf(input("key")),
                value = tape.leaf(input("value"));
      const int64_t width = shape[1] * shape[3];
      const Var turned_query = ops::rotate(query, width, angles),
                turned_key = ops::rotate(key, width, angles);
      const ops::AttentionOperands operands{{turned_query, 0, width},
                                            {turned_key, 0, width},
                                            {value, 0, width},
                                            static_cast<int>(shape[1]),
                                            1 / std::sqrt(static_cast<double>(shape[3]))};
      const auto layout = ops::AttentionLayout::padded(shape[0], shape[2], shape[2]);
      const Var output = ops::streaming_attention(operands, layout, true);
      tape.backward(output, rows_of_heads(reference.tensor("upstream.output", dtype)));
      const auto compare = [&](const std::string& tensor, const Tensor& actual) {
        expect_close(heads_of_rows(actual, shape), reference.tensor(tensor),
                     reference.tolerance(tensor, dtype), name + " " + tensor + " in " + name_of(dtype));
      };
      compare("expected.rotated_query", turned_query.value());
      compare("expected.rotated_key", turned_key.value());
      compare("expected.output", output.value());
      compare("gradient.query", tape.gradient(query));
      compare("gradient.key", tape.gradient(key));
      compare("gradient.value", tape.gradient(value));
    }
  }
  EXPECT_EQ(found, 2);
}

}  // namespace
}  // namespace heed
