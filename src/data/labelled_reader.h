// Texts with their classes, for training and scoring classifiers: lines of label TAB text, or label TAB text
// TAB second text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "data/line_reader.h"

namespace heed {

/// Views of a line's columns, valid until the next one is read.
struct LabelledText {
  std::string_view label, first;
  std::optional<std::string_view> second;
  uint64_t line = 0;  ///< its number in the file, from 1
};

class LabelledReader {
 public:
  /// Throws kNotFound or kFile.
  explicit LabelledReader(const std::string& path, const LineReaderOptions& options = {});

  /// The next line that is not blank; false after the last. White space around a label is left out. Throws
  /// kFormat, naming file and line, for a line without a tab or without a label, for more than three columns,
  /// and for a file without any line of text; and what LineReader::next throws. A text may be empty.
  bool next(LabelledText& text);

  /// The file as messages name it.
  const std::string& name() const { return lines_.name(); }
  /// Of the whole file, once next() has returned false.
  const Fingerprint& fingerprint() const { return lines_.fingerprint(); }

 private:
  LineReader lines_;
  bool any_ = false;
};

}  // namespace heed
