#include "base/cpu_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace heed {
namespace {

#if defined(__x86_64__)
struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

/// Zeros for a leaf that the processor does not have.
Registers cpuid(unsigned leaf, unsigned part) {
  Registers r;
  if (__get_cpuid_count(leaf, part, &r.a, &r.b, &r.c, &r.d) == 0) return {};
  return r;
}

constexpr bool has_bits(unsigned value, unsigned bits) {
  return (value & bits) == bits;
}

/// The low half of register XCR0: which registers the system saves.
unsigned saved_registers(const Registers& leaf1) {
  constexpr unsigned kOsxsave = 1U << 27;
  if (!has_bits(leaf1.c, kOsxsave)) return 0;
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

CpuFeatures find_features() {
  constexpr unsigned kPclmul = 1U << 1, kFma = 1U << 12, kSse42 = 1U << 20, kAes = 1U << 25,
                     kF16c = 1U << 29;                                                               // 1, c
  constexpr unsigned kBmi1 = 1U << 3, kAvx2 = 1U << 5, kBmi2 = 1U << 8;                              // 7, b
  constexpr unsigned kF = 1U << 16, kDq = 1U << 17, kCd = 1U << 28, kBw = 1U << 30, kVl = 1U << 31;  // 7, b
  constexpr unsigned kVnni512 = 1U << 11;                                                            // 7, c
  constexpr unsigned kAmxBf16 = 1U << 22, kAmxTile = 1U << 24, kAmxInt8 = 1U << 25;                  // 7, d
  constexpr unsigned kVnni = 1U << 4, kBf16 = 1U << 5;                                               // 7.1, a
  constexpr unsigned kYmm = 0x6, kZmm = 0xE6;                                                        // XCR0
  const Registers one = cpuid(1, 0), seven = cpuid(7, 0), more = cpuid(7, 1);
  const unsigned saved = saved_registers(one);
  CpuFeatures f;
  f.sse4 = has_bits(one.c, kSse42 | kAes | kPclmul);
  f.avx2 = f.sse4 && has_bits(saved, kYmm) && has_bits(one.c, kFma | kF16c) &&
           has_bits(seven.b, kAvx2 | kBmi1 | kBmi2);
  f.avx512 = f.avx2 && has_bits(saved, kZmm) && has_bits(seven.b, kF | kVl | kBw | kDq | kCd);
  f.avx_vnni = f.avx2 && has_bits(more.a, kVnni);
  f.avx512_vnni = f.avx512 && has_bits(seven.c, kVnni512);
  f.avx512_bf16 = f.avx512_vnni && has_bits(more.a, kBf16);
  f.amx = f.avx512_vnni && has_bits(seven.d, kAmxTile | kAmxInt8 | kAmxBf16);
  return f;
}
#else
CpuFeatures find_features() {
  return {};
}
#endif

}  // namespace

const CpuFeatures& cpu_features() {
  static const CpuFeatures features = find_features();
  return features;
}

}  // namespace heed
