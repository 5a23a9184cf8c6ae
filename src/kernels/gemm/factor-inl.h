// What the packers of matrix registers read: a factor of a product, as it stands in memory. Included once for
// each instruction set.

#if defined(HEED_KERNELS_FACTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_FACTOR_INL_H_
#undef HEED_KERNELS_FACTOR_INL_H_
#else
#define HEED_KERNELS_FACTOR_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/attention/tile-inl.h"
#include "kernels/gemm/amx_tile-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

using Floats = hn::ScalableTag<float>;
/// The bits of a float; or a group of a register, which is some inputs of a line.
using Groups = hn::RebindToUnsigned<Floats>;

/// Groups of a row of a register, and of all of it.
constexpr int64_t kRowGroups = amx::kTileRowBytes / amx::kGroupBytes;
constexpr int64_t kRegisterGroups = amx::kTileRows * kRowGroups;

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

/// Inputs [.., end) of it.
HWY_INLINE Factor until(const Factor& f, int64_t end) {
  return {f.data, f.stride, f.is_left, f.line_by_line, f.lines, end};
}

/// A part of a matrix that is wanted soon. It is asked for at an even pace: all of it in `calls` calls.
class Ahead {
 public:
  Ahead(const float* data, int64_t stride, int64_t rows, int64_t columns, int64_t calls)
      : row_(data),
        stride_(stride),
        columns_(columns),
        lines_(rows * ((columns + kLine - 1) / kLine)),
        calls_(calls) {}

  HWY_INLINE void ask() {
    for (due_ += lines_; due_ >= calls_; due_ -= calls_) {
      __builtin_prefetch(row_ + column_, 0, 2);
      column_ += kLine;
      if (column_ < columns_) continue;
      column_ = 0;
      row_ += stride_;
    }
  }

 private:
  static constexpr int64_t kLine = kLineBytes / static_cast<int64_t>(sizeof(float));
  const float* row_;
  int64_t stride_, columns_, lines_, calls_;
  int64_t column_ = 0, due_ = 0;
};

/// At most `most` lines from `begin` on and inputs [k, end); nothing behind the last line.
HWY_INLINE Ahead lines_ahead(const Factor& f, int64_t begin, int64_t most, int64_t k, int64_t end,
                             int64_t calls) {
  const int64_t lines = std::clamp<int64_t>(f.lines - begin, 0, most);
  if (f.line_by_line) return {f.at(begin, k), f.stride, lines, end - k, calls};
  return {f.at(begin, k), f.stride, end - k, lines, calls};
}

/// Numbers as registers want them: rows of inputs for each line of A, or of kRowGroups lines for each input
/// of B.
struct FloatBlock {
  const float* rows;
  int64_t stride;
};

/// At most 16 lines and kInputs inputs of a factor, where they stand or, if they stand otherwise or are
/// fewer, in `copy`, filled up with zeros.
template <int64_t kInputs>
HWY_INLINE FloatBlock block_of(const Factor& f, int64_t line, int64_t k, float* copy) {
  constexpr int64_t kLines = amx::kTileRows;
  const int64_t lines = std::min(kLines, f.lines - line), inputs = std::min(kInputs, f.inputs - k);
  const float* from = f.at(line, k);
  const bool as_wanted = f.is_left == f.line_by_line, whole = lines == kLines && inputs == kInputs;
  if (as_wanted && whole) return {from, f.stride};
  const int64_t width = f.is_left ? kInputs : kLines;
  if (!whole) std::fill_n(copy, kLines * kInputs, 0.0f);
  if (as_wanted) {
    const int64_t rows = f.is_left ? lines : inputs, columns = f.is_left ? inputs : lines;
    for (int64_t row = 0; row < rows; ++row) std::copy_n(from + row * f.stride, columns, copy + row * width);
  } else if (whole) {
    const int64_t rows = f.is_left ? inputs : lines, columns = f.is_left ? lines : inputs;
    for (int64_t row = 0; row < rows; row += kLines) {
      transpose(from + row * f.stride, f.stride, kLines, columns, copy + row, width);
    }
  } else {
    const int64_t across = f.is_left ? 1 : kLines, along = f.is_left ? kInputs : 1;
    for (int64_t i = 0; i < inputs; ++i) {
      for (int64_t n = 0; n < lines; ++n) copy[i * across + n * along] = *f.at(line + n, k + i);
    }
  }
  return {copy, width};
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
