// Mutual exclusion between processes.
#pragma once

#include <string>

namespace heed {

/// A file lock (flock), released by the system when the process ends for any reason.
class FileLock {
 public:
  FileLock() = default;
  ~FileLock() { release(); }
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;

  /// Locks the file `path`, which is created if missing and never removed, and writes the process id into it.
  /// Throws kUsage if another process holds the lock: "`what` is in use by process 123". Throws kFile if the
  /// file cannot be opened. Does nothing on file systems without locks.
  static FileLock take(const std::string& path, const std::string& what);
  bool held() const { return descriptor_ >= 0; }
  void release();

 private:
  int descriptor_ = -1;
};

}  // namespace heed
