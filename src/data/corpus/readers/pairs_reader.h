// Sentence pairs for training and scoring, streamed from one TSV file or from two parallel files.
//
// TSV: each line is source TAB target. Further columns are counted: the downloads of the Tatoeba project
// carry the attribution there. Since a tab within a sentence would look the same, a caller that does not use
// them should tell the user how many lines had them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/corpus/readers/line_reader.h"

namespace heed {

struct PairsInput {
  bool is_named() const { return !pairs.empty() || !source.empty() || !target.empty(); }

  /// A TSV file; or empty, and `source` and `target` are two files with the same number of lines.
  std::string pairs = {};
  std::string source = {}, target = {};
  /// Exchange the two sides: the second column (or `target`) becomes the source.
  bool swap = false;
  /// How lines are read, and what happens to text that is not UTF-8. Parts of two parallel files have the
  /// same number of lines instead of bytes; a part may have no pairs.
  LineReaderOptions lines = {};
};

/// Views of a pair's text, valid until the next pair is read.
struct Pair {
  std::string_view source, target;
  uint64_t line = 0;          ///< its number among the lines that are read, from 1
  std::string_view tag = {};  ///< of the corpus, see WeightedPairs
  /// Of a TSV file, the columns behind the target with the tabs between them.
  std::string_view further_columns = {};
};

/// Counts so far; lines = pairs + empty.
struct PairsCounts {
  uint64_t lines = 0;
  uint64_t pairs = 0;          ///< returned
  uint64_t empty = 0;          ///< skipped: a side is empty or white space
  uint64_t extra_columns = 0;  ///< pairs whose line had more than two columns
};

/// "12 lines with more than two columns (the first two are used)"; empty for none.
std::string extra_columns_text(const PairsCounts& counts);

/// A stream of pairs.
class PairSource {
 public:
  virtual ~PairSource() = default;
  /// Reads the next pair with text on both sides; false after the last. Throws the errors of reading.
  virtual bool next(Pair& pair) = 0;
  virtual PairsCounts counts() const = 0;
  /// The name of the input, for messages.
  virtual std::string name() const = 0;
  /// Of all that was read, once next() has returned false.
  virtual uint64_t fingerprint() const = 0;
};

class PairsReader : public PairSource {
 public:
  /// Throws kUsage unless `input` names either one file or two, kNotFound, kFile.
  explicit PairsReader(const PairsInput& input);

  /// Reads the next pair with text on both sides; false after the last.
  /// Throws kFormat, naming file and line, for a line without a tab, for parallel files of unequal length,
  /// and for input without a single pair, unless lines were skipped; and what LineReader::next throws.
  bool next(Pair& pair) override;

  /// Skips up to `count` lines, which counts() does not include; returns the number skipped.
  uint64_t skip(uint64_t count);

  PairsCounts counts() const override { return counts_; }
  /// Of the last line in the file, from 1.
  uint64_t line_number() const { return first_.line_number(); }
  std::string name() const override;
  /// Once next() has returned false: the fingerprint that identify_pairs() gives for this input.
  uint64_t fingerprint() const override;
  /// What was read or skipped so far of each file, as LineReader::range(). Reads the sizes of two files anew.
  std::vector<FileRange> ranges() const;

 private:
  bool read_columns(Pair& pair, bool& extra);
  bool read_parallel(Pair& pair);

  PairsInput input_;
  LineReader first_;                                            // the TSV file, or the source
  std::optional<LineReader> second_;                            // the target, where there are two files
  uint64_t first_begin_ = 0, second_begin_ = 0;                 // of a part of two files, in bytes
  uint64_t lines_left_ = std::numeric_limits<uint64_t>::max();  // of a part of two files
  bool has_skipped_ = false;                                    // lines with skip(), which may have had pairs
  PairsCounts counts_;
};

/// The size of the input or of its part, and a fingerprint of the content of all files and of what
/// PairsReader makes of it, whatever the files are called.
struct PairsIdentity {
  uint64_t lines = 0, fingerprint = 0;
  std::vector<FileRange> ranges = {};  ///< of each file
};
/// Reads the whole files. Throws the errors of PairsReader's constructor, and kUsage for standard input.
PairsIdentity identify_pairs(const PairsInput& input);

}  // namespace heed
