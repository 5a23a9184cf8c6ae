// Which instruction set the kernels use.
//
// The best one that the processor has, chosen at run time, or the one named by the environment variable
// HEED_ISA: generic, sse4, avx2, avxvnni, avx512, avx512vnni, avx512bf16 or amx; generic or neon on 64-bit
// Arm; simd128 in WebAssembly. avxvnni and avx512vnni add the int8 dot product instruction (VNNI), avx512bf16
// that of bfloat16, amx adds tiles to avx512vnni.
#pragma once

#include <string>
#include <vector>

namespace heed {

/// "sse4", "avx2", "avxvnni", "avx512", "avx512vnni", "avx512bf16" or "amx" on x86, "neon" on 64-bit Arm,
/// "simd128" in WebAssembly; "generic" everywhere else: scalar code, which the compiler may vectorize for the
/// baseline of the architecture.
std::string isa_name();

/// Every name that this processor can run, slowest first.
std::vector<std::string> available_isas();

/// Makes all kernels use the named instruction set from now on. Throws kUsage for an unknown one or one that
/// this processor lacks. For tests and comparisons; not while another thread computes.
void force_isa(const std::string& name);

namespace internal {
/// The target in use, of those that kernels are compiled for: 0 generic, 1 SSE4, 2 AVX2, 3 AVX-512, 4 NEON,
/// 5 SIMD128 of WebAssembly.
/// Reads HEED_ISA the first time it is called.
int kernel_set();
/// The same, whatever force_isa() chose: for what a process can choose once.
int kernel_set_of_environment();
/// Whether VNNI may be used.
bool has_vnni();
/// Whether the dot product of bfloat16 in vectors may be used (vdpbf16ps); amx has that of tiles instead.
bool has_avx512_bf16();
/// Whether AMX may be used (amx.h).
bool has_amx();
}  // namespace internal
}  // namespace heed
