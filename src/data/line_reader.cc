#include "data/line_reader.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "base/check.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr size_t kChunk = 1 << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

int leave_open(std::FILE*) {
  return 0;
}

std::string reason(int number) {
  return std::generic_category().message(number);
}

}  // namespace

LineReader::LineReader(const std::string& path, LineReaderOptions options)
    : name_(path == "-" ? "standard input" : fmt::format("'{}'", path)),
      options_(options),
      file_(nullptr, leave_open) {
  if (path == "-") {
    file_.reset(stdin);
  } else {
    std::FILE* file = std::fopen(path.c_str(), "rbe");
    struct stat status {};
    if (file != nullptr && ::fstat(::fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
      std::fclose(file);
      fail(ErrorKind::kFile, "cannot read {}: it is a directory, not a file", name_);
    }
    if (file == nullptr) {
      const ErrorKind kind = errno == ENOENT ? ErrorKind::kNotFound : ErrorKind::kFile;
      fail(kind, "cannot open {}: {}", name_, reason(errno));
    }
    file_ = {file, std::fclose};
  }
}

bool LineReader::refill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ > options_.max_line_bytes) {
    fail(ErrorKind::kFormat,
         "line {} of {} has more than {} bytes: give a text file with one sentence per line",
         line_number_ + 1, name_, options_.max_line_bytes);
  }
  if (buffer_.size() < end_ + kChunk) buffer_.resize(std::max(2 * end_, end_ + kChunk));
  // Not fread, which would wait for a full buffer when lines come from a terminal or a pipe. A caught signal
  // interrupts the wait with an error.
  const ssize_t count = ::read(::fileno(file_.get()), buffer_.data() + end_, buffer_.size() - end_);
  if (count < 0) {
    fail(ErrorKind::kFile, "cannot read {} after line {}: {}", name_, line_number_, reason(errno));
  }
  fingerprint_.add(buffer_.data() + end_, static_cast<size_t>(count));
  end_ += static_cast<size_t>(count);
  return count > 0;
}

bool LineReader::next_raw(std::string_view& line) {
  options_.stop.check();
  size_t searched = 0;  // avoids searching a long line again after each refill
  while (!at_end_) {
    if (searched < end_ - begin_) {
      const char* from = buffer_.data() + begin_;
      const void* found = std::memchr(from + searched, '\n', end_ - begin_ - searched);
      if (found != nullptr) {
        line = {from, static_cast<size_t>(static_cast<const char*>(found) - from)};
        begin_ += line.size() + 1;
        ++line_number_;
        return true;
      }
    }
    searched = end_ - begin_;
    at_end_ = !refill();
  }
  if (begin_ == end_) return false;
  line = {buffer_.data() + begin_, end_ - begin_};  // the last line, without a line end
  begin_ = end_;
  ++line_number_;
  return true;
}

bool LineReader::next(std::string_view& line) {
  if (!next_raw(line)) return false;
  if (line_number_ == 1 && !options_.keep_byte_order_mark && line.starts_with(kByteOrderMark)) {
    line.remove_prefix(kByteOrderMark.size());
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  const bool has_nul = line.find('\0') != std::string_view::npos;
  const std::optional<size_t> invalid = find_invalid_utf8(line);
  if (!has_nul && !invalid) return true;
  if (!options_.lossy && has_nul) {
    fail(ErrorKind::kFormat, "line {} of {} has a NUL byte: give a text file in UTF-8 (convert UTF-16 first)",
         line_number_, name_);
  }
  if (!options_.lossy) {
    fail(ErrorKind::kText,
         "line {} of {} is not UTF-8: byte {} of the line is 0x{:02X}; convert the file to UTF-8",
         line_number_, name_, *invalid + 1, static_cast<unsigned char>(line[*invalid]));
  }
  replaced_.clear();
  for (const char byte : replace_invalid_utf8(line)) {
    if (byte == '\0') {
      replaced_ += "\xEF\xBF\xBD";
    } else {
      replaced_ += byte;
    }
  }
  line = replaced_;
  return true;
}

bool LineReader::ready() const {
  if (at_end_ || (begin_ < end_ && std::memchr(&buffer_[begin_], '\n', end_ - begin_) != nullptr))
    return true;
  struct pollfd source {
    .fd = ::fileno(file_.get()), .events = POLLIN, .revents = 0
  };
  return ::poll(&source, 1, 0) != 0;
}

uint64_t LineReader::count_remaining() {
  std::string_view line;
  while (next_raw(line)) {
  }
  return line_number_;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\v\f") == std::string_view::npos;
}

}  // namespace heed
