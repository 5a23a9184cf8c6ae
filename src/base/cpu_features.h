// Which instructions of x86-64 this processor has and the system lets programs use.
#pragma once

namespace heed {

/// Each includes those before it, except that no AVX-512 implies AVX-VNNI. All false on other processors.
struct CpuFeatures {
  bool sse4 = false;    ///< SSE4.2, AES and carry-less multiplication
  bool avx2 = false;    ///< AVX2, FMA, BMI1 and BMI2
  bool avx512 = false;  ///< AVX-512 F, VL, BW, DQ and CD
  bool avx_vnni = false;
  bool avx512_vnni = false;
  bool avx512_bf16 = false;
  bool amx = false;  ///< tiles, of int8 and bfloat16; a process has to ask the system for them
};

/// By CPUID (Intel, "Software Developer's Manual", volume 2A). The compilers' __builtin_cpu_supports()
/// depends on their run-time library: with Zig's it denies everything.
const CpuFeatures& cpu_features();

}  // namespace heed
