// Temporary ".part" files and directories for atomic writes. The writer holds a lock on them, so that
// abandoned ones of killed processes can be told from those still being written, on any machine that shares
// the disk.
#pragma once

#include <string>

namespace heed {

/// A temporary name for `path`, unique per call: "model.heed-4711-0.part".
std::string part_name(const std::string& path);
/// Locks a newly created part until the descriptor is closed. False if another process removed it in the
/// meantime; it must then be created again.
bool lock_part(int descriptor);
/// Removes the abandoned parts of `path`.
void remove_dead_parts_of(const std::string& path);
/// Removes all abandoned parts in a directory.
void remove_dead_parts_in(const std::string& directory);

}  // namespace heed
