// The lines that a subcommand translates: arguments, a file, or standard input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/line_reader.h"

namespace heed::cli {

class SourceLines {
 public:
  /// The lines of `texts` if there are any, else of the file `input`, else ("" or "-") of standard input.
  /// With `lossy`, what is not UTF-8 is replaced. Throws kUsage for both texts and a file, kText, kNotFound
  /// or kFile.
  SourceLines(const std::vector<std::string>& texts, const std::string& input, bool lossy);

  /// Throws what LineReader::next throws.
  bool next(std::string& line);
  /// Whether next() returns at once; false where it would wait for a person or another program.
  bool ready() const { return !reader_ || reader_->ready(); }
  /// Whether next() has returned false.
  bool at_end() const { return at_end_; }

  bool from_terminal() const;
  /// How many there are in all; 0 where only reading them would tell.
  uint64_t count() const;
  /// Bytes of all of them with their ends; 0 where only reading them would tell.
  uint64_t bytes() const;

 private:
  std::vector<std::string> lines_;  // of the arguments
  size_t given_ = 0;
  std::string path_;
  std::optional<LineReader> reader_;
  bool at_end_ = false;
};

}  // namespace heed::cli
