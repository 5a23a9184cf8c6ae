#include "cli/jobs/resumable/line_output.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/files/errno_reason.h"
#include "cli/jobs/resumable/resumable_file.h"

namespace heed::cli {
namespace {

/// Text of a whole file that is compressed and written at a time.
constexpr size_t kBlockBytes = 1 << 20;
/// Input lines in a block of a file that is continued. Fixed, so that a compressed file has the same bytes
/// however often it was interrupted.
constexpr uint64_t kBlockLines = 1024;

[[noreturn]] void fail_to_write() {
  fail(ErrorKind::kFile, "cannot write to standard output: {}", reason(errno));
}

}  // namespace

LineOutput::LineOutput(const std::string& path) {
  if (path.empty() || path == "-") return;
  whole_ = std::make_unique<AtomicFile>(path);
  compression_ = compression_of_name(path);
}

LineOutput::LineOutput(std::unique_ptr<ResumableFile> file)
    : resumable_(std::move(file)), compression_(compression_of_name(resumable_->path())) {}
LineOutput::~LineOutput() = default;
LineOutput::LineOutput(LineOutput&&) noexcept = default;
LineOutput& LineOutput::operator=(LineOutput&&) noexcept = default;

void LineOutput::write(std::string_view text) {
  if (to_stdout()) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail_to_write();
    return;
  }
  block_ += text;
  if (whole_ && block_.size() >= kBlockBytes) write_block();
}

void LineOutput::end_input_line() {
  if (!resumable_) return;
  ++block_lines_;
  if ((resumable_->lines_done() + block_lines_) % kBlockLines == 0) write_block();
}

void LineOutput::write_block() {
  const std::string packed = compress(block_, compression_);
  if (whole_) {
    whole_->write(packed);
  } else {
    resumable_->append(packed, std::exchange(block_lines_, 0));
  }
  block_.clear();
}

bool is_input(const std::string& output, const std::vector<std::string>& inputs) {
  std::error_code missing;
  if (output == "-" || !std::filesystem::is_regular_file(output, missing)) return false;
  return std::ranges::any_of(inputs, [&](const std::string& input) {
    return input != "-" && std::filesystem::equivalent(input, output, missing);
  });
}

std::string within_line(std::string text, bool columns) {
  for (char& byte : text) {
    if (byte == '\n' || byte == '\r' || byte == '\0' || (columns && byte == '\t')) byte = ' ';
  }
  return text;
}

void LineOutput::flush() {
  if (to_stdout() && std::fflush(stdout) != 0) fail_to_write();
}

void LineOutput::commit(std::optional<uint64_t> input_fingerprint) {
  if (to_stdout()) return flush();
  if (complete()) return;
  const bool nothing_written =
      whole_ ? whole_->size() == 0 : resumable_->bytes() == 0;  // an empty .gz is not
  if (!block_.empty() || block_lines_ > 0 || nothing_written) write_block();
  if (whole_) {
    whole_->commit();
  } else {
    HEED_CHECK(input_fingerprint.has_value());
    resumable_->commit(*input_fingerprint);
  }
}

uint64_t LineOutput::lines_done() const {
  return resumable_ ? resumable_->lines_done() : 0;
}

bool LineOutput::complete() const {
  return resumable_ && resumable_->complete();
}

}  // namespace heed::cli
