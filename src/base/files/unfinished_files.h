// Registry of temporary files and directories being written, so that they can be removed when the process is
// terminated early.
#pragma once

#include <string>

namespace heed {

/// Call before creating the file or directory. Thread-safe, like all functions here.
void note_unfinished(const std::string& path);
/// Call after it was renamed or removed. Does nothing for an unknown path.
void forget_unfinished(const std::string& path);
/// Removes all registered files. Call right before _exit(): afterwards, note_unfinished() and
/// forget_unfinished() block forever, so that no new files appear.
void remove_unfinished_for_good();

}  // namespace heed
