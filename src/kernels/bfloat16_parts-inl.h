// Numbers in float32 as sums of numbers in bfloat16, of 8 significant bits, which is what matrix registers
// multiply, adding up in float32.
//
// A number of 24 significant bits is exactly the sum of three of 8, each of them what the earlier ones have
// left, rounded: x = x0 + x1 + x2, w = w0 + w1 + w2. What is added up of x w is x0 w0 + x0 w1 + x1 w0 + x1 w1
// + x2 w0 + x0 w2; the rest is less than 2^-25 of it, half of what float32 rounds anyway. Henry, Tang and
// Heinecke, "Leveraging the bfloat16 artificial intelligence datatype for higher-precision computations"
// (2019). Weights that were stored in half precision are sums of two parts. Included once for each
// instruction set.

#if defined(HEED_KERNELS_BFLOAT16_PARTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_BFLOAT16_PARTS_INL_H_
#undef HEED_KERNELS_BFLOAT16_PARTS_INL_H_
#else
#define HEED_KERNELS_BFLOAT16_PARTS_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/amx_tile-inl.h"
#include "kernels/tile-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Which parts are multiplied, of x and of the weights: small products before large ones, and from one to the
/// next only one of both parts changes, if that can be.
template <int kPartsOfX, int kPartsOfW>
inline constexpr std::array<PartPair, 0> kPartPairs{};
template <>
inline constexpr std::array<PartPair, 6> kPartPairs<3, 3>{{{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}, {0, 0}}};
template <>
inline constexpr std::array<PartPair, 5> kPartPairs<3, 2>{{{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}}};
template <>
inline constexpr std::array<PartPair, 3> kPartPairs<2, 2>{{{1, 0}, {0, 0}, {0, 1}}};
template <>
inline constexpr std::array<PartPair, 1> kPartPairs<1, 1>{{{0, 0}}};

/// For multiply_registers().
template <int kPartsOfX, int kPartsOfW>
struct SplitNumbers {
  using Total = float;
  static constexpr int64_t kWeightParts = kPartsOfW;
  static constexpr int kPairs = static_cast<int>(kPartPairs<kPartsOfX, kPartsOfW>.size());
  template <int n>
  static constexpr PartPair pair() {
    return kPartPairs<kPartsOfX, kPartsOfW>[n];
  }
  template <int kSum, int kX, int kW>
  static HWY_INLINE void add() {
    amx::add_bfloat16<kSum, kX, kW>();
  }
};

using Floats = hn::ScalableTag<float>;
/// The bits of a float; or a group of a register, which is two numbers in bfloat16.
using Groups = hn::RebindToUnsigned<Floats>;

/// The inputs of one row of a register, and how many groups it has.
constexpr int64_t kStepInputs = 32;
constexpr int64_t kRowGroups = amx::kTileRowBytes / amx::kGroupBytes;
constexpr int64_t kRegisterGroups = amx::kTileRows * kRowGroups;

/// The bits of the nearest number in bfloat16; of two as near, the one further from zero.
HWY_INLINE hn::Vec<Groups> round_to_bfloat16(hn::Vec<Floats> x) {
  const Groups d;
  return hn::And(hn::Add(hn::BitCast(d, x), hn::Set(d, 0x8000u)), hn::Set(d, 0xFFFF0000u));
}

/// The same, or what is no number.
HWY_INLINE hn::Vec<Groups> round_or_keep(hn::Vec<Floats> x) {
  const Groups d;
  const auto none = hn::And(hn::BitCast(d, x), hn::Set(d, 0xFFFF0000u));
  const auto quiet = hn::Or(none, hn::Set(d, 0x00400000u));
  return hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(x)), quiet, round_to_bfloat16(x));
}

