// A file that survives interruptions, for LineOutput: written in blocks, each recorded in the manifest
// (cli/jobs/resumable/job_manifest.h) once it is on disk.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/files/fingerprint.h"
#include "cli/jobs/resumable/job_manifest.h"

namespace heed::cli {

class ResumableFile {
 public:
  /// Opens the output of a job and drops what follows its last complete block. A new file has a manifest
  /// before it has content. A file with content but without manifest is continued after its last complete
  /// line, of `outputs_per_line` for each input line; never if that is 0, unknown, or for compressed files.
  /// Throws kUsage if another process writes the file, or for the output of another job; kFile if the file
  /// does not match its manifest.
  ResumableFile(const std::string& path, JobManifest job, uint64_t outputs_per_line);
  ~ResumableFile();
  ResumableFile(const ResumableFile&) = delete;
  ResumableFile& operator=(const ResumableFile&) = delete;

  /// Input lines whose output is in the file.
  uint64_t lines_done() const { return manifest_.input_lines; }
  bool complete() const { return manifest_.complete; }

  const std::string& path() const { return path_; }
  /// Of what is on disk.
  uint64_t bytes() const { return manifest_.bytes; }

  /// Writes a block, the output for this many input lines. Throws kFile, also for more lines than the
  /// manifest has.
  void append(std::string_view bytes, uint64_t lines);
  /// The output is complete, and of the input with this fingerprint. Throws kFile, also if the manifest has
  /// another one.
  void commit(uint64_t input_fingerprint);

 private:
  void begin();
  void continue_with_manifest(const JobManifest& before);
  void continue_without_manifest(uint64_t outputs_per_line);
  [[noreturn]] void refuse_changed_input();
  [[noreturn]] void fail_to_write() const;

  std::string path_;
  int descriptor_ = -1;
  JobManifest manifest_;     // of what is on disk
  Fingerprint fingerprint_;  // of what is on disk
};

/// The checksum of the first `bytes` bytes of a file; with fewer bytes, of all. Throws kNotFound or kFile.
Fingerprint checksum_of(const std::string& path, uint64_t bytes);

}  // namespace heed::cli
