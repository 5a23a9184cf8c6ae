// Text as it runs on, line ends and all, in stretches that can be encoded apart: what a language model learns
// from.
#pragma once

#include <cstdint>
#include <string>

#include "data/line_reader.h"

namespace heed {

struct RunningTextOptions {
  LineReaderOptions lines = {};
  /// Blank lines end a document, and are no part of it.
  bool documents = false;
  /// A stretch is cut at the next good place after so many bytes.
  size_t stretch_bytes = 16 << 10;
};

/// Part of a text; all stretches after each other are the text, every line of which ends in LF.
struct Stretch {
  std::string text;
  bool ends_document = false;
};

/// Reads a file of any size. Stretches are cut before a line end that has letters (or anything that is no
/// white space) on both sides, and at the end of a document: tokenizers cut there anyway, so encoding each
/// stretch by itself gives the tokens of the whole.
class RunningText {
 public:
  /// Throws kNotFound or kFile.
  explicit RunningText(const std::string& path, const RunningTextOptions& options = {});

  /// False after the last. Throws what LineReader::next throws, and kFormat for a file without text.
  bool next(Stretch& stretch);

  /// Characters read so far, line ends included.
  uint64_t characters() const { return characters_; }
  const LineReader& reader() const { return reader_; }
  /// Once next() has returned false: of the file and of how it is read.
  uint64_t fingerprint() const;

 private:
  RunningTextOptions options_;
  LineReader reader_;
  std::string waiting_;  // begins the next stretch
  uint64_t characters_ = 0;
  bool has_text_ = false, at_end_ = false;
};

/// What a text is: known after one reading. Throws what RunningText throws, and kUsage for standard input,
/// which cannot be read twice.
struct RunningTextFacts {
  uint64_t fingerprint = 0;  ///< RunningText::fingerprint()
  uint64_t characters = 0;
};
RunningTextFacts running_text_facts(const std::string& path, const RunningTextOptions& options = {});

}  // namespace heed
