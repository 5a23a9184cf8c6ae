#include "cli/options/interrupts.h"

#include <semaphore.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <system_error>
#include <thread>
#include <vector>

#include "base/blocked_signals.h"
#include "base/files/descriptor_io.h"
#include "base/files/unfinished_files.h"
#include "cli/options/command.h"

namespace heed::cli {
namespace {

std::atomic<bool> interrupted_flag{false};
std::atomic<int> signals{0};
std::atomic<int64_t> first_signal_ns{0};
std::atomic<OnInterrupt> choice_now{OnInterrupt::kEndSoon};
sem_t first_signal;

int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// Only async-signal-safe operations.
void on_signal(int) {
  constexpr int64_t kRepeatNs = 300'000'000;
  const int error = errno;
  interrupted_flag = true;
  int64_t first = 0;
  const bool is_first = first_signal_ns.compare_exchange_strong(first, now_ns());
  if (is_first || now_ns() - first >= kRepeatNs) {
    const int before = signals.fetch_add(1);
    if (before == 0) ::sem_post(&first_signal);
    if (before >= 2) ::_exit(kExitInterrupted);
  }
  errno = error;
}

[[noreturn]] void end_process() {
  remove_unfinished_for_good();
  std::fprintf(stderr, "%sheed: interrupted\n", ::isatty(STDERR_FILENO) == 1 ? "\r\x1b[K" : "");
  ::_exit(kExitInterrupted);
}

void wait_and_end() {
  block_signals();
  while (::sem_wait(&first_signal) != 0) {
  }
  constexpr std::chrono::milliseconds kTick(20);
  auto begin = std::chrono::steady_clock::now();
  while (signals < 2) {
    std::this_thread::sleep_for(kTick);
    const auto now = std::chrono::steady_clock::now();
    if (choice_now == OnInterrupt::kFinishWork) begin = now;
    if (std::chrono::duration<double>(now - begin).count() >= kGraceSeconds) break;
  }
  end_process();
}

}  // namespace

const std::atomic<bool>& interrupted() {
  return interrupted_flag;
}

void on_interrupt(OnInterrupt choice) {
  choice_now = choice;
}

void watch_interrupts() {
  ::sem_init(&first_signal, 0, 0);
  end_reads_once(&interrupted_flag);
  // A file beyond the limit of its size (ulimit -f) is an error of the write, after which files are removed.
  std::signal(SIGXFSZ, SIG_IGN);
  // The handler runs on an alternate stack: generated GEMM code keeps data below the stack pointer, beyond
  // the red zone of 128 bytes. Worker threads block all signals.
  static std::vector<char> handler_stack(1 << 16);
  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  ::sigaltstack(&stack, nullptr);
  try {
    std::thread(wait_and_end).detach();
  } catch (const std::system_error&) {
    // No thread available: loops still check interrupted(), and the third signal ends the process.
  }
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  struct sigaction before {};
  ::sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);
}

}  // namespace heed::cli
