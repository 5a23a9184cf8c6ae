// Reads labelled texts for training and evaluating classifiers: lines of label TAB text, or label TAB text
// TAB second text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "data/corpus/readers/line_reader.h"

namespace heed {

/// Views of a line's columns, valid until the next one is read.
struct LabelledText {
  std::string_view label, first;
  std::optional<std::string_view> second;
  uint64_t line = 0;  ///< line number, from 1
};

class LabelledReader {
 public:
  /// Throws kNotFound or kFile.
  explicit LabelledReader(const std::string& path, const LineReaderOptions& options = {});

  /// Reads the next non-blank line; false at the end. Strips white space around labels. Throws kFormat, with
  /// file and line, for a line without tab or label, for more than three columns, and for a file without
  /// text; and the errors of LineReader::next. A text may be empty.
  bool next(LabelledText& text);

  /// The file name for messages.
  const std::string& name() const { return lines_.name(); }
  /// Hash of the whole file, once next() has returned false.
  const Fingerprint& fingerprint() const { return lines_.fingerprint(); }

 private:
  LineReader lines_;
  bool any_ = false;
};

}  // namespace heed
