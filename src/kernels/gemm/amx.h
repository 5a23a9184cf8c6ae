// The tile registers of AMX (Intel, "Intel 64 and IA-32 Architectures Software Developer's Manual", chapter
// on Intel AMX): eight matrices of 16 rows of 64 bytes, and one instruction that multiplies two of them.
//
// Written as assembler, because the compilers' names for these instructions want whole files compiled for
// processors that have them. Only for threads of a process that may use them: internal::has_amx().
#pragma once

#include <cstdint>

#if defined(__x86_64__) && defined(__linux__)
#define HEED_AMX 1
#else
#define HEED_AMX 0
#endif

#if HEED_AMX
namespace heed::amx {

constexpr int64_t kTileRows = 16;
constexpr int64_t kTileRowBytes = 64;
constexpr int64_t kGroupBytes = 4;

/// While it lives, the calling thread may use all of every register.
class Registers {
 public:
  Registers() {
    struct {
      uint8_t palette = 1, start_row = 0, reserved[14] = {};
      uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } const shapes;
    static_assert(sizeof shapes == 64);
    asm volatile("ldtilecfg %0" ::"m"(shapes));
  }
  ~Registers() { asm volatile("tilerelease" ::); }
  Registers(const Registers&) = delete;
  Registers& operator=(const Registers&) = delete;
};

template <int kRegister>
inline __attribute__((always_inline)) void zero() {
  asm volatile("tilezero %%tmm%c0" ::"i"(kRegister));
}

/// Row r stands `stride` bytes after row r - 1.
template <int kRegister>
inline __attribute__((always_inline)) void load(const void* rows, int64_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(rows), "r"(stride), "i"(kRegister) : "memory");
}
template <int kRegister>
inline __attribute__((always_inline)) void store(void* rows, int64_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(rows), "r"(stride), "i"(kRegister) : "memory");
}

// sum[m][n] += sum_k sum_i x[m][k, i] w[k][n, i]: a row of x is 16 groups of four bytes, and a row of w one
// group of each of 16 columns.

/// Groups of four whole numbers, without a sign in x and with one in w; sums are exact in 32 bits.
template <int kSum, int kX, int kW>
inline __attribute__((always_inline)) void add_bytes() {
  asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kX), "i"(kW));
}
/// The same with a sign in both.
template <int kSum, int kX, int kW>
inline __attribute__((always_inline)) void add_signed_bytes() {
  asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kX), "i"(kW));
}
/// Groups of two numbers in bfloat16; sums in float32. Numbers too small for a full exponent count as zero.
template <int kSum, int kX, int kW>
inline __attribute__((always_inline)) void add_bfloat16() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kX), "i"(kW));
}

}  // namespace heed::amx
#endif
