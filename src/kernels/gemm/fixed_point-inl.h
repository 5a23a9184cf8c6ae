// Numbers in float32 as whole numbers of 24 bits, which matrix registers multiply exactly, digit by digit.
//
// A line of a factor, or a slice of it, whose largest absolute value is m has a magnitude M, the least power
// of two for which m / M is below 0.992. Its numbers are x = M 2^-23 X, with X a whole number, the nearest
// one, which is written with three digits of -128 to 127: X = 2^16 X0 + 2^8 X1 + X2. The sum of x w over
// inputs is then M_x M_w 2^-46 times
//
//   2^32 s0 + 2^24 s1 + 2^16 s2 + 2^8 s3 + s4,  s0 = sum X0 W0, s1 = sum X0 W1 + X1 W0, and so on,
//
// with sums that are exact in 32 bits, in whatever order. s4, less than half a unit of X times the largest W
// for each input, is left out. Numbers may be rounded to two digits instead of
// three: then there are no X2 and W2.
// Ozaki, Ogita, Oishi and Rump, "Error-free transformations of matrix multiplication by using fast routines
// of matrix multiplication" (2012); with whole numbers: Ootomo, Ozaki and Yokota, "DGEMM on integer matrix
// multiplication unit" (2024).
//
// What is rounded is each number, to 2^-24 of M, at most some 2^-23 of the largest of its line, and the
// result. Float32 rounds each number to 2^-24 of itself but each sum on the way, which is as large as the
// largest number in it: errors are of the same size. docs/adr/0014 has them. Included once for each
// instruction set.

#if defined(HEED_KERNELS_FIXED_POINT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_FIXED_POINT_INL_H_
#undef HEED_KERNELS_FIXED_POINT_INL_H_
#else
#define HEED_KERNELS_FIXED_POINT_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/gemm/amx_tile-inl.h"
#include "kernels/gemm/factor-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// The inputs of one row of a register of digits.
constexpr int64_t kFixedInputs = amx::kTileRowBytes;
/// 16 lines and kFixedInputs inputs: a register for each digit.
template <int kDigits>
constexpr int64_t kFixedGroups = kDigits* kRegisterGroups;
constexpr int64_t fixed_steps(int64_t inputs) {
  return (inputs + kFixedInputs - 1) / kFixedInputs;
}
/// Inputs are multiplied a slice at a time, each with magnitudes of its own, so that the registers of a slice
/// of both factors fit the first-level cache. Slices of equal size, whole registers, the last perhaps
/// shorter.
template <int64_t kMost>
constexpr int64_t slice_of(int64_t inputs) {
  static_assert(kMost << 14 <= 1 << 24, "s0 is exact in float32");
  const int64_t slices = (inputs + kMost - 1) / kMost, even = (inputs + slices - 1) / slices;
  return fixed_steps(even) * kFixedInputs;
}

/// Of a line, from the bits of its largest absolute value: its numbers are multiples of this, times 2^-23. At
/// least 2^-104, so that numbers below 2^-128 count as zero; infinite from 0.992 2^127 on, so that a product
/// is no number then.
HWY_INLINE hn::Vec<Groups> magnitude_bits(hn::Vec<Groups> largest) {
  constexpr uint32_t kOne = 1u << 23, kMargin = 1u << 17;  // of an exponent
  constexpr uint32_t kLeast = 23 * kOne, kInfinite = 255 * kOne;
  const Groups d;
  const auto above = hn::And(hn::Add(largest, hn::Set(d, kOne + kMargin)), hn::Set(d, ~(kOne - 1)));
  return hn::Min(hn::Max(above, hn::Set(d, kLeast)), hn::Set(d, kInfinite));
}
/// 2^23 / M, for every M that magnitude_bits() gives; something finite where M is infinite, or zero.
HWY_INLINE hn::Vec<Floats> factor_to_fixed(hn::Vec<Floats> magnitude) {
  const Groups d;
  return hn::BitCast(Floats(), hn::Sub(hn::Set(d, 277u << 23), hn::BitCast(d, magnitude)));
}

/// The bits of the absolute value; those of what is no number are above all others.
HWY_INLINE hn::Vec<Groups> absolute_bits(hn::Vec<Floats> x) {
  const Groups d;
  return hn::And(hn::BitCast(d, x), hn::Set(d, 0x7fffffffu));
}

