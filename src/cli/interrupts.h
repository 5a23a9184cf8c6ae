// What the command does when it is asked to end: Ctrl-C (SIGINT), SIGTERM, and SIGHUP of a closed terminal.
//
// Work in loops of our own looks at interrupted() and returns. Work inside a library, such as cutting a line
// of ten megabytes into pieces, cannot: so a thread waits beside it, and ends a process that is still there
// kGraceSeconds after the signal, having removed the files that were not complete. Exit status 130 either
// way.
#pragma once

#include <atomic>

namespace heed::cli {

constexpr double kGraceSeconds = 0.6;

/// Catches the signals, and starts the thread that waits for them. A second signal ends the process at once.
/// SIGHUP stays ignored where it was (nohup).
void watch_interrupts();

/// Set by the first signal.
const std::atomic<bool>& interrupted();

enum class OnInterrupt {
  kEndSoon,     ///< the process ends within kGraceSeconds
  kFinishWork,  ///< the work ends by itself, after it has saved what it did: heed train
};
/// kEndSoon until this is called. May be called at any time; a grace under way begins again.
void on_interrupt(OnInterrupt choice);

}  // namespace heed::cli
