// Sentence pairs as the input of a subcommand: by position, in one file, or in two.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/files/model_lookup.h"
#include "cli/jobs/resumable/line_output.h"
#include "cli/options/command_line.h"
#include "data/corpus/readers/pairs_reader.h"

namespace heed::cli {

/// The sentence pairs of some lines, with their line numbers. Lines with an empty side have no pair.
struct NumberedPairs {
  std::vector<std::pair<std::string, std::string>> pairs = {};
  std::vector<uint64_t> lines = {};        ///< of each pair, as Pair::line
  uint64_t first_line = 1, last_line = 0;  ///< of these lines
  const PairsReader* reader =
      nullptr;  ///< where they are from, if `lines` may not count from the file's start

  /// The line number in the file of pair n.
  uint64_t line_in_file(size_t n) const {
    return lines[n] + (reader == nullptr ? 0 : reader->line_number() - reader->counts().lines);
  }
};

/// Adds --pairs, --source and --target.
void add_pairs_options(Command& app, PairsInput& input);
/// Adds --swap and --lossy.
void add_pairs_switches(Command& app, PairsInput& input);

/// Throws kUsage unless either --pairs, or --source and --target are given.
void require_one_input(const PairsInput& input);
/// All pairs. Throws the errors of require_one_input() and PairsReader.
NumberedPairs read_pairs(const PairsInput& input);
/// The next lines, with up to `count` pairs; false at the end. The block refers to the reader. Throws the
/// errors of PairsReader::next().
bool read_block(PairsReader& reader, size_t count, NumberedPairs& block);

/// Adds the arguments of a subcommand that takes pairs by position, too: SOURCE TARGET is one pair, F.tsv is
/// --pairs.
void add_pair_arguments(Command& app, std::vector<std::string>& arguments);
/// The files to read: those of `input`, or the one that is given by position; none for a pair. Throws kUsage
/// for other arguments, and for arguments beside files.
PairsInput pair_files(const std::vector<std::string>& arguments, const PairsInput& input);

/// The pairs that a subcommand is given by position or in files.
class GivenPairs {
 public:
  /// Throws the errors of pair_files(), require_one_input() and PairsReader; kText for arguments that are not
  /// UTF-8.
  GivenPairs(const std::vector<std::string>& arguments, const PairsInput& input, const FilePart& part);

  /// The files that are read; none for a pair.
  const PairsInput& input() const { return input_; }
  /// Skips up to `lines` lines of the files.
  void skip(uint64_t lines);
  /// The next block of pairs, as read_block() gives it; false at the end.
  bool next(size_t count, NumberedPairs& block);
  /// Writes a note to standard error, unless `quiet`, if lines that were read had more than two columns.
  void note_extra_columns(bool quiet) const;
  /// Of all that was read, once next() has returned false; none for a pair.
  std::optional<uint64_t> fingerprint() const {
    return reader_ ? std::optional(reader_->fingerprint()) : std::nullopt;
  }

 private:
  PairsInput input_;
  std::optional<NumberedPairs> pair_;  // until it was returned
  std::optional<PairsReader> reader_;
};

/// Throws kUsage, naming the line, for a pair with more tokens than the model has positions.
void require_max_length(const TranslationModel& model, const NumberedPairs& pairs);

/// Writes a note to standard error, unless `quiet`, if the first block of pairs of `input` has certainly
/// sources in another language than the model's.
void note_source_language(const TranslationModel& model, const NumberedPairs& pairs, const PairsInput& input,
                          bool quiet);

/// Writes one line per input line: `results[n]` for the n-th pair, an empty line for lines without a pair.
void write_for_each_line(const NumberedPairs& pairs, const std::vector<std::string>& results,
                         LineOutput& output);

}  // namespace heed::cli
