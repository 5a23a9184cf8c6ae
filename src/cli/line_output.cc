#include "cli/line_output.h"

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/check.h"
#include "base/files/errno_reason.h"
#include "cli/resumable_file.h"
#include "data/corpus/compression.h"

namespace heed::cli {
namespace {

/// Text that is compressed at a time.
constexpr size_t kBlock = 1 << 20;

[[noreturn]] void fail_to_write() {
  fail(ErrorKind::kFile, "cannot write to standard output: {}", reason(errno));
}

}  // namespace

/// Appears when it is complete.
class LineOutput::WholeFile {
 public:
  explicit WholeFile(const std::string& path) : file_(path), compression_(compression_of_name(path)) {}

  void write(std::string_view text) {
    if (compression_ == Compression::kNone) return file_.write(text);
    block_ += text;
    if (block_.size() >= kBlock) write_block();
  }
  void commit() {
    if (compression_ != Compression::kNone && (!block_.empty() || file_.size() == 0)) write_block();
    file_.commit();
  }

 private:
  void write_block() {
    file_.write(compress(block_, compression_));
    block_.clear();
  }

  AtomicFile file_;
  Compression compression_;
  std::string block_;
};

LineOutput::LineOutput(const std::string& path) {
  if (!path.empty() && path != "-") whole_ = std::make_unique<WholeFile>(path);
}

LineOutput::LineOutput(std::unique_ptr<ResumableFile> file) : resumable_(std::move(file)) {}
LineOutput::~LineOutput() = default;
LineOutput::LineOutput(LineOutput&&) noexcept = default;
LineOutput& LineOutput::operator=(LineOutput&&) noexcept = default;

void LineOutput::write(std::string_view text) {
  if (whole_) {
    whole_->write(text);
  } else if (resumable_) {
    resumable_->write(text);
  } else if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    fail_to_write();
  }
}

void LineOutput::end_input_line() {
  if (resumable_) resumable_->end_input_line();
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

void LineOutput::commit() {
  if (whole_) {
    whole_->commit();
  } else if (resumable_) {
    resumable_->commit();
  } else {
    flush();
  }
}

uint64_t LineOutput::lines_done() const {
  return resumable_ ? resumable_->lines_done() : 0;
}

bool LineOutput::complete() const {
  return resumable_ && resumable_->complete();
}

}  // namespace heed::cli
