// Reading and writing by file descriptors: what signals interrupt is tried again, and what is written in part
// is written on. Everything in Heed that reads or writes files does so with these. Failures are told by
// errno.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>

namespace heed {

/// Up to `size` bytes; 0 at the end; -1 for an error. Also -1 with EINTR, once a signal has set the flag of
/// end_reads_once(), since input from a terminal or a pipe may never come.
ssize_t read_some(int descriptor, void* destination, size_t size);
/// The same from an offset of a file.
ssize_t read_some_at(int descriptor, void* destination, size_t size, off_t offset);

/// Writes everything; false for an error, such as a full disk, after which a part may be written.
bool write_all(int descriptor, const void* data, size_t size);
/// The same at an offset of a file.
bool write_all_at(int descriptor, const void* data, size_t size, off_t offset);

/// Flushes a file or a directory to disk; true where this is not supported: pipes, some file systems.
bool flush_to_disk(int descriptor);

/// Registers the flag that signals set to end this process. It must live as long as the process.
void end_reads_once(const std::atomic<bool>* flag);

}  // namespace heed
