#include "data/corpus/readers/running_text.h"

#include <utility>

#include "base/check.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed {
namespace {

bool is_space(char byte) {
  return strip(std::string_view(&byte, 1)).empty();
}

}  // namespace

RunningText::RunningText(const std::string& path, const RunningTextOptions& options)
    : options_(options), reader_(path, options.lines) {}

bool RunningText::next(TextChunk& chunk) {
  chunk = {std::exchange(waiting_, {}), false};
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
    const bool good =
        !chunk.text.empty() && !is_space(chunk.text.back()) && !line.empty() && !is_space(line.front());
    if (good && chunk.text.size() >= options_.chunk_bytes) {
      waiting_ = '\n';
      waiting_ += line;
      return true;
    }
    if (!first) chunk.text += '\n';
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
