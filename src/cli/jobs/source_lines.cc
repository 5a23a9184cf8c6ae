#include "cli/jobs/source_lines.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/check.h"
#include "base/files/input_file.h"
#include "data/corpus/readers/compression.h"
#include "text/unicode/utf8.h"

namespace heed::cli {

SourceLines::SourceLines(const std::vector<std::string>& texts, const std::string& input,
                         const LineReaderOptions& options)
    : path_(input.empty() ? "-" : input), options_(options) {
  if (texts.empty()) {
    reader_.emplace(path_, options);
    return;
  }
  const bool lossy = options.lossy;
  if (!options.part.is_whole()) fail(ErrorKind::kUsage, "--part takes a part of a file: give --input");
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

std::vector<std::string> SourceLines::take(size_t most) {
  std::vector<std::string> taken;
  std::string line;
  while (taken.size() < most && (taken.empty() || ready()) && next(line)) taken.push_back(line);
  return taken;
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

void SourceLines::skip(uint64_t count) {
  if (reader_) {
    reader_->skip(count);
  } else {
    given_ = std::min<size_t>(given_ + count, lines_.size());
  }
}

bool SourceLines::from_terminal() const {
  return reader_ && path_ == "-" && ::isatty(STDIN_FILENO) == 1;
}

namespace {

/// False for "-", standard input, even where a file has this name.
bool is_regular(const std::string& path) {
  std::error_code ignored;
  return path != "-" && std::filesystem::is_regular_file(path, ignored);
}

bool is_compressed(const std::string& path) {
  const InputFile file(path);
  std::string beginning(std::min<uint64_t>(file.size(), 4), '\0');
  file.read_at(0, beginning.data(), beginning.size());
  return compression_of_content(beginning) != Compression::kNone;
}

}  // namespace

uint64_t SourceLines::count() const {
  if (!reader_) return lines_.size();
  return is_regular(path_) ? LineReader(path_, options_).count_lines() : 0;
}

uint64_t SourceLines::bytes() const {
  if (reader_) {
    if (!is_regular(path_) || is_compressed(path_)) return 0;
    const uint64_t all = std::filesystem::file_size(path_) / static_cast<uint64_t>(options_.part.count),
                   read = reader_->fingerprint().size();
    return all > read ? all - read : 0;
  }
  uint64_t sum = 0;
  for (const std::string& line : lines_) sum += line.size() + 1;
  return sum;
}

}  // namespace heed::cli