/// The magnitude of `inputs` numbers that stand side by side; infinite where one of them is, or is no number.
HWY_INLINE float magnitude_of(const float* x, int64_t inputs) {
  const Groups d;
  auto most = hn::Zero(d);
  for_each_vector(Floats(), inputs, [&](auto at, auto load, auto) HEED_INLINE_LAMBDA {
    most = hn::Max(most, absolute_bits(load(x + at)));
  });
  return std::bit_cast<float>(hn::GetLane(magnitude_bits(hn::MaxOfLanes(d, most))));
}

/// Those of at most 16 neighbouring columns, of as many inputs below each other.
HWY_INLINE void find_magnitudes(const float* x, int64_t stride, int64_t columns, int64_t inputs,
                                float* magnitudes) {
  const Floats d;
  const auto lanes = hn::FirstN(d, static_cast<size_t>(columns));
  auto most = hn::Zero(Groups());
  for (int64_t k = 0; k < inputs; ++k) {
    most = hn::Max(most, absolute_bits(hn::MaskedLoad(lanes, d, x + k * stride)));
  }
  hn::StoreU(hn::BitCast(d, magnitude_bits(most)), d, magnitudes);
}

/// The digits of x / M 2^23, or the first two, of four inputs of each of 16 groups. Those of digit n go to
/// groups + n * kRegisterGroups.
template <int kDigits>
HWY_INLINE void write_digits(hn::Vec<Floats> x0, hn::Vec<Floats> x1, hn::Vec<Floats> x2, hn::Vec<Floats> x3,
                             hn::Vec<Floats> to_fixed, uint32_t* groups) {
  const Groups d;
  // A byte that is 128 too large for each digit; the fourth is zero. Highway's rounding would look for
  // numbers that are too large, of which there are none that matter.
  const auto bytes = [&](hn::Vec<Floats> x) HEED_INLINE_LAMBDA {
    const auto whole = hn::Vec<Groups>{_mm512_cvtps_epi32(hn::Mul(x, to_fixed).raw)};
    return hn::Add(whole, hn::Set(d, 0x808080u));
  };
  const auto v0 = bytes(x0), v1 = bytes(x1), v2 = bytes(x2), v3 = bytes(x3);
  const auto even = hn::Set(d, 0x00ff00ffu), low = hn::Set(d, 0xffffu), second = hn::Set(d, 0xff00u);
  const auto outer_01 = hn::Or(hn::And(v0, even), hn::ShiftLeft<8>(hn::And(v1, even)));
  const auto outer_23 = hn::Or(hn::And(v2, even), hn::ShiftLeft<8>(hn::And(v3, even)));
  const auto middle_01 = hn::Or(hn::ShiftRight<8>(hn::And(v0, second)), hn::And(v1, second));
  const auto middle_23 = hn::Or(hn::ShiftRight<8>(hn::And(v2, second)), hn::And(v3, second));
  const auto digit_0 = hn::Or(hn::ShiftRight<16>(outer_01), hn::AndNot(low, outer_23));
  const auto digit_1 = hn::Or(middle_01, hn::ShiftLeft<16>(middle_23));
  const auto sign = hn::Set(d, 0x80808080u);
  hn::StoreU(hn::Xor(digit_0, sign), d, groups);
  hn::StoreU(hn::Xor(digit_1, sign), d, groups + kRegisterGroups);
  static_assert(kDigits == 2 || kDigits == 3);
  if constexpr (kDigits == 3) {
    const auto digit_2 = hn::Or(hn::And(outer_01, low), hn::ShiftLeft<16>(outer_23));
    hn::StoreU(hn::Xor(digit_2, sign), d, groups + 2 * kRegisterGroups);
  }
}

// Registers of 16 lines and kFixedInputs inputs, one for each digit. A group has the inputs k, k + 16, k + 32
// and k + 48 for each k, of both factors alike.

/// A row of such registers: the inputs of a line that stand side by side.
template <int kDigits>
HWY_INLINE void write_row(const float* x, int64_t inputs, hn::Vec<Floats> to_fixed, uint32_t* groups) {
  const Floats d;
  const auto write = [&](const float* from) HEED_INLINE_LAMBDA {
    write_digits<kDigits>(hn::LoadU(d, from), hn::LoadU(d, from + kRowGroups),
                          hn::LoadU(d, from + 2 * kRowGroups), hn::LoadU(d, from + 3 * kRowGroups), to_fixed,
                          groups);
    groups += kFixedGroups<kDigits>;
  };
  int64_t k = 0;
  for (; k + kFixedInputs <= inputs; k += kFixedInputs) write(x + k);
  if (k == inputs) return;
  alignas(64) float rest[kFixedInputs] = {};
  std::copy_n(x + k, inputs - k, rest);
  write(rest);
}

