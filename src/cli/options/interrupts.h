// Handling of SIGINT (Ctrl-C), SIGTERM, and SIGHUP of a closed terminal.
//
// Our own loops check interrupted() and return. Calls into libraries, such as tokenizing a line of ten
// megabytes, cannot be interrupted: a watcher thread therefore removes incomplete files and ends the process
// if it is still running kGraceSeconds after the signal. The exit status is 130 either way.
#pragma once

#include <atomic>

#include "base/stop.h"

namespace heed::cli {

constexpr double kGraceSeconds = 0.6;

/// Installs the signal handlers and starts the watcher thread. A second signal ends the process at once,
/// unless it comes within 0.3 s: timeout and some shells send one to the process and again to its group.
/// SIGHUP stays ignored if it was (nohup).
void watch_interrupts();

/// Set by the first signal.
const std::atomic<bool>& interrupted();
/// What throws Cancelled then, with which the command ends.
inline Stop stop_on_interrupt() {
  return Stop(&interrupted());
}

enum class OnInterrupt {
  kEndSoon,     ///< the process ends within kGraceSeconds
  kFinishWork,  ///< the work saves its state and ends by itself: heed train
};
/// The default is kEndSoon. May be called at any time; restarts a grace period in progress.
void on_interrupt(OnInterrupt choice);

}  // namespace heed::cli
