#include "cli/evaluation/evaluate_alignments.h"
#include "cli/files/model_lookup.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/counted.h"
#include "base/thread_pool.h"
#include "cli/jobs/pair_alignment.h"
#include "cli/jobs/resumable/line_output.h"
#include "cli/jobs/sentence_pairs.h"
#include "data/corpus/readers/line_reader.h"
#include "metrics/alignment_score.h"
#include "text/unicode/whitespace.h"

namespace heed::cli {
namespace {

using Links = std::vector<WordLink>;

std::string line_name(const std::string& path, size_t index) {
  return fmt::format("'{}', line {}", path, index + 1);
}

std::vector<std::string> lines_of(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  std::string_view line;
  while (reader.next(line)) lines.emplace_back(line);
  return lines;
}

void swap_sides(Links& links) {
  for (auto& [source, target] : links) std::swap(source, target);
  std::sort(links.begin(), links.end());
}

std::vector<GoldAlignment> read_gold(const AlignmentEvaluation& e) {
  std::vector<GoldAlignment> gold;
  for (const std::string& line : lines_of(e.gold)) {
    gold.push_back(parse_gold_alignment(line, line_name(e.gold, gold.size())));
    if (!e.pairs.swap) continue;
    swap_sides(gold.back().sure);
    swap_sides(gold.back().possible);
  }
  if (gold.empty())
    fail(ErrorKind::kFormat, "'{}' is empty: give gold alignments, one line per sentence pair", e.gold);
  return gold;
}

void require_as_many(size_t lines, const std::string& name, const AlignmentEvaluation& e, size_t gold) {
  if (lines == gold) return;
  fail(ErrorKind::kFormat,
       "{} has {}, but the gold alignments in '{}' have {}: both need one line per sentence pair", name,
       counted(lines, "line"), e.gold, gold);
}

/// For every line of the pairs; empty for lines without a sentence pair.
std::vector<Links> model_links(const AlignmentEvaluation& e, const NumberedPairs& pairs) {
  const TranslationModel model = load_translation_model(e.model);
  note_source_language(model, pairs, e.pairs, e.common.quiet);
  ThreadPool pool(e.common.threads);
  const auto of_pairs = align_pairs(model, pairs, {.heads = model.loaded.generation.alignment_heads}, pool);
  std::vector<Links> links(pairs.last_line);
  for (size_t n = 0; n < of_pairs.size(); ++n) links[pairs.lines[n] - 1] = of_pairs[n];
  return links;
}

std::vector<Links> file_links(const AlignmentEvaluation& e) {
  std::vector<Links> links;
  for (const std::string& line : lines_of(e.hypothesis)) {
    links.push_back(parse_alignment(line, line_name(e.hypothesis, links.size())));
  }
  return links;
}

void require_words_of(const NumberedPairs& pairs, const std::vector<Links>& links,
                      const std::vector<GoldAlignment>& gold, const AlignmentEvaluation& e) {
  for (size_t n = 0; n < pairs.pairs.size(); ++n) {
    const size_t sources = split_whitespace(pairs.pairs[n].first).size(),
                 targets = split_whitespace(pairs.pairs[n].second).size(), line = pairs.lines[n] - 1;
    require_words(gold[line].possible, sources, targets, line_name(e.gold, line));
    require_words(links[line], sources, targets, line_name(e.hypothesis, line));
  }
}

void write_score(const AlignmentScore& score, size_t lines, bool json) {
  LineOutput output("-");
  if (json) {
    output.write_line(nlohmann::ordered_json{
        {"aer", score.error_rate()},
        {"precision", score.precision()},
        {"recall", score.recall()},
        {"f1", score.f1()},
        {"links", score.links},
        {"sure_links", score.sure},
        {"lines", lines}}.dump());
  } else {
    output.write_line(fmt::format("AER       {:6.2f}", 100 * score.error_rate()));
    output.write_line(fmt::format("precision {:6.2f}", 100 * score.precision()));
    output.write_line(fmt::format("recall    {:6.2f}", 100 * score.recall()));
    output.write_line(fmt::format("F1        {:6.2f}", 100 * score.f1()));
  }
  output.commit();
}

}  // namespace

int evaluate_alignments(const AlignmentEvaluation& e) {
  const bool has_pairs = !e.pairs.pairs.empty();
  if (!has_pairs && e.hypothesis.empty()) {
    fail(ErrorKind::kUsage,
         "--alignments compares gold links with the model's alignment of --pairs F.tsv, or with --hypothesis "
         "F: give one of them");
  }
  const std::vector<GoldAlignment> gold = read_gold(e);
  NumberedPairs pairs;
  if (has_pairs) {
    pairs = read_pairs(e.pairs);
    require_as_many(pairs.last_line, "'" + e.pairs.pairs + "'", e, gold.size());
  }
  const std::vector<Links> links = e.hypothesis.empty() ? model_links(e, pairs) : file_links(e);
  require_as_many(links.size(), "'" + e.hypothesis + "'", e, gold.size());
  require_words_of(pairs, links, gold, e);
  AlignmentScore score;
  for (size_t n = 0; n < gold.size(); ++n) {
    Links sorted = links[n];
    std::sort(sorted.begin(), sorted.end());
    score.add(sorted, gold[n]);
  }
  write_score(score, gold.size(), e.json);
  return kExitDone;
}

}  // namespace heed::cli