/// 16 lines from `line` on and inputs [begin, end): (steps, kDigits, 16, 16 groups) and 16 magnitudes.
template <int kDigits>
HWY_NOINLINE void pack_lines(const Factor& f, int64_t line, int64_t begin, int64_t end, uint32_t* groups,
                             float* magnitudes) {
  constexpr int64_t kLines = amx::kTileRows;
  const Floats d;
  const int64_t lines = std::min(kLines, f.lines - line), inputs = end - begin;
  std::fill_n(magnitudes, kLines, 0.0f);
  if (f.line_by_line) {
    for (int64_t n = 0; n < lines; ++n) {
      const float* const row = f.at(line + n, begin);
      magnitudes[n] = magnitude_of(row, inputs);
      if (!f.is_left) continue;
      write_row<kDigits>(row, inputs, factor_to_fixed(hn::Set(d, magnitudes[n])), groups + n * kRowGroups);
    }
    if (f.is_left) return;
  } else {
    find_magnitudes(f.at(line, begin), f.stride, lines, inputs, magnitudes);
  }
  const Factor slice = until(f, end);
  alignas(64) float copy[kLines * kFixedInputs];
  for (int64_t k = begin; k < end; k += kFixedInputs, groups += kFixedGroups<kDigits>) {
    const FloatBlock block = block_of<kFixedInputs>(slice, line, k, copy);
    if (f.is_left) {
      for (int64_t n = 0; n < kLines; ++n) {
        write_row<kDigits>(block.rows + n * block.stride, kFixedInputs,
                           factor_to_fixed(hn::Set(d, magnitudes[n])), groups + n * kRowGroups);
      }
      continue;
    }
    const auto to_fixed = factor_to_fixed(hn::LoadU(d, magnitudes));
    for (int64_t r = 0; r < kRowGroups; ++r) {
      const auto input = [&](int64_t n) HEED_INLINE_LAMBDA {
        return hn::LoadU(d, block.rows + (r + n * kRowGroups) * block.stride);
      };
      write_digits<kDigits>(input(0), input(1), input(2), input(3), to_fixed, groups + r * kRowGroups);
    }
  }
}

/// s0, s1 and so on of 16 lines of A and 16 of B.
template <int kDigits>
using DigitSums = int32_t[kDigits + 1][kRegisterGroups];

/// Of digits, in a step of kFixedInputs inputs: all but the ninth.
template <int kDigits>
constexpr int kDigitProducts = kDigits == 3 ? 8 : 4;

/// Calls pause(step, n) after each product of digits.
template <int kDigits, class Pause>
HWY_INLINE void multiply_digits(const uint32_t* a, const uint32_t* b, int64_t steps, DigitSums<kDigits>& sums,
                                const Pause& pause) {
  constexpr int kA = kDigits + 1, kB = kA + kDigits;
  const auto load = [&](auto to, const uint32_t* groups, auto digit) HEED_INLINE_LAMBDA {
    amx::load<decltype(to)::value>(groups + digit * kRegisterGroups, amx::kTileRowBytes);
  };
  repeat<kDigits + 1>([&](auto n) HEED_INLINE_LAMBDA { amx::zero<n>(); });
  for (int64_t step = 0; step < steps; ++step, a += kFixedGroups<kDigits>, b += kFixedGroups<kDigits>) {
    repeat<kDigits>([&](auto of_b) HEED_INLINE_LAMBDA {
      constexpr int kOfB = decltype(of_b)::value;
      load(std::integral_constant<int, kB>(), b, of_b);
      repeat<std::min(kDigits, kDigits + 1 - kOfB)>([&](auto of_a) HEED_INLINE_LAMBDA {
        constexpr int kOfA = decltype(of_a)::value;
        if constexpr (kOfB == 0) load(std::integral_constant<int, kA + kOfA>(), a, of_a);
        amx::add_signed_bytes<kOfA + kOfB, kA + kOfA, kB>();
        pause(step, std::integral_constant<int, kOfB * kDigits + kOfA>());
      });
    });
  }
  repeat<kDigits + 1>([&](auto n) HEED_INLINE_LAMBDA { amx::store<n>(sums[n], amx::kTileRowBytes); });
}

