#include "kernels/isa.h"

#include <cstdlib>
#include <mutex>

#include "base/check.h"
#include "hwy/highway.h"
#include "hwy/targets.h"

namespace heed {
namespace {

struct Isa {
  const char* name;
  int64_t target;
  bool vnni = false;
};

#if HWY_ARCH_X86
constexpr Isa kIsas[] = {
    {"generic", HWY_STATIC_TARGET}, {"avx2", HWY_AVX2}, {"avx512", HWY_AVX3}, {"avx512vnni", HWY_AVX3, true}};
#else
constexpr Isa kIsas[] = {{"generic", HWY_STATIC_TARGET}};
#endif

bool processor_has_vnni() {
#if HWY_ARCH_X86
  return __builtin_cpu_supports("avx512vnni") != 0;
#else
  return false;
#endif
}

bool processor_runs(const Isa& isa, int64_t supported) {
  return (supported & isa.target) != 0 && (!isa.vnni || processor_has_vnni());
}

int64_t supported_by_processor() {
  hwy::SetSupportedTargetsForTest(0);
  return hwy::SupportedTargets();
}

const Isa*& chosen() {
  static const Isa* isa = nullptr;
  return isa;
}

void choose(const std::string& name) {
  const int64_t supported = supported_by_processor();
  for (const Isa& isa : kIsas) {
    if (name != isa.name) continue;
    if (!processor_runs(isa, supported)) {
      fail(ErrorKind::kUsage, "this processor has no {} instructions; it can run: {}", name,
           fmt::join(available_isas(), ", "));
    }
    hwy::SetSupportedTargetsForTest(isa.target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    chosen() = &isa;
    return;
  }
  fail(ErrorKind::kUsage, "there is no instruction set '{}'; this processor can run: {}", name,
       fmt::join(available_isas(), ", "));
}

}  // namespace

std::vector<std::string> available_isas() {
  const int64_t supported = supported_by_processor();
  std::vector<std::string> names;
  for (const Isa& isa : kIsas) {
    if (processor_runs(isa, supported)) names.emplace_back(isa.name);
  }
  return names;
}

void force_isa(const std::string& name) {
  internal::ensure_isa();
  choose(name);
}

std::string isa_name() {
  internal::ensure_isa();
  return chosen()->name;
}

bool internal::has_vnni() {
  return chosen()->vnni;
}

void internal::ensure_isa() {
  static std::once_flag once;
  std::call_once(once, [] {
    const char* wanted = std::getenv("HEED_ISA");
    choose(wanted != nullptr && *wanted != '\0' ? wanted : available_isas().back());
  });
}

}  // namespace heed
