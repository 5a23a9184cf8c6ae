#include "kernels/split_product.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/memory_pool.h"
#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/split_product.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/bfloat16_parts-inl.h"
#include "kernels/write_sums-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

template <int kParts>
bool pack_parts(const float* weights, int64_t out, int64_t in, uint16_t* panels) {
  constexpr int64_t kRow = kPanelColumns, kStep = kRow * amx::kTileRows;
  auto* panel = reinterpret_cast<uint32_t*>(panels);
  auto left = hn::Zero(Groups());
  for (int64_t begin = 0; begin < in; begin += kSplitInputs) {
    const int64_t steps = std::min(kSplitInputs, in - begin) / kStepInputs, part = steps * kStep;
    for (int64_t first = 0; first < out; first += kPanelColumns, panel += kParts * part) {
      const int64_t columns = std::min(kPanelColumns, out - first);
      if (columns < kPanelColumns) std::fill_n(panel, kParts * part, uint32_t{0});
      const Factor weight{weights + first * in + begin, in, false, true, columns, steps * kStepInputs};
      for (int64_t column = 0; column < columns; column += amx::kTileRows) {
        for (int64_t step = 0; step < steps; ++step) {
          left = hn::Or(left, pack_register<kParts>(weight, column, step * kStepInputs,
                                                    panel + step * kStep + column, kRow, part));
        }
      }
    }
  }
  return hn::AllTrue(Groups(), hn::Eq(left, hn::Zero(Groups())));
}

bool pack_split_panels(const float* weights, int64_t out, int64_t in, int parts, uint16_t* panels) {
  return parts == 2 ? pack_parts<2>(weights, out, in, panels) : pack_parts<3>(weights, out, in, panels);
}

/// Of x; a weight has two parts or three.
constexpr int kPartsOfX = 3;

/// At most kBlockRows rows -> (rows / 16, steps, kPartsOfX, kRegisterGroups), whole registers.
HWY_INLINE void split_rows(const Factor& x, uint32_t* groups) {
  for (int64_t row = 0; row < x.lines; row += amx::kTileRows) {
    for (int64_t k = 0; k < x.inputs; k += kStepInputs, groups += kPartsOfX * kRegisterGroups) {
      pack_register<kPartsOfX>(x, row, k, groups, kRowGroups, kRegisterGroups);
    }
  }
}

template <int kParts>
void multiply_parts(const SplitProductArguments& a) {
  constexpr int64_t kRegister = kRegisterGroups * amx::kGroupBytes, kStep = kPartsOfX * kRegister;
  thread_local std::vector<uint32_t, PoolAllocator<uint32_t>> memory;
  const int64_t most = round_up(std::min(a.rows, kBlockRows), amx::kTileRows) * std::min(a.in, kSplitInputs);
  memory.resize(std::max(memory.size(), static_cast<size_t>(kPartsOfX * most / 2)));
  for (int64_t begin = 0; begin < a.rows; begin += kBlockRows) {
    const int64_t rows = std::min(kBlockRows, a.rows - begin);
    for (int64_t input = 0; input < a.in; input += kSplitInputs) {
      const int64_t inputs = std::min(kSplitInputs, a.in - input), steps = inputs / kStepInputs;
      split_rows({a.x + begin * a.in + input, a.in, true, true, rows, inputs}, memory.data());
      const TileProduct product{
          .rows = rows,
          .out = a.out,
          .steps = steps,
          .x = {reinterpret_cast<const char*>(memory.data()), amx::kTileRowBytes, steps * kStep, kRegister,
                kStep},
          .panels = reinterpret_cast<const char*>(a.panels + kParts * whole_panels(a.out) * input)};
      multiply_panels_in_tiles<SplitNumbers<kPartsOfX, kParts>>(
          product, [&](int64_t row, int64_t count, int64_t first, const float* sums) {
            const bool begun = input > 0;
            write_sums(sums, count, first, a.out, begun ? nullptr : a.bias, a.y + (begin + row) * a.out,
                       begun);
          });
    }
  }
}

void split_product(const SplitProductArguments& a) {
  a.parts == 2 ? multiply_parts<2>(a) : multiply_parts<3>(a);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE
namespace heed {

#if HEED_AMX && HWY_TARGETS & HWY_AVX3

bool has_split_product(int64_t in) {
  return internal::has_amx() && in > 0 && in % N_AVX3::kStepInputs == 0;
}
bool pack_split_panels(const float* weights, int64_t out, int64_t in, int parts, uint16_t* panels) {
  HEED_CHECK(parts == 2 || parts == 3);
  return N_AVX3::pack_split_panels(weights, out, in, parts, panels);
}
void split_product(const SplitProductArguments& arguments) {
  N_AVX3::split_product(arguments);
}

#else

bool has_split_product(int64_t) {
  return false;
}
bool pack_split_panels(const float*, int64_t, int64_t, int, uint16_t*) {
  return false;
}
void split_product(const SplitProductArguments&) {
  HEED_CHECK(false);
}

#endif

}  // namespace heed
#endif