/// At most 16 rows and 16 columns of a product C = A B + C0.
struct FixedTile {
  int64_t rows = 0, columns = 0;
  const float *a_magnitudes = nullptr, *b_magnitudes = nullptr;  ///< 16 of each
  Sums<float> c;
  Sums<const float> first;  ///< of C0; zero where there are no data

  /// C0 is what stands in C, or in every row the bias of its columns, of which `column` is the first, or
  /// nothing.
  void begin_with(bool sums, const float* bias, int64_t column) {
    if (sums) {
      first = {c.data, c.stride};
    } else if (bias != nullptr) {
      first = {bias + column, 0};
    }
  }
};

/// Writes a tile row by row, while registers multiply the next one, without a branch that would keep those
/// waiting.
template <int kDigits>
class RowsToWrite {
 public:
  RowsToWrite() = default;
  RowsToWrite(const DigitSums<kDigits>& sums, const FixedTile& tile)
      : sums_(&sums),
        tile_(tile),
        columns_(hn::FirstN(Floats(), static_cast<size_t>(tile.columns))),
        b_magnitudes_(hn::Mul(hn::LoadU(Floats(), tile.b_magnitudes), hn::Set(Floats(), 0x1p-14f))) {
    if (tile.first.data == nullptr) tile_.first = {kZeros, 0};
  }

  /// `next` is what will be written then.
  template <int kPause>
  HWY_INLINE void pause(int64_t step, const Sums<float>& next) {
    if constexpr (kPause % 2 == 1) {
      if (step >= amx::kTileRows / kRowsInStep) return;
      const int64_t row = step * kRowsInStep + kPause / 2;
      __builtin_prefetch(next.data + row * next.stride, 1, 3);
      write(row);
    }
  }
  /// What is left after so many steps.
  HWY_INLINE void finish(int64_t steps) {
    for (int64_t row = steps * kRowsInStep; row < tile_.rows; ++row) write(row);
  }

 private:
  static constexpr int kRowsInStep = kDigitProducts<kDigits> / 2;
  alignas(64) static constexpr float kZeros[amx::kTileRows] = {};
  alignas(64) static constexpr DigitSums<kDigits> kNoSums = {};

  HWY_INLINE void write(int64_t row) {
    alignas(64) float nowhere[amx::kTileRows];
    const Floats d;
    const hn::RebindToSigned<Floats> whole;
    const auto digit_sum = [&](int n) HEED_INLINE_LAMBDA {
      return hn::ConvertTo(d, hn::Load(whole, (*sums_)[n] + row * kRowGroups));
    };
    const auto digit = hn::Set(d, 0x1p-8f);
    auto sum = digit_sum(kDigits);
    for (int n = kDigits - 1; n >= 0; --n) sum = hn::MulAdd(sum, digit, digit_sum(n));
    sum = hn::Mul(hn::Mul(sum, b_magnitudes_), hn::Set(d, tile_.a_magnitudes[row]));

    const bool there = row < tile_.rows;
    float* const c = there ? tile_.c.data + row * tile_.c.stride : nowhere;
    const float* const first = there ? tile_.first.data + row * tile_.first.stride : kZeros;
    hn::BlendedStore(hn::Add(sum, hn::MaskedLoad(columns_, d, first)), columns_, d, c);
  }

  const DigitSums<kDigits>* sums_ = &kNoSums;
  FixedTile tile_{.a_magnitudes = kZeros, .first = {kZeros, 0}};
  hn::Mask<Floats> columns_{};
  hn::Vec<Floats> b_magnitudes_ = hn::Zero(Floats());
};

/// Tiles, one after the other: each is written while registers multiply the next one.
template <int kDigits>
class TilesInTurn {
 public:
  /// Calls also(n) after each product of digits. The magnitudes must last until the next tile, or finish().
  template <class Also>
  HWY_INLINE void multiply(const uint32_t* a, const uint32_t* b, int64_t steps, const FixedTile& tile,
                           const Also& also) {
    multiply_digits<kDigits>(a, b, steps, sums_[now_], [&](int64_t step, auto n) HEED_INLINE_LAMBDA {
      also(n);
      before_.template pause<n>(step, tile.c);
    });
    before_.finish(steps);
    before_ = {sums_[now_], tile};
    now_ = 1 - now_;
  }
  /// The last one.
  HWY_INLINE void finish() {
    before_.finish(0);
    before_ = {};
  }

 private:
  alignas(64) DigitSums<kDigits> sums_[2];
  int now_ = 0;
  RowsToWrite<kDigits> before_;
};

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
