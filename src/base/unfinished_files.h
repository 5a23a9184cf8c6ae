// Files and directories that are being written under a temporary name. Whoever must end the process before
// they are complete can remove them.
#pragma once

#include <string>

namespace heed {

/// Call before the file or directory is made. Thread-safe, as all of these.
void note_unfinished(const std::string& path);
/// It has been renamed or removed. Nothing happens for a path that was not noted.
void forget_unfinished(const std::string& path);
/// Removes what was noted and is still there. To be called right before _exit(): from then on, threads that
/// call note_unfinished() or forget_unfinished() wait forever, so nothing new appears.
void remove_unfinished_for_good();

}  // namespace heed
