// Products of factors in parts (bfloat16_parts-inl.h) that stay in cache, on matrix registers: what
// tile-inl.h is to vectors. Included once for each instruction set.

#if defined(HEED_KERNELS_SPLIT_FACTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_SPLIT_FACTOR_INL_H_
#undef HEED_KERNELS_SPLIT_FACTOR_INL_H_
#else
#define HEED_KERNELS_SPLIT_FACTOR_INL_H_
#endif

#include <algorithm>

#include "kernels/gemm/bfloat16_parts-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// A tile is as many rows by as many columns, and a step of a sum as many inputs.
constexpr int64_t kTile = 32;
static_assert(kTile == kStepInputs && kTile == kRowsOfTiles && kTile == kColumnsOfTiles);

/// Scores and weights are float32, whatever training is told about other products.
constexpr int kAttentionParts = 3;
using AttentionNumbers = SplitNumbers<kAttentionParts>;

/// A register in parts.
constexpr int64_t kPartsGroups = kAttentionParts * kRegisterGroups;

/// A factor in parts: registers of 16 lines and 32 inputs, `neighbour` and `step` groups apart.
struct SplitFactor {
  uint32_t* groups;
  int64_t neighbour, step;

  /// All inputs of 16 lines follow each other, or all lines of 32 inputs.
  static SplitFactor by_line(uint32_t* groups, int64_t inputs) {
    return {groups, inputs / kStepInputs * kPartsGroups, kPartsGroups};
  }
  static SplitFactor by_input(uint32_t* groups, int64_t lines) {
    return {groups, kPartsGroups, lines / amx::kTileRows * kPartsGroups};
  }
  uint32_t* at(int64_t line, int64_t input) const {
    return groups + line / amx::kTileRows * neighbour + input / kStepInputs * step;
  }
  RegisterPlaces from(int64_t line, int64_t input) const {
    constexpr int64_t kBytes = amx::kGroupBytes;
    return {reinterpret_cast<const char*>(at(line, input)), amx::kTileRowBytes, neighbour * kBytes,
            kRegisterGroups * kBytes, step * kBytes};
  }
};
/// Groups of a factor, whole tiles.
constexpr int64_t split_groups(int64_t lines, int64_t inputs) {
  return (lines + kTile - 1) / kTile * kTile * ((inputs + kTile - 1) / kTile) * kAttentionParts * kRowGroups;
}

/// Whole tiles, filled up with zeros.
HWY_INLINE void split_factor(const Factor& from, const SplitFactor& to) {
  for (int64_t line = 0; line < round_up(from.lines, kTile); line += amx::kTileRows) {
    for (int64_t k = 0; k < from.inputs; k += kStepInputs) {
      pack_register<kAttentionParts>(from, line, k, to.at(line, k));
    }
  }
}

/// Those of a vector that are counted, be it none or more than there are.
HWY_INLINE hn::Mask<Floats> first_lanes(int64_t count) {
  return hn::FirstN(Floats(), static_cast<size_t>(std::clamp<int64_t>(count, 0, kRowGroups)));
}

/// C (rows x kTile) = A B, or C += A B where it is begun; whole registers of at most kTile rows.
template <class Body>
HWY_INLINE void multiply_tile(int64_t rows, const RegisterPlaces& a, const RegisterPlaces& b, int64_t inputs,
                              bool begun, const Sums<float>& c, Body& meanwhile) {
  const int64_t steps = (inputs + kStepInputs - 1) / kStepInputs;
  const Sums<const float> first{begun ? c.data : nullptr, c.stride};
  const auto call = [&]() HEED_INLINE_LAMBDA { meanwhile(); };
  if (rows > amx::kTileRows) {
    multiply_registers<AttentionNumbers, 2, 2>(a, b, steps, first, c, call);
  } else {
    multiply_registers<AttentionNumbers, 1, 2>(a, b, steps, first, c, call);
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
