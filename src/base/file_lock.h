// One process at a time.
#pragma once

#include <string>

namespace heed {

/// A lock on a file (flock) that the system releases when its process ends, however that ends.
class FileLock {
 public:
  FileLock() = default;
  ~FileLock() { release(); }
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;

  /// Takes the lock `path`, a file that is made if it is missing and stays afterwards, and writes the process
  /// id into it. Throws kUsage where another process has it: "`what` is in use by process 123". Throws kFile
  /// where the file cannot be opened. On file systems without locks it does nothing.
  static FileLock take(const std::string& path, const std::string& what);
  bool held() const { return descriptor_ >= 0; }
  void release();

 private:
  int descriptor_ = -1;
};

}  // namespace heed
