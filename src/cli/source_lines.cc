#include "cli/source_lines.h"

#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "base/check.h"
#include "text/utf8.h"

namespace heed::cli {

SourceLines::SourceLines(const std::vector<std::string>& texts, const std::string& input, bool lossy)
    : path_(input.empty() ? "-" : input) {
  if (texts.empty()) {
    reader_.emplace(path_, LineReaderOptions{.lossy = lossy});
    return;
  }
  if (!input.empty()) fail(ErrorKind::kUsage, "TEXT and --input exclude each other: give one of them");
  for (const std::string& text : texts) {
    if (!lossy && find_invalid_utf8(text)) {
      fail(ErrorKind::kText, "the text '{}' is not UTF-8: convert it, or give --lossy",
           replace_invalid_utf8(text));
    }
    std::istringstream stream(lossy ? replace_invalid_utf8(text) : text);
    std::string line;
    if (text.empty()) lines_.emplace_back();
    while (std::getline(stream, line)) lines_.push_back(line);
  }
}

bool SourceLines::next(std::string& line) {
  if (!reader_) {
    at_end_ = given_ == lines_.size();
    if (!at_end_) line = lines_[given_++];
    return !at_end_;
  }
  std::string_view view;
  at_end_ = !reader_->next(view);
  if (!at_end_) line = view;
  return !at_end_;
}

bool SourceLines::from_terminal() const {
  return reader_ && path_ == "-" && ::isatty(STDIN_FILENO) == 1;
}

uint64_t SourceLines::count() const {
  if (!reader_) return lines_.size();
  std::error_code ignored;
  return std::filesystem::is_regular_file(path_, ignored) ? LineReader(path_).count_remaining() : 0;
}

uint64_t SourceLines::bytes() const {
  std::error_code error;
  if (reader_) {
    const uintmax_t size = std::filesystem::file_size(path_, error);
    return error ? 0 : size;
  }
  uint64_t sum = 0;
  for (const std::string& line : lines_) sum += line.size() + 1;
  return sum;
}

}  // namespace heed::cli
