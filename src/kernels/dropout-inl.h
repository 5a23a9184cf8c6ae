// The masks of dropout.h, for kernels that draw them inside. Included once for each instruction set.

#if defined(HEED_KERNELS_DROPOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_DROPOUT_INL_H_
#undef HEED_KERNELS_DROPOUT_INL_H_
#else
#define HEED_KERNELS_DROPOUT_INL_H_
#endif

#include <algorithm>

#include "hwy/highway.h"
#include "kernels/dropout.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Elements whose bits are drawn together: 16 counters of Philox 4x32-10, eight halves of 16 bits each.
/// Element e of block g has the bits of counter 16 g + e % 16, half e / 16.
constexpr int64_t kDropoutBlock = 128;

/// Sixteen consecutive counters of base/rng.h's philox(), all of whose numbers are compared with the
/// threshold. Writes 0 or `scale` for each of the 128 elements of a block.
#if HWY_TARGET == HWY_SCALAR
inline HWY_NOINLINE void draw_dropout_block(const DropoutStream& stream, uint64_t block, float scale,
                                            float* out) {
  for (size_t lane = 0; lane < 16; ++lane) {
    const auto words = philox(stream.key, block * 16 + lane);
    for (size_t w = 0; w < 4; ++w) {
      out[2 * w * 16 + lane] = (words[w] & 0xFFFFu) >= stream.threshold ? scale : 0;
      out[(2 * w + 1) * 16 + lane] = (words[w] >> 16) >= stream.threshold ? scale : 0;
    }
  }
}
#else
inline HWY_NOINLINE void draw_dropout_block(const DropoutStream& stream, uint64_t block, float scale,
                                            float* out) {
  const hn::CappedTag<uint32_t, 16> d32;
  const hn::Repartition<uint64_t, decltype(d32)> d64;
  const hn::Repartition<float, decltype(d32)> df;
  using V = hn::Vec<decltype(d32)>;
  const auto high_and_low = [&](V a, V b, V& high, V& low) {
    const auto even = hn::MulEven(a, b);
    const auto odd = hn::MulEven(hn::BitCast(d32, hn::ShiftRight<32>(hn::BitCast(d64, a))), b);
    low = hn::OddEven(hn::BitCast(d32, hn::ShiftLeft<32>(odd)), hn::BitCast(d32, even));
    high = hn::OddEven(hn::BitCast(d32, odd), hn::BitCast(d32, hn::ShiftRight<32>(even)));
  };
  const V m0 = hn::Set(d32, 0xD2511F53u), m1 = hn::Set(d32, 0xCD9E8D57u);
  const V threshold = hn::Set(d32, stream.threshold);
  const auto kept = hn::Set(df, scale);
  const uint64_t first = block * 16;
  for (size_t lane = 0; lane < 16; lane += hn::Lanes(d32)) {
    V x0 = hn::Iota(d32, static_cast<uint32_t>(first + lane));  // 16 counters never cross a 32-bit border
    V x1 = hn::Set(d32, static_cast<uint32_t>(first >> 32));
    V x2 = hn::Zero(d32), x3 = hn::Zero(d32);
    uint32_t k0 = stream.key.low, k1 = stream.key.high;
    for (int round = 0; round < 10; ++round) {
      V high0, low0, high1, low1;
      high_and_low(x0, m0, high0, low0);
      high_and_low(x2, m1, high1, low1);
      x0 = hn::Xor(hn::Xor(high1, x1), hn::Set(d32, k0));
      x1 = low1;
      x2 = hn::Xor(hn::Xor(high0, x3), hn::Set(d32, k1));
      x3 = low0;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    const V words[4] = {x0, x1, x2, x3};
    for (size_t w = 0; w < 4; ++w) {
      const V halves[2] = {hn::And(words[w], hn::Set(d32, 0xFFFFu)), hn::ShiftRight<16>(words[w])};
      for (size_t half = 0; half < 2; ++half) {
        const auto keep = hn::Not(hn::Lt(halves[half], threshold));
        hn::StoreU(hn::IfThenElseZero(hn::RebindMask(df, keep), kept), df, out + (2 * w + half) * 16 + lane);
      }
    }
  }
}

#endif

/// Reads a stream at any place; places near each other cost one draw.
template <typename T>
class DropoutReader {
 public:
  explicit DropoutReader(const DropoutStream& stream)
      : stream_(stream), scale_(static_cast<T>(stream.scale())) {}

  /// out[i] = mask of element begin + i.
  void read(int64_t begin, int64_t count, T* out) {
    while (count > 0) {
      const int64_t block = begin / kDropoutBlock, at = begin % kDropoutBlock;
      if (block != drawn_) {
        draw_dropout_block(stream_, static_cast<uint64_t>(block), 1.0f, mask_);
        drawn_ = block;
      }
      const int64_t part = std::min(count, kDropoutBlock - at);
      for (int64_t i = 0; i < part; ++i) out[i] = static_cast<T>(mask_[at + i]) * scale_;
      begin += part;
      out += part;
      count -= part;
    }
  }

 private:
  DropoutStream stream_;
  T scale_;
  int64_t drawn_ = -1;
  float mask_[kDropoutBlock];
};

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
