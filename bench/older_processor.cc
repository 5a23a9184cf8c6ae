// Hides instruction sets from all libraries of a process: LD_PRELOAD=libheed_older_processor.so. Not every
// library obeys a variable: OpenVINO multiplies float32 matrices with MLAS, which uses AVX-512 wherever CPUID
// names it, whatever ONEDNN_MAX_CPU_ISA says. Here CPUID raises a signal (arch_prctl(ARCH_SET_CPUID), Linux
// on processors with CPUID faulting), and the handler answers as an older processor would.
// HEED_BENCH_PROCESSOR names it, as HEED_ISA does.
#include <asm/prctl.h>
#include <cpuid.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

namespace {

struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

/// Bits of CPUID that are hidden (Intel, "Software Developer's Manual", volume 2A): of leaf 1, and of leaf 7
/// with subleaves 0 and 1.
struct Hidden {
  Registers basic = {}, more = {}, newest = {};
};

constexpr unsigned bits(std::initializer_list<int> numbers) {
  unsigned all = 0;
  for (const int number : numbers) all |= 1u << number;
  return all;
}

/// AMX, and AVX-512 for 16-bit floating point.
constexpr Hidden kNewerThanVnni{.more = {.d = bits({22, 23, 24, 25})}, .newest = {.a = bits({5, 21})}};
constexpr Hidden kNewerThanAvxVnni{.more = {.b = bits({16, 17, 21, 26, 27, 28, 30, 31}),
                                            .c = bits({1, 6, 11, 12, 14}),
                                            .d = bits({2, 3, 8})}};
constexpr Hidden kNewerThanAvx2{.newest = {.a = bits({4})}};
constexpr Hidden kNewerThanSse4{.basic = {.c = bits({12, 28, 29})}, .more = {.b = bits({5})}};

struct Processor {
  std::string_view name;
  std::array<const Hidden*, 4> hidden;
};
constexpr Processor kProcessors[] = {
    {"avx512vnni", {&kNewerThanVnni}},
    {"avxvnni", {&kNewerThanVnni, &kNewerThanAvxVnni}},
    {"avx2", {&kNewerThanVnni, &kNewerThanAvxVnni, &kNewerThanAvx2}},
    {"sse4", {&kNewerThanVnni, &kNewerThanAvxVnni, &kNewerThanAvx2, &kNewerThanSse4}},
};
const Processor* processor = nullptr;

/// Whether this thread, and those that it starts, may execute CPUID.
bool allow_cpuid(bool allowed) {
  return syscall(SYS_arch_prctl, ARCH_SET_CPUID, static_cast<unsigned long>(allowed)) == 0;
}

void hide(Registers& found, const Registers& hidden) {
  found.a &= ~hidden.a;
  found.b &= ~hidden.b;
  found.c &= ~hidden.c;
  found.d &= ~hidden.d;
}

Registers answer(unsigned leaf, unsigned subleaf) {
  Registers found;
  allow_cpuid(true);
  __cpuid_count(leaf, subleaf, found.a, found.b, found.c, found.d);
  allow_cpuid(false);
  for (const Hidden* each : processor->hidden) {
    if (each == nullptr) break;
    if (leaf == 1) hide(found, each->basic);
    if (leaf == 7 && subleaf == 0) hide(found, each->more);
    if (leaf == 7 && subleaf == 1) hide(found, each->newest);
  }
  return found;
}

void on_fault(int signal_number, siginfo_t*, void* context) {
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto* const instruction = reinterpret_cast<const uint8_t*>(registers[REG_RIP]);
  if (instruction[0] != 0x0f || instruction[1] != 0xa2) {  // not CPUID: the fault is real, and happens again
    signal(signal_number, SIG_DFL);
    return;
  }
  const Registers found =
      answer(static_cast<unsigned>(registers[REG_RAX]), static_cast<unsigned>(registers[REG_RCX]));
  registers[REG_RAX] = found.a;
  registers[REG_RBX] = found.b;
  registers[REG_RCX] = found.c;
  registers[REG_RDX] = found.d;
  registers[REG_RIP] += 2;
}

__attribute__((constructor)) void begin() {
  const char* const name = std::getenv("HEED_BENCH_PROCESSOR");
  if (name == nullptr) return;
  for (const Processor& each : kProcessors) {
    if (each.name == name) processor = &each;
  }
  if (processor == nullptr) return;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (sigaction(SIGSEGV, &action, nullptr) != 0 || !allow_cpuid(false)) {
    std::fprintf(stderr,
                 "bench: this processor or system cannot hide instructions: peers may use newer ones\n");
  }
}

}  // namespace
