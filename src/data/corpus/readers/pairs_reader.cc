#include "data/corpus/readers/pairs_reader.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "text/unicode/whitespace.h"

namespace heed {
namespace {

const PairsInput& checked(const PairsInput& input) {
  const bool one = !input.pairs.empty();
  const bool both = !input.source.empty() && !input.target.empty();
  const bool any = !input.source.empty() || !input.target.empty();
  if (one && any)
    fail(ErrorKind::kUsage, "give either one file of pairs or a source and a target file, not both");
  if (!one && !both) {
    fail(ErrorKind::kUsage,
         "sentence pairs need one file (source TAB target on each line), or two parallel files");
  }
  if (input.source == "-" && input.target == "-") {
    fail(ErrorKind::kUsage, "source and target cannot both be read from standard input");
  }
  return input;
}

/// Options for one of two parallel files.
LineReaderOptions whole(LineReaderOptions options) {
  options.part = {};
  return options;
}

uint64_t combine(const PairsInput& input, const Fingerprint& first, const Fingerprint* second) {
  Fingerprint all;
  all.add_number(input.swap ? 1 : 0);
  all.add_number(input.lines.lossy ? 1 : 0);
  for (const Fingerprint* file : {&first, second}) {
    if (file == nullptr) continue;
    all.add_number(file->size());
    all.add_number(file->value());
  }
  return all.value();
}

}  // namespace

std::string extra_columns_text(const PairsCounts& counts) {
  if (counts.extra_columns == 0) return "";
  return fmt::format("{} with more than two columns (the first two are used)",
                     counted(counts.extra_columns, "line"));
}

PairsReader::PairsReader(const PairsInput& input)
    : input_(checked(input)),
      first_(input.pairs.empty() ? input.source : input.pairs,
             input.pairs.empty() ? whole(input.lines) : input.lines) {
  if (!input_.pairs.empty()) return;
  second_.emplace(input_.target, whole(input_.lines));
  const FilePart part = input_.lines.part;
  if (part.is_whole()) return;
  if (input.source == "-" || input.target == "-") {
    fail(ErrorKind::kUsage, "standard input has no parts: give two files");
  }
  const uint64_t lines = LineReader(input_.source).count_lines();
  first_.skip(part.begin(lines));
  second_->skip(part.begin(lines));
  first_begin_ = first_.range().end;
  second_begin_ = second_->range().end;
  // After the last part there is no limit, so that files of unequal length are noticed.
  if (part.number < part.count) lines_left_ = part.end(lines) - part.begin(lines);
}

uint64_t PairsReader::skip(uint64_t count) {
  const uint64_t skipped = first_.skip(std::min(count, lines_left_));
  if (second_) second_->skip(skipped);
  lines_left_ -= skipped;
  has_skipped_ = has_skipped_ || skipped > 0;
  return skipped;
}

std::string PairsReader::name() const {
  return second_ ? fmt::format("{} and {}", first_.name(), second_->name()) : first_.name();
}

bool PairsReader::read_columns(Pair& pair, bool& extra) {
  std::string_view line;
  if (!first_.next(line)) return false;
  pair = {};
  if (strip(line).empty()) return true;
  const size_t tab = line.find('\t');
  if (tab == std::string_view::npos) {
    fail(ErrorKind::kFormat, "line {} of {} has no tab: each line is source TAB target", first_.line_number(),
         first_.name());
  }
  pair.source = line.substr(0, tab);
  pair.target = line.substr(tab + 1);
  const size_t second_tab = pair.target.find('\t');
  extra = second_tab != std::string_view::npos;
  if (extra) {
    pair.further_columns = pair.target.substr(second_tab + 1);
    pair.target = pair.target.substr(0, second_tab);
  }
  return true;
}

bool PairsReader::read_parallel(Pair& pair) {
  const bool has_source = first_.next(pair.source);
  const bool has_target = second_->next(pair.target);
  if (has_source != has_target) {
    fail(ErrorKind::kFormat,
         "{} has {} lines and {} has {}: parallel files need one line each for every pair", first_.name(),
         first_.count_lines(), second_->name(), second_->count_lines());
  }
  return has_source;
}

bool PairsReader::next(Pair& pair) {
  while (true) {
    bool extra = false;
    if (lines_left_ == 0) break;
    if (!(second_ ? read_parallel(pair) : read_columns(pair, extra))) break;
    ++counts_.lines;
    --lines_left_;
    if (strip(pair.source).empty() || strip(pair.target).empty()) {
      ++counts_.empty;
      continue;
    }
    ++counts_.pairs;
    if (extra) ++counts_.extra_columns;
    if (input_.swap) std::swap(pair.source, pair.target);
    pair.line = counts_.lines;
    return true;
  }
  if (!input_.lines.part.is_whole() || has_skipped_) return false;
  if (counts_.lines == 0)
    fail(ErrorKind::kFormat, "{}: the file has no lines; expected sentence pairs", name());
  if (counts_.pairs == 0) {
    fail(ErrorKind::kFormat, "{}: none of the {} lines has text on both sides", name(), counts_.lines);
  }
  return false;
}

uint64_t PairsReader::fingerprint() const {
  return combine(input_, first_.fingerprint(), second_ ? &second_->fingerprint() : nullptr);
}

std::vector<FileRange> PairsReader::ranges() const {
  if (!second_) return {first_.range()};
  const FileRange first = first_.range(), second = second_->range();
  if (input_.lines.part.is_whole()) return {first, second};
  return {{decompressed_size(input_.source), first_begin_, first.end},
          {decompressed_size(input_.target), second_begin_, second.end}};
}

PairsIdentity identify_pairs(const PairsInput& input) {
  checked(input);
  if (input.pairs == "-" || input.source == "-" || input.target == "-") {
    fail(ErrorKind::kUsage, "standard input cannot be read twice: give a file");
  }
  if (!input.lines.part.is_whole()) {
    PairsReader reader(input);
    const uint64_t lines = reader.skip(std::numeric_limits<uint64_t>::max());
    return {lines, reader.fingerprint(), reader.ranges()};
  }
  LineReader first(input.pairs.empty() ? input.source : input.pairs, input.lines);
  const uint64_t lines = first.count_lines();
  if (!input.pairs.empty()) return {lines, combine(input, first.fingerprint(), nullptr), {first.range()}};
  LineReader second(input.target, input.lines);
  second.skip(std::numeric_limits<uint64_t>::max());
  return {lines, combine(input, first.fingerprint(), &second.fingerprint()), {first.range(), second.range()}};
}

}  // namespace heed
