#include "kernels/simd/isa.h"

#include <cstdlib>

#include "base/check.h"
#include "base/cpu_features.h"
#include "hwy/highway.h"
#include "kernels/simd/amx.h"
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

[[maybe_unused]] bool runs_amx() {
#if HEED_AMX
  static const bool runs = [] {
    if (!cpu_features().amx) return false;
    constexpr int kRequestXstate = 0x1023, kTileData = 18;  // Linux, Documentation/arch/x86/xstate.rst
    return syscall(SYS_arch_prctl, kRequestXstate, kTileData) == 0;  // for all threads
  }();
  return runs;
#else
  return false;
#endif
}

constexpr Isa kIsas[] = {
#if HWY_TARGETS & HWY_WASM  // a module without vectors would be another module
    {"simd128", 5, false, false, false, [] { return true; }},
#else
    {"generic", 0, false, false, false, [] { return true; }},
#endif
#if HWY_TARGETS & HWY_SSE4
    {"sse4", 1, false, false, false, [] { return cpu_features().sse4; }},
#endif
#if HWY_TARGETS & HWY_AVX2
    {"avx2", 2, false, false, false, [] { return cpu_features().avx2; }},
    {"avxvnni", 2, true, false, false, [] { return cpu_features().avx_vnni; }},
#endif
#if HWY_TARGETS & HWY_AVX3
    {"avx512", 3, false, false, false, [] { return cpu_features().avx512; }},
    {"avx512vnni", 3, true, false, false, [] { return cpu_features().avx512_vnni; }},
    {"avx512bf16", 3, true, true, false, [] { return cpu_features().avx512_bf16; }},
    {"amx", 3, true, false, true, runs_amx},
#endif
#if HWY_TARGETS & HWY_NEON  // which every 64-bit Arm processor has
    {"neon", 4, false, false, false, [] { return true; }},
#endif
};

const Isa& find(const std::string& name) {
  for (const Isa& isa : kIsas) {
    if (name != isa.name) continue;
    if (!isa.runs()) {
      fail(ErrorKind::kUsage, "this processor has no {} instructions; it can run: {}", name,
           fmt::join(available_isas(), ", "));
    }
    return isa;
  }
  fail(ErrorKind::kUsage, "there is no instruction set '{}'; this processor can run: {}", name,
       fmt::join(available_isas(), ", "));
}

/// The one of HEED_ISA, which is read once; without it, the best that the processor has.
const Isa& of_environment() {
  static const Isa& isa = []() -> const Isa& {
    const char* wanted = std::getenv("HEED_ISA");
    return find(wanted != nullptr && *wanted != '\0' ? wanted : available_isas().back());
  }();
  return isa;
}

/// The one that kernels use: of_environment() until force_isa().
const Isa*& in_use() {
  static const Isa* isa = &of_environment();
  return isa;
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
  in_use() = &find(name);
}

std::string isa_name() {
  return in_use()->name;
}

int internal::kernel_set() {
  return in_use()->kernel_set;
}

int internal::kernel_set_of_environment() {
  return of_environment().kernel_set;
}

bool internal::has_vnni() {
  return in_use()->vnni;
}

bool internal::has_avx512_bf16() {
  return in_use()->bf16;
}

bool internal::has_amx() {
  return in_use()->amx;
}

}  // namespace heed
