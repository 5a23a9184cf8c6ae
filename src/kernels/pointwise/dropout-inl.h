// The masks of dropout.h, for kernels that apply dropout themselves. Included once for each instruction set.

#if defined(HEED_KERNELS_DROPOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_DROPOUT_INL_H_
#undef HEED_KERNELS_DROPOUT_INL_H_
#else
#define HEED_KERNELS_DROPOUT_INL_H_
#endif

#include <algorithm>

#include "hwy/highway.h"
#include "kernels/pointwise/dropout.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Elements whose bits are drawn together: 16 counters of Philox 4x32-10, eight halves of 16 bits each.
/// Element e of block g has the bits of counter 16 g + e % 16, half e / 16.
constexpr int64_t kDropoutBlock = 128;
/// Bits of a word of a mask, one for each element, in order.
constexpr int64_t kDropoutWordBits = 64;

/// A stream, and the keys of the ten rounds of Philox.
struct DropoutSource {
  explicit DropoutSource(const DropoutStream& one) : stream(one) {
    uint32_t low = one.key.low, high = one.key.high;
    for (auto& round : keys) {
      round[0] = low;
      round[1] = high;
      low += 0x9E3779B9u;
      high += 0xBB67AE85u;
    }
  }

  DropoutStream stream;
  uint64_t keys[10][2];
};

/// Sixteen consecutive counters of base/rng.h's philox(), all of whose numbers are compared with the
/// threshold. Element e of the block is kept where bit e of the two words is set.
#if HWY_TARGET == HWY_SCALAR
inline HWY_NOINLINE void draw_dropout_block(const DropoutSource& source, uint64_t block, uint64_t* bits) {
  std::fill_n(bits, kDropoutBlock / kDropoutWordBits, uint64_t{0});
  for (size_t lane = 0; lane < 16; ++lane) {
    const auto words = philox(source.stream.key, block * 16 + lane);
    for (size_t half = 0; half < 8; ++half) {
      const uint32_t number = words[half / 2] >> half % 2 * 16 & 0xFFFFu;
      const size_t element = half * 16 + lane;
      if (number >= source.stream.threshold)
        bits[element / kDropoutWordBits] |= uint64_t{1} << element % kDropoutWordBits;
    }
  }
}
#else
/// The four words of several counters, each in the lower half of 64 bits; the upper halves are ignored.
template <class D64>
struct PhiloxLanes {
  hn::Vec<D64> x0, x1, x2, x3;

  HWY_INLINE void round(D64 d, const uint64_t* keys) {
    const hn::Repartition<uint32_t, D64> d32;
    const auto times = [&](hn::Vec<D64> x, uint32_t factor)
                           HWY_ATTR { return hn::MulEven(hn::BitCast(d32, x), hn::Set(d32, factor)); };
    const auto product0 = times(x0, 0xD2511F53u), product1 = times(x2, 0xCD9E8D57u);
    x0 = hn::Xor3(hn::ShiftRight<32>(product1), x1, hn::Set(d, keys[0]));
    x1 = product1;
    x2 = hn::Xor3(hn::ShiftRight<32>(product0), x3, hn::Set(d, keys[1]));
    x3 = product0;
  }
};

inline HWY_NOINLINE void draw_dropout_block(const DropoutSource& source, uint64_t block, uint64_t* bits) {
  const hn::CappedTag<uint32_t, 16> d32;
  const hn::Repartition<uint64_t, decltype(d32)> d64;
  const auto threshold = hn::Set(d32, source.stream.threshold);
  const uint64_t first = block * 16;
  bits[0] = bits[1] = 0;
  for (size_t lane = 0; lane < 16; lane += hn::Lanes(d32)) {
    // 16 counters never cross a 32-bit border. Every second one is in `odd`.
    const auto counters =
        hn::BitCast(d64, hn::Add(hn::Iota(d32, 0), hn::Set(d32, static_cast<uint32_t>(first + lane))));
    const auto upper = hn::Set(d64, first >> 32), zero = hn::Zero(d64);
    PhiloxLanes<decltype(d64)> even{counters, upper, zero, zero};
    PhiloxLanes<decltype(d64)> odd{hn::ShiftRight<32>(counters), upper, zero, zero};
    for (const auto& keys : source.keys) {
      even.round(d64, keys);
      odd.round(d64, keys);
    }
    const auto compare = [&](auto halves) HWY_ATTR {
      uint64_t mask = 0;
      hn::StoreMaskBits(d32, hn::Not(hn::Lt(halves, threshold)), reinterpret_cast<uint8_t*>(&mask));
      return mask << lane;
    };
    const auto keep = [&](auto of_even, auto of_odd, uint64_t* mask, int from) HWY_ATTR {
      const auto words = hn::OddEven(hn::BitCast(d32, hn::ShiftLeft<32>(of_odd)), hn::BitCast(d32, of_even));
      *mask |= compare(hn::And(words, hn::Set(d32, 0xFFFFu))) << from | compare(hn::ShiftRight<16>(words))
                                                                            << (from + 16);
    };
    keep(even.x0, odd.x0, bits, 0);
    keep(even.x1, odd.x1, bits, 32);
    keep(even.x2, odd.x2, bits + 1, 0);
    keep(even.x3, odd.x3, bits + 1, 32);
  }
}
#endif

/// Random access to the mask of a stream; nearby reads draw once.
class DropoutReader {
 public:
  explicit DropoutReader(const DropoutStream& stream) : source_(stream) {}

  /// Bit i of `bits`, in whole words: whether element begin + i is kept.
  void read(int64_t begin, int64_t count, uint64_t* bits) {
    int64_t n = begin / kDropoutWordBits;
    const int64_t at = begin % kDropoutWordBits;
    for (int64_t i = 0; i < count; i += kDropoutWordBits, ++bits, ++n) {
      *bits = word(n) >> at;
      if (at > 0 && count - i > kDropoutWordBits - at) *bits |= word(n + 1) << (kDropoutWordBits - at);
    }
  }

 private:
  /// The mask of elements [n * kDropoutWordBits, (n + 1) * kDropoutWordBits).
  uint64_t word(int64_t n) {
    constexpr int64_t kWords = kDropoutBlock / kDropoutWordBits;
    if (n / kWords != drawn_) {
      drawn_ = n / kWords;
      draw_dropout_block(source_, static_cast<uint64_t>(drawn_), bits_);
    }
    return bits_[n % kWords];
  }

  DropoutSource source_;
  int64_t drawn_ = -1;
  uint64_t bits_[kDropoutBlock / kDropoutWordBits];
};

/// `scale` where elements [at, at + lanes) of a mask are kept, zero where not; `at` is a multiple of
/// the vector length.
template <class D>
HWY_INLINE hn::Vec<D> dropout_factors(D d, const uint64_t* bits, int64_t at, hn::Vec<D> scale) {
  const uint64_t word = bits[at / kDropoutWordBits] >> at % kDropoutWordBits;
  return hn::IfThenElseZero(hn::LoadMaskBits(d, reinterpret_cast<const uint8_t*>(&word)), scale);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
