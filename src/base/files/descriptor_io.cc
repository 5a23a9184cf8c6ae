#include "base/files/descriptor_io.h"

#include <unistd.h>

#include <cerrno>

#include "base/stop.h"

namespace heed {
namespace {

std::atomic<const std::atomic<bool>*> ending_flag{nullptr};

template <typename Call>
ssize_t again_after_signals(const Call& call) {
  while (true) {
    const ssize_t count = call();
    if (count >= 0 || errno != EINTR || Stop(ending_flag).requested()) return count;
  }
}

/// write(data, size, done) writes a part behind the `done` bytes before it.
template <typename Write>
bool write_parts(const void* data, size_t size, const Write& write) {
  const char* bytes = static_cast<const char*>(data);
  for (size_t done = 0; done < size;) {
    const ssize_t count = write(bytes + done, size - done, done);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = EIO;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

}  // namespace

ssize_t read_some(int descriptor, void* destination, size_t size) {
  return again_after_signals([&] { return ::read(descriptor, destination, size); });
}

ssize_t read_some_at(int descriptor, void* destination, size_t size, off_t offset) {
  return again_after_signals([&] { return ::pread(descriptor, destination, size, offset); });
}

bool write_all(int descriptor, const void* data, size_t size) {
  return write_parts(
      data, size, [&](const char* part, size_t count, size_t) { return ::write(descriptor, part, count); });
}

bool write_all_at(int descriptor, const void* data, size_t size, off_t offset) {
  return write_parts(data, size, [&](const char* part, size_t count, size_t done) {
    return ::pwrite(descriptor, part, count, offset + static_cast<off_t>(done));
  });
}

bool flush_to_disk(int descriptor) {
  while (::fsync(descriptor) != 0) {
    if (errno != EINTR) return errno == EINVAL || errno == ENOTSUP;
  }
  return true;
}

void end_reads_once(const std::atomic<bool>* flag) {
  ending_flag = flag;
}

}  // namespace heed
