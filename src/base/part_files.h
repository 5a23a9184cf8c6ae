// ".part" files and directories: what is being written under a temporary name. Their writer holds a lock on
// them as long as it runs, so that what killed processes left behind can be told from what is still in the
// making, on any machine that shares the disk.
#pragma once

#include <string>

namespace heed {

/// The name under which this process makes `path`: "model.heed-4711-0.part", other for each call.
std::string part_name(const std::string& path);
/// Locks a file or directory of such a name, which its writer has just made, until the descriptor is closed.
/// False where it was removed in the meantime and must be made again.
bool lock_part(int descriptor);
/// Removes the parts of `path` that writers left behind which are no longer running.
void remove_dead_parts_of(const std::string& path);
/// The same for all parts in a directory.
void remove_dead_parts_in(const std::string& directory);

}  // namespace heed
