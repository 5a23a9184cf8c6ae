#include "kernels/simd/isa.h"

#include <cstdlib>
#include <mutex>

#include "base/check.h"
#include "hwy/highway.h"
#include "kernels/simd/amx.h"
#if HWY_ARCH_X86
#include <cpuid.h>
#endif
#if HEED_AMX
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace heed {
namespace {

struct Isa {
  const char* name;
  int kernel_set;
  bool vnni, bf16, amx;
  bool (*runs)();  ///< on this processor, under this system
};

#if HWY_ARCH_X86
/// Highway's target includes AES and carry-less multiplication.
bool runs_sse4() {
  return __builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("aes") != 0 &&
         __builtin_cpu_supports("pclmul") != 0;
}
bool runs_avx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0;
}
bool runs_avx512() {
  return runs_avx2() && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512cd") != 0;
}
/// Registers eax and edx of CPUID leaf 7 (Intel, "Software Developer's Manual", volume 2A): features that
/// compilers have no names for.
struct MoreFeatures {
  unsigned a = 0, d = 0;
  explicit MoreFeatures(unsigned part) {
    unsigned b = 0, c = 0;
    if (__get_cpuid_count(7, part, &a, &b, &c, &d) == 0) a = d = 0;
  }
};
bool runs_avx_vnni() {
  constexpr unsigned kVnni = 1u << 4;
  return runs_avx2() && (MoreFeatures(1).a & kVnni) != 0;
}
bool runs_avx512_vnni() {
  return runs_avx512() && __builtin_cpu_supports("avx512vnni") != 0;
}
bool runs_avx512_bf16() {
  constexpr unsigned kBf16 = 1u << 5;
  return runs_avx512_vnni() && (MoreFeatures(1).a & kBf16) != 0;
}
bool runs_amx() {
#if HEED_AMX
  static const bool runs = [] {
    constexpr unsigned kTile = 1u << 24, kInt8 = 1u << 25, kBf16 = 1u << 22;
    constexpr unsigned kAll = kTile | kInt8 | kBf16;
    if (!runs_avx512_vnni() || (MoreFeatures(0).d & kAll) != kAll) return false;
    constexpr int kRequestXstate = 0x1023, kTileData = 18;  // Linux, Documentation/arch/x86/xstate.rst
    return syscall(SYS_arch_prctl, kRequestXstate, kTileData) == 0;  // for all threads
  }();
  return runs;
#else
  return false;
#endif
}
#endif

constexpr Isa kIsas[] = {
#if HWY_TARGETS & HWY_WASM  // a module without vectors would be another module
    {"simd128", 5, false, false, false, [] { return true; }},
#else
    {"generic", 0, false, false, false, [] { return true; }},
#endif
#if HWY_TARGETS & HWY_SSE4
    {"sse4", 1, false, false, false, runs_sse4},
#endif
#if HWY_TARGETS & HWY_AVX2
    {"avx2", 2, false, false, false, runs_avx2},
    {"avxvnni", 2, true, false, false, runs_avx_vnni},
#endif
#if HWY_TARGETS & HWY_AVX3
    {"avx512", 3, false, false, false, runs_avx512},
    {"avx512vnni", 3, true, false, false, runs_avx512_vnni},
    {"avx512bf16", 3, true, true, false, runs_avx512_bf16},
    {"amx", 3, true, false, true, runs_amx},
#endif
#if HWY_TARGETS & HWY_NEON  // which every 64-bit Arm processor has
    {"neon", 4, false, false, false, [] { return true; }},
#endif
};

const Isa*& chosen() {
  static const Isa* isa = nullptr;
  return isa;
}

void choose(const std::string& name) {
  for (const Isa& isa : kIsas) {
    if (name != isa.name) continue;
    if (!isa.runs()) {
      fail(ErrorKind::kUsage, "this processor has no {} instructions; it can run: {}", name,
           fmt::join(available_isas(), ", "));
    }
    chosen() = &isa;
    return;
  }
  fail(ErrorKind::kUsage, "there is no instruction set '{}'; this processor can run: {}", name,
       fmt::join(available_isas(), ", "));
}

/// The one in use.
const Isa& in_use() {
  static std::once_flag once;
  std::call_once(once, [] {
    const char* wanted = std::getenv("HEED_ISA");
    choose(wanted != nullptr && *wanted != '\0' ? wanted : available_isas().back());
  });
  return *chosen();
}

}  // namespace

std::vector<std::string> available_isas() {
  std::vector<std::string> names;
  for (const Isa& isa : kIsas) {
    if (isa.runs()) names.emplace_back(isa.name);
  }
  return names;
}

void force_isa(const std::string& name) {
  in_use();  // reads HEED_ISA first
  choose(name);
}

std::string isa_name() {
  return in_use().name;
}

int internal::kernel_set() {
  return in_use().kernel_set;
}

bool internal::has_vnni() {
  return in_use().vnni;
}

bool internal::has_avx512_bf16() {
  return in_use().bf16;
}

bool internal::has_amx() {
  return in_use().amx;
}

}  // namespace heed