/// Group i of part n: that of low_i and, behind it, that of high_i; parts lie `part` groups apart. Gives the
/// bits that are left of both: none of three parts of a number.
template <int kParts>
HWY_INLINE hn::Vec<Groups> split(hn::Vec<Floats> low, hn::Vec<Floats> high, uint32_t* parts, int64_t part) {
  const Groups d;
  for (int n = 0; n < kParts; ++n) {
    const auto part_of = [&](hn::Vec<Floats> x) {
      if (n == 2) return hn::And(hn::BitCast(d, x), hn::Set(d, 0xFFFF0000u));  // there is nothing to round
      return n == kParts - 1 ? round_or_keep(x) : round_to_bfloat16(x);
    };
    const auto low_part = part_of(low), high_part = part_of(high);
    hn::StoreU(hn::Or(hn::ShiftRight<16>(low_part), high_part), d, parts + n * part);
    low = hn::Sub(low, hn::BitCast(Floats(), low_part));
    high = hn::Sub(high, hn::BitCast(Floats(), high_part));
  }
  return hn::Or(hn::BitCast(d, low), hn::BitCast(d, high));
}

/// Of a product A B, either A or B. It has lines, the rows of A or the columns of B, of as many inputs as
/// the product has.
struct Factor {
  const float* data;
  int64_t stride;
  bool is_left;
  bool line_by_line;  ///< number k of a line stands at line * stride + k; otherwise at k * stride + line
  int64_t lines, inputs;

  const float* at(int64_t line, int64_t k) const {
    return data + (line_by_line ? line * stride + k : k * stride + line);
  }
};

/// Numbers as `split` wants them: rows of 2 * kRowGroups inputs for each line of A, or of kRowGroups lines
/// for each input of B.
struct FloatBlock {
  const float* rows;
  int64_t stride;
};

/// At most 16 lines and kStepInputs inputs of a factor, where they stand or, if they stand otherwise or
/// are fewer, in `copy`, filled up with zeros.
HWY_INLINE FloatBlock block_of(const Factor& f, int64_t line, int64_t k, float* copy) {
  constexpr int64_t kLines = amx::kTileRows;
  const int64_t lines = std::min(kLines, f.lines - line), inputs = std::min(kStepInputs, f.inputs - k);
  const float* from = f.at(line, k);
  const bool as_wanted = f.is_left == f.line_by_line, whole = lines == kLines && inputs == kStepInputs;
  if (as_wanted && whole) return {from, f.stride};
  const int64_t width = f.is_left ? kStepInputs : kLines;
  if (!whole) std::fill_n(copy, kLines * kStepInputs, 0.0f);
  if (as_wanted) {
    const int64_t rows = f.is_left ? lines : inputs, columns = f.is_left ? inputs : lines;
    for (int64_t row = 0; row < rows; ++row) std::copy_n(from + row * f.stride, columns, copy + row * width);
  } else if (whole) {
    const int64_t rows = f.is_left ? inputs : lines, columns = f.is_left ? lines : inputs;
    for (int64_t row = 0; row < rows; row += kLines) {
      transpose(from + row * f.stride, f.stride, kLines, columns, copy + row, width);
    }
  } else {
    const int64_t across = f.is_left ? 1 : kLines, along = f.is_left ? kStepInputs : 1;
    for (int64_t i = 0; i < inputs; ++i) {
      for (int64_t n = 0; n < lines; ++n) copy[i * across + n * along] = *f.at(line + n, k + i);
    }
  }
  return {copy, width};
}

/// A register, in kParts parts: 16 lines from `line` and 32 inputs from `k` on. Its rows are `row` groups
/// apart, its parts `part` groups. A group has the inputs k and k + 16 for each k, of both factors alike.
/// Gives what is left, as split() does.
template <int kParts>
HWY_INLINE hn::Vec<Groups> pack_register(const Factor& f, int64_t line, int64_t k, uint32_t* groups,
                                         int64_t row, int64_t part) {
  alignas(64) float copy[amx::kTileRows * kStepInputs];
  const FloatBlock block = block_of(f, line, k, copy);
  const int64_t half = f.is_left ? kRowGroups : kRowGroups * block.stride;
  const Floats d;
  auto left = hn::Zero(Groups());
  for (int64_t r = 0; r < amx::kTileRows; ++r) {
    const float* const from = block.rows + r * block.stride;
    left = hn::Or(left, split<kParts>(hn::LoadU(d, from), hn::LoadU(d, from + half), groups + r * row, part));
  }
  return left;
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
