#include "cli/line_output.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/check.h"

namespace heed::cli {
namespace {

[[noreturn]] void fail_to_write() {
  fail(ErrorKind::kFile, "cannot write to standard output: {}", std::generic_category().message(errno));
}

}  // namespace

LineOutput::LineOutput(const std::string& path) {
  if (!path.empty() && path != "-") file_.emplace(path);
}

void LineOutput::write(std::string_view text) {
  if (file_) {
    file_->write(text);
  } else if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    fail_to_write();
  }
}

std::string within_line(std::string text, bool columns) {
  for (char& byte : text) {
    if (byte == '\n' || byte == '\r' || byte == '\0' || (columns && byte == '\t')) byte = ' ';
  }
  return text;
}

void LineOutput::flush() {
  if (!file_ && std::fflush(stdout) != 0) fail_to_write();
}

void LineOutput::commit() {
  if (file_) {
    file_->commit();
  } else {
    flush();
  }
}

}  // namespace heed::cli
