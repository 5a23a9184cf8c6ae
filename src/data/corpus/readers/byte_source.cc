#include "data/corpus/readers/byte_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/files/descriptor_io.h"
#include "base/files/errno_reason.h"

namespace heed {
namespace {

constexpr size_t kRawBytes = 1 << 18;

bool is_regular(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

ByteSource::ByteSource(const std::string& path)
    : name_(path == "-" ? "standard input" : fmt::format("'{}'", path)) {
  if (path == "-") {
    descriptor_ = STDIN_FILENO;
    return;
  }
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) {
    const ErrorKind kind = errno == ENOENT ? ErrorKind::kNotFound : ErrorKind::kFile;
    fail(kind, "cannot open {}: {}", name_, reason(errno));
  }
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(descriptor_);
    fail(ErrorKind::kFile, "cannot read {}: it is a directory, not a file", name_);
  }
}

ByteSource::~ByteSource() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

ByteSource::ByteSource(ByteSource&& other) noexcept {
  *this = std::move(other);
}

ByteSource& ByteSource::operator=(ByteSource&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(recognized_, other.recognized_);
  std::swap(decompressor_, other.decompressor_);
  std::swap(raw_, other.raw_);
  std::swap(raw_begin_, other.raw_begin_);
  std::swap(raw_end_, other.raw_end_);
  return *this;
}

size_t ByteSource::read_raw(char* destination, size_t size) {
  // Not fread, which would wait for a full buffer when lines come from a terminal or a pipe.
  const ssize_t count = read_some(descriptor_, destination, size);
  if (count < 0) fail(ErrorKind::kFile, "cannot read {}: {}", name_, reason(errno));
  return static_cast<size_t>(count);
}

void ByteSource::recognize() {
  raw_.resize(kRawBytes);
  do {
    const size_t count = read_raw(raw_.data() + raw_end_, raw_.size() - raw_end_);
    if (count == 0) break;
    raw_end_ += count;
  } while (needs_more_to_recognize({raw_.data(), raw_end_}));
  const Compression compression = compression_of_content({raw_.data(), raw_end_});
  if (compression != Compression::kNone) decompressor_ = make_decompressor(compression, name_);
  recognized_ = true;
}

size_t ByteSource::read(char* destination, size_t size) {
  if (!recognized_) recognize();
  if (decompressor_ == nullptr) {
    if (raw_begin_ == raw_end_) return read_raw(destination, size);
    const size_t count = std::min(size, raw_end_ - raw_begin_);
    std::memcpy(destination, raw_.data() + raw_begin_, count);
    raw_begin_ += count;
    return count;
  }
  while (true) {
    // Also without input: the decompressor may hold back output.
    std::string_view input(raw_.data() + raw_begin_, raw_end_ - raw_begin_);
    const size_t written = decompressor_->decompress(input, destination, size);
    raw_begin_ = raw_end_ - input.size();
    if (written > 0) return written;
    if (raw_begin_ < raw_end_) continue;
    raw_begin_ = 0;
    raw_end_ = read_raw(raw_.data(), raw_.size());
    if (raw_end_ > 0) continue;
    decompressor_->finish();
    return 0;
  }
}

bool ByteSource::ready() const {
  if (decompressor_ != nullptr || raw_begin_ < raw_end_) return true;
  struct pollfd source {
    .fd = descriptor_, .events = POLLIN, .revents = 0
  };
  return ::poll(&source, 1, 0) != 0;
}

uint64_t ByteSource::skip(uint64_t count) {
  if (!recognized_) recognize();
  if (decompressor_ == nullptr && is_regular(descriptor_)) {
    const off_t position = ::lseek(descriptor_, 0, SEEK_CUR), end = ::lseek(descriptor_, 0, SEEK_END);
    if (position >= 0 && end >= 0) {
      const auto here = static_cast<uint64_t>(position) - (raw_end_ - raw_begin_);
      const uint64_t there = std::min<uint64_t>(here + count, static_cast<uint64_t>(end));
      raw_begin_ = raw_end_ = 0;
      if (::lseek(descriptor_, static_cast<off_t>(there), SEEK_SET) < 0) {
        fail(ErrorKind::kFile, "cannot read {}: {}", name_, reason(errno));
      }
      return there - here;
    }
  }
  std::vector<char> skipped(kRawBytes);
  uint64_t done = 0;
  while (done < count) {
    const size_t got = read(skipped.data(), std::min<uint64_t>(skipped.size(), count - done));
    if (got == 0) break;
    done += got;
  }
  return done;
}

uint64_t decompressed_size(const std::string& path) {
  ByteSource source(path);
  struct stat status {};
  if (path == "-" || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    fail(ErrorKind::kUsage, "{} has no known size, so it has no parts: give a file", source.name());
  }
  return source.skip(std::numeric_limits<uint64_t>::max() / 2);
}

}  // namespace heed
