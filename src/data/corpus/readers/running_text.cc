#include "data/corpus/readers/running_text.h"

#include <utility>

#include "base/check.h"
#include "text/unicode/unicode_properties.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed {
namespace {

/// A chunk of this many times chunk_bytes ends before any white space, so that memory does not grow with the
/// file.
constexpr size_t kMaxChunks = 64;

bool is_space(char byte) {
  return strip(std::string_view(&byte, 1)).empty();
}

bool ends_in_letter_or_digit(std::string_view text) {
  if (text.empty()) return false;
  size_t last = character_start(text, text.size() - 1);
  return is_letter_or_digit(next_code_point(text, last));
}

}  // namespace

RunningText::RunningText(const std::string& path, const RunningTextOptions& options)
    : options_(options), reader_(path, options.lines) {}

bool RunningText::next(TextChunk& chunk) {
  chunk = {std::exchange(waiting_, {}), false};
  size_t text_end = strip_right(chunk.text).size();  // what is behind it is white space
  std::string_view line;
  while (!at_end_ && reader_.next(line)) {
    const bool blank = strip(line).empty();
    characters_ += count_characters(line) + 1;
    has_text_ = has_text_ || !blank;
    if (options_.documents && blank) {
      if (chunk.text.empty()) continue;
      chunk.text += '\n';
      chunk.ends_document = true;
      return true;
    }
    const bool begins = chunk.text.empty() && reader_.line_number() == 1;
    const bool first = begins || (options_.documents && chunk.text.empty());
    const bool good = ends_in_letter_or_digit(chunk.text) && !line.empty() && !is_space(line.front());
    const size_t end = good ? chunk.text.size() : text_end,
                 enough = good ? options_.chunk_bytes : kMaxChunks * options_.chunk_bytes;
    if (end > 0 && chunk.text.size() >= enough) {
      waiting_ = chunk.text.substr(end) + '\n';
      waiting_ += line;
      chunk.text.resize(end);
      return true;
    }
    if (text_end == 0 && chunk.text.size() > options_.lines.max_line_bytes) {
      fail(
          ErrorKind::kFormat,
          "{}: before line {} are more than {} bytes of white space in a row, which are read at once: remove "
          "them",
          reader_.name(), reader_.line_number(), options_.lines.max_line_bytes);
    }
    if (!first) chunk.text += '\n';
    if (!blank) text_end = chunk.text.size() + strip_right(line).size();
    chunk.text += line;
  }
  if (!has_text_) fail(ErrorKind::kFormat, "{} has no text", reader_.name());
  if (std::exchange(at_end_, true)) return false;
  if (!chunk.text.empty()) {
    chunk.text += '\n';
    chunk.ends_document = options_.documents;
  }
  return !chunk.text.empty();
}

uint64_t RunningText::fingerprint() const {
  Fingerprint all;
  all.add_number(reader_.fingerprint().value());
  all.add_number(options_.lines.lossy ? 1 : 0);
  all.add_number(options_.documents ? 1 : 0);
  return all.value();
}

RunningTextFacts running_text_facts(const std::string& path, const RunningTextOptions& options) {
  if (path == "-") fail(ErrorKind::kUsage, "standard input cannot be read twice: give a file");
  RunningText text(path, options);
  TextChunk chunk;
  while (text.next(chunk)) {
  }
  return {text.fingerprint(), text.characters()};
}

}  // namespace heed
