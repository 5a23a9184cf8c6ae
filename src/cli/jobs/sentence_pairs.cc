#include "cli/jobs/sentence_pairs.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/text/printable.h"
#include "cli/options/command.h"
#include "cli/options/input_notes.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed::cli {

void add_pairs_options(Command& app, PairsInput& input) {
  app.add_option("--pairs F.tsv", input.pairs,
                 "Sentence pairs, lines of SOURCE TAB TARGET; -: standard input");
  app.add_option("--source F", input.source, "Source side, one sentence per line; instead of --pairs");
  app.add_option("--target F", input.target, "Target side of --source");
}

void add_pairs_switches(Command& app, PairsInput& input) {
  app.group(kInputOptions);
  app.add_switch("--swap", input.swap, "Swap source and target");
  app.add_switch("--lossy", input.lines.lossy, "Replace invalid UTF-8 instead of failing");
}

void add_pair_arguments(Command& app, std::vector<std::string>& arguments) {
  app.add_option("TEXT", arguments, "SOURCE TARGET: one pair; or F.tsv, or -: the same as --pairs")
      ->take_all();
}

void require_one_input(const PairsInput& input) {
  const bool both = !input.source.empty() && !input.target.empty(),
             any = !input.source.empty() || !input.target.empty();
  if (input.pairs.empty() ? both : !any) return;
  fail(ErrorKind::kUsage,
       "give either --pairs F.tsv, with lines of SOURCE TAB TARGET, or --source F and --target F");
}

NumberedPairs read_pairs(const PairsInput& input) {
  require_one_input(input);
  PairsReader reader(input);
  NumberedPairs result;
  read_block(reader, std::numeric_limits<size_t>::max(), result);
  result.reader = nullptr;
  return result;
}

bool read_block(PairsReader& reader, size_t count, NumberedPairs& block) {
  block = {.first_line = reader.counts().lines + 1, .reader = &reader};
  Pair pair;
  while (block.pairs.size() < count && reader.next(pair)) {
    block.pairs.emplace_back(pair.source, pair.target);
    block.lines.push_back(pair.line);
  }
  block.last_line = reader.counts().lines;
  return block.last_line >= block.first_line;
}

namespace {

/// SOURCE and TARGET of the command line.
NumberedPairs pair_of(std::string source, std::string target, bool swap, bool lossy) {
  for (std::string* text : {&source, &target}) {
    if (lossy) *text = replace_invalid_utf8(*text);
    if (strip(*text).empty()) fail(ErrorKind::kUsage, "one of the two texts is empty: give both");
    if (find_invalid_utf8(*text)) {
      fail(ErrorKind::kText, "the text '{}' is not UTF-8: convert it, or give --lossy",
           replace_invalid_utf8(*text));
    }
  }
  NumberedPairs pair{
      .pairs = {{std::move(source), std::move(target)}}, .lines = {1}, .first_line = 1, .last_line = 1};
  if (swap) std::swap(pair.pairs[0].first, pair.pairs[0].second);
  return pair;
}

}  // namespace

PairsInput pair_files(const std::vector<std::string>& arguments, const PairsInput& input) {
  if (arguments.empty()) return input;
  if (input.is_named()) {
    fail(ErrorKind::kUsage, "'{}' and --pairs, --source or --target exclude each other: give one of them",
         shown(arguments[0]));
  }
  if (arguments.size() > 2) {
    fail(ErrorKind::kUsage, "give a source and its translation, not {} texts; more pairs come from --pairs",
         arguments.size());
  }
  PairsInput files = input;
  if (arguments.size() == 2) return files;
  if (arguments[0] != "-" && !names_file(arguments[0])) {
    fail(ErrorKind::kUsage, "there is no file '{}': give a source and its translation, or a file of pairs",
         shown(arguments[0]));
  }
  files.pairs = arguments[0];
  return files;
}

GivenPairs::GivenPairs(const std::vector<std::string>& arguments, const PairsInput& input,
                       const FilePart& part)
    : input_(pair_files(arguments, input)) {
  input_.lines.part = part;
  if (arguments.size() == 2) {
    pair_ = pair_of(arguments[0], arguments[1], input.swap, input.lines.lossy);
    return;
  }
  require_one_input(input_);
  reader_.emplace(input_);
}

void GivenPairs::skip(uint64_t lines) {
  if (reader_) reader_->skip(lines);
}

bool GivenPairs::next(size_t count, NumberedPairs& block) {
  if (reader_) return read_block(*reader_, count, block);
  if (!pair_) return false;
  block = *std::exchange(pair_, {});
  return true;
}

void GivenPairs::note_extra_columns(bool quiet) const {
  const std::string note = reader_ ? extra_columns_text(reader_->counts()) : "";
  if (quiet || note.empty()) return;
  std::fprintf(stderr, "note: %s has %s\n", printable(reader_->name()).c_str(), note.c_str());
}

void require_max_length(const TranslationModel& model, const NumberedPairs& pairs) {
  const auto most = static_cast<size_t>(model.loaded.seq2seq().max_length());
  if (most == 0) return;
  for (size_t n = 0; n < pairs.pairs.size(); ++n) {
    const auto& [source, target] = pairs.pairs[n];
    if (source.size() < most && target.size() < most) continue;  // a token has at least one byte
    const size_t longer = std::max(model.tokenizer.encode_source(source).ids.size(),
                                   model.tokenizer.encode_target(target).ids.size());
    if (longer > most) {
      fail(ErrorKind::kUsage, "line {} has a sentence of {} tokens, but the model's maximum is {}: split it",
           pairs.line_in_file(n), longer, most);
    }
  }
}

void note_source_language(const TranslationModel& model, const NumberedPairs& pairs, const PairsInput& input,
                          bool quiet) {
  if (quiet || pairs.first_line > 1) return;
  std::vector<std::string_view> sources;
  for (const auto& [source, target] : pairs.pairs) sources.push_back(source);
  note_source_language(input.pairs.empty() ? input.source : input.pairs, sources,
                       model.tokenizer.source_language());
}

void write_for_each_line(const NumberedPairs& pairs, const std::vector<std::string>& results,
                         LineOutput& output) {
  HEED_CHECK(results.size() == pairs.pairs.size());
  size_t next = 0;
  for (uint64_t line = pairs.first_line; line <= pairs.last_line; ++line) {
    const bool has_pair = next < results.size() && pairs.lines[next] == line;
    output.write_line(has_pair ? results[next++] : "");
    output.end_input_line();
  }
}

}  // namespace heed::cli
