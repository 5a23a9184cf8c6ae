#include "data/corpus/readers/line_reader.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/check.h"
#include "base/text/byte_order_mark.h"
#include "data/corpus/readers/text_bytes.h"

namespace heed {
namespace {

constexpr size_t kReadSize = 1 << 20;

}  // namespace

LineReader::LineReader(const std::string& path, LineReaderOptions options)
    : path_(path), options_(options), source_(path) {
  if (!options_.part.is_whole()) begin_part();
}

void LineReader::begin_part() {
  HEED_CHECK(options_.part.number >= 1 && options_.part.number <= options_.part.count);
  size_ = decompressed_size(path_);
  part_begin_ = options_.part.begin(size_);
  part_end_ = options_.part.end(size_);
  if (part_begin_ == 0) return;
  // The line with the byte before the part belongs to an earlier part.
  lines_before_.reset();
  position_ = source_.skip(part_begin_ - 1);
  std::string_view line;
  take_raw(line);
  part_begin_ = position_;
}

uint64_t LineReader::lines_before() const {
  if (lines_before_) return *lines_before_;
  ByteSource source(path_);
  std::vector<char> buffer(kReadSize);
  uint64_t lines = 0;
  for (uint64_t left = part_begin_; left > 0;) {
    const size_t count = source.read(buffer.data(), std::min<uint64_t>(left, buffer.size()));
    if (count == 0) break;
    lines += static_cast<uint64_t>(std::count(buffer.data(), buffer.data() + count, '\n'));
    left -= count;
  }
  lines_before_ = lines;
  return lines;
}

void LineReader::require_length(size_t bytes) const {
  if (bytes <= options_.max_line_bytes) return;
  fail(ErrorKind::kFormat,
       "line {} of {} has more than {} bytes: give a text file with one sentence per line", line_number() + 1,
       name(), options_.max_line_bytes);
}

bool LineReader::refill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  require_length(end_);
  if (buffer_.size() < end_ + kReadSize) buffer_.resize(std::max(2 * end_, end_ + kReadSize));
  const size_t count = source_.read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += count;
  return count > 0;
}

bool LineReader::next_raw(std::string_view& line) {
  options_.stop.check();
  const uint64_t begin = position_;
  if (begin >= part_end_ || !take_raw(line)) return false;
  fingerprint_.add(line.data(), position_ - begin);  // with the line feed
  ++lines_read_;
  return true;
}

/// The bytes up to the next line feed, or to the end of the file.
bool LineReader::take_raw(std::string_view& line) {
  size_t searched = 0;  // avoids searching a long line again after each refill
  while (!at_end_) {
    if (searched < end_ - begin_) {
      const char* from = buffer_.data() + begin_;
      const void* found = std::memchr(from + searched, '\n', end_ - begin_ - searched);
      if (found != nullptr) {
        line = {from, static_cast<size_t>(static_cast<const char*>(found) - from)};
        require_length(line.size());
        begin_ += line.size() + 1;
        position_ += line.size() + 1;
        return true;
      }
    }
    searched = end_ - begin_;
    at_end_ = !refill();
  }
  if (begin_ == end_) return false;
  line = {buffer_.data() + begin_, end_ - begin_};  // the last line, without a line end
  require_length(line.size());
  begin_ = end_;
  position_ += line.size();
  return true;
}

bool LineReader::next(std::string_view& line) {
  if (!next_raw(line)) return false;
  const bool first = part_begin_ == 0 && lines_read_ == 1;
  if (first && !options_.keep_byte_order_mark && line.starts_with(kByteOrderMark)) {
    line.remove_prefix(kByteOrderMark.size());
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (is_text(line)) return true;
  if (!options_.lossy) refuse_line(line, line_number(), name());
  replaced_ = replace_what_is_no_text(line);
  line = replaced_;
  return true;
}

bool LineReader::ready() const {
  if (at_end_ || (begin_ < end_ && std::memchr(&buffer_[begin_], '\n', end_ - begin_) != nullptr))
    return true;
  return source_.ready();
}

uint64_t LineReader::skip(uint64_t count) {
  std::string_view line;
  uint64_t skipped = 0;
  while (skipped < count && next_raw(line)) ++skipped;
  return skipped;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\v\f") == std::string_view::npos;
}

}  // namespace heed
