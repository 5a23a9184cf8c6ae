// AMX tiles (Intel, "Intel 64 and IA-32 Architectures Software Developer's Manual", chapter on Intel AMX):
// eight two-dimensional registers tmm0 to tmm7 of 16 rows of 64 bytes, and one instruction that multiplies
// two of them and adds the product to a third.
//
//   C (16 x 16, int32 or float) += A (16 x 16 dwords) B (16 dwords x 16)
//
//                                  B: tile row k, 16 columns n
//                                +----+----+-- ... --+----+
//                                |k=0 |    |         |    |    one dword: 4 int8 or 2 bf16 numbers of one
//                                +----+----+-- ... --+----+    column of B, consecutive along K (the "VNNI
//                                |k=1 |    |         |    |    layout")
//                                +----+----+-- ... --+----+
//                                 ...
//   A: tile row m, 16 dwords k
//   +----+----+-- ... --+----+   +----+----+-- ... --+----+
//   |k=0 |k=1 |         |k=15|   |c m0|c m1|         |cm15|    one dword: one accumulator
//   +----+----+-- ... --+----+   +----+----+-- ... --+----+
//
// Written as inline assembly, because compilers offer the intrinsics only to files that are compiled for such
// processors. Only where internal::has_amx().
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
constexpr int64_t kDwordBytes = 4;

/// Configures the tiles of the calling thread, all eight at full size, and releases them at the end.
class TileConfig {
 public:
  TileConfig() {
    struct {
      uint8_t palette = 1, start_row = 0, reserved[14] = {};
      uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } const shapes;
    static_assert(sizeof shapes == 64);
    asm volatile("ldtilecfg %0" ::"m"(shapes));
  }
  ~TileConfig() { asm volatile("tilerelease" ::); }
  TileConfig(const TileConfig&) = delete;
  TileConfig& operator=(const TileConfig&) = delete;
};

template <int kTile>
inline __attribute__((always_inline)) void zero() {
  asm volatile("tilezero %%tmm%c0" ::"i"(kTile));
}

/// Tile row r is `stride` bytes after row r - 1.
template <int kTile>
inline __attribute__((always_inline)) void load(const void* rows, int64_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(rows), "r"(stride), "i"(kTile) : "memory");
}
template <int kTile>
inline __attribute__((always_inline)) void store(void* rows, int64_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(rows), "r"(stride), "i"(kTile) : "memory");
}

/// C += A B for signed int8, exact in int32.
template <int kC, int kA, int kB>
inline __attribute__((always_inline)) void dot_s8s8() {
  asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kC), "i"(kA), "i"(kB));
}
/// C += A B for bf16, accumulated in float32. Subnormal inputs count as zero.
template <int kC, int kA, int kB>
inline __attribute__((always_inline)) void dot_bf16() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kC), "i"(kA), "i"(kB));
}

}  // namespace heed::amx
#endif
