#include "cli/jobs/resumable/resumable_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/counted.h"
#include "base/files/descriptor_io.h"
#include "base/files/errno_reason.h"
#include "base/files/file.h"
#include "base/files/input_file.h"
#include "base/log.h"
#include "data/corpus/readers/compression.h"

namespace heed::cli {
namespace {

constexpr size_t kChunk = 1 << 20;

uint64_t size_of(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

}  // namespace

Fingerprint checksum_of(const std::string& path, uint64_t bytes) {
  const InputFile file(path);
  Fingerprint fingerprint;
  std::vector<char> chunk(kChunk);
  const uint64_t end = std::min(bytes, file.size());
  for (uint64_t at = 0; at < end;) {
    const size_t count = std::min<uint64_t>(chunk.size(), end - at);
    file.read_at(at, chunk.data(), count);
    fingerprint.add(chunk.data(), count);
    at += count;
  }
  return fingerprint;
}

ResumableFile::ResumableFile(const std::string& path, JobManifest job, uint64_t outputs_per_line)
    : path_(path), manifest_(std::move(job)) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    fail(ErrorKind::kUsage, "--resume needs a regular file as --output, which '{}' is not", path);
  }
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail(ErrorKind::kFile, "cannot write '{}': {}", path, reason(errno));
  try {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      fail(ErrorKind::kUsage, "another process is writing '{}'", path);
    }
    const std::optional<JobManifest> before = read_manifest(path);
    const bool is_begun = before && (before->bytes > 0 || before->complete);
    if (size_of(descriptor_) == 0 && !is_begun) {
      begin();
    } else if (before) {
      continue_with_manifest(*before);
    } else {
      continue_without_manifest(outputs_per_line);
    }
    if (::ftruncate(descriptor_, static_cast<off_t>(manifest_.bytes)) != 0) fail_to_write();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

ResumableFile::~ResumableFile() {
  ::close(descriptor_);
}

/// Replaces the manifest of another job that wrote nothing.
void ResumableFile::begin() {
  manifest_.checksum = fingerprint_.value();
  write_manifest(path_, manifest_);
}

void ResumableFile::continue_with_manifest(const JobManifest& before) {
  if (before.input_changed) {
    fail(
        ErrorKind::kFile,
        "'{}' cannot be continued: its input changed while it was written. Remove it and '{}' to begin again",
        path_, manifest_path(path_));
  }
  const std::string changed = difference(before, manifest_);
  if (!changed.empty()) {
    fail(ErrorKind::kUsage,
         "'{}' was begun by another job: {}. Repeat that one, give another --output, or remove the file and "
         "its manifest '{}'",
         path_, changed, manifest_path(path_));
  }
  fingerprint_ = checksum_of(path_, before.bytes);
  const bool too_long = before.complete && size_of(descriptor_) > before.bytes;
  if (fingerprint_.size() < before.bytes || fingerprint_.value() != before.checksum || too_long) {
    fail(ErrorKind::kFile,
         "'{}' is not what its manifest says: it was changed or damaged. Remove it and '{}' to begin again",
         path_, manifest_path(path_));
  }
  manifest_.input_lines = before.input_lines;
  manifest_.bytes = before.bytes;
  manifest_.checksum = before.checksum;
  manifest_.complete = before.complete;
}

void ResumableFile::continue_without_manifest(uint64_t outputs_per_line) {
  if (compression_of_name(path_) != Compression::kNone || outputs_per_line == 0) {
    fail(ErrorKind::kUsage, "'{}' has no manifest, so it cannot be continued: remove it to begin again",
         path_);
  }
  // The end of the last complete group of output lines.
  const InputFile file(path_);
  std::vector<char> chunk(kChunk);
  uint64_t lines = 0;
  for (uint64_t at = 0; at < file.size();) {
    const size_t count = std::min<uint64_t>(chunk.size(), file.size() - at);
    file.read_at(at, chunk.data(), count);
    for (size_t n = 0; n < count; ++n) {
      if (chunk[n] == '\n' && ++lines % outputs_per_line == 0) manifest_.bytes = at + n + 1;
    }
    at += count;
  }
  manifest_.input_lines = lines / outputs_per_line;
  if (manifest_.input_lines > manifest_.lines) {
    fail(ErrorKind::kUsage, "'{}' has more lines than the input: it is the output of another job", path_);
  }
  fingerprint_ = checksum_of(path_, manifest_.bytes);
  manifest_.checksum = fingerprint_.value();
  log_warning("'{}' has no manifest: continuing after its first {}, which are not checked", path_,
              counted(manifest_.input_lines, "line"));
}

void ResumableFile::append(std::string_view bytes, uint64_t lines) {
  if (lines > manifest_.lines - manifest_.input_lines) refuse_changed_input();
  if (!write_all_at(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(manifest_.bytes)) ||
      !flush_to_disk(descriptor_)) {
    fail_to_write();
  }
  fingerprint_.add(bytes);
  manifest_.input_lines += lines;
  manifest_.bytes += bytes.size();
  manifest_.checksum = fingerprint_.value();
  write_manifest(path_, manifest_);
}

void ResumableFile::commit(uint64_t input_fingerprint) {
  if (hexadecimal(input_fingerprint) != manifest_.input_checksum) refuse_changed_input();
  manifest_.complete = true;
  write_manifest(path_, manifest_);
  sync_directory(directory_of(path_));
}

/// Nothing tells which blocks are of which content.
void ResumableFile::refuse_changed_input() {
  manifest_.input_changed = true;
  write_manifest(path_, manifest_);
  fail(ErrorKind::kFile, "{} has changed while it was used: remove '{}' and '{}' to begin again",
       manifest_.input_name, path_, manifest_path(path_));
}

void ResumableFile::fail_to_write() const {
  fail(ErrorKind::kFile, "cannot write '{}': {}", path_, reason(errno));
}

}  // namespace heed::cli
