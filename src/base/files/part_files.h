// Temporary ".part" files and directories for atomic writes. The writer holds a lock on them, so that
// abandoned ones of killed processes can be told from those still being written, on any machine that shares
// the disk.
#pragma once

#include <functional>
#include <string>

namespace heed {

/// A temporary name for `path`, another for each call: "model.heed-4711-0.part". A name that would be too
/// long is cut, and ends in a hash.
std::string part_name(const std::string& path);
/// Creates a part of `path`, noted as unfinished, by calling `create` with its name; if that fails with
/// EEXIST, with the next name: a process with the same id, such as in another container, may write there,
/// too. Returns the name; empty with errno if `create` returned false.
std::string create_part(const std::string& path, const std::function<bool(const std::string&)>& create);
/// Locks a newly created part until the descriptor is closed. False if another process removed it in the
/// meantime; it must then be created again.
bool lock_part(int descriptor);
/// Removes the abandoned parts of `path`.
void remove_dead_parts_of(const std::string& path);
/// Removes all abandoned parts in a directory.
void remove_dead_parts_in(const std::string& directory);

}  // namespace heed
