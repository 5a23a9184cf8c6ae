// heed heads: which attention heads matter on a test set.

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/counted.h"
#include "cli/evaluation/head_importance.h"
#include "cli/jobs/resumable/line_output.h"
#include "cli/jobs/sentence_pairs.h"
#include "cli/options/checked_options.h"
#include "cli/options/command.h"
#include "cli/options/search_flags.h"
#include "cli/options/terminal.h"
#include "cli/options/text_table.h"
#include "inspect/draw/picture_file.h"
#include "inspect/trace/trace.h"
#include "models/head_names.h"

namespace heed::cli {
namespace {

struct HeadsOptions {
  CommonOptions common;
  ModelChoice model;
  TranslateFlags flags;
  TestSetInput input;
  std::string output;
  std::optional<int> max_pairs;
  bool bleu = true, json = false;
};

TestSet read_set(const HeadsOptions& o) {
  TestSet set = read_test_sets(o.input).at(0);
  const size_t most = o.max_pairs ? static_cast<size_t>(*o.max_pairs) : set.size();
  if (set.size() == 0) fail(ErrorKind::kFormat, "'{}' has no sentence pairs", set.name);
  if (most >= set.size()) return set;
  set.source.resize(most);
  set.references[0].resize(most);
  set.lines.resize(most);
  return set;
}

std::string to_json(const HeadImportance& importance, const std::string& directory, const TestSet& set) {
  const auto score = [](const SetScore& each) {
    nlohmann::ordered_json json{{"log_probability", each.log_probability}};
    if (each.bleu) json["bleu"] = *each.bleu;
    return json;
  };
  nlohmann::ordered_json json{
      {"model", directory}, {"test_set", set.name}, {"pairs", set.size()}, {"tokens", importance.tokens}};
  json.update(score(importance.whole));
  json["heads"] = nlohmann::ordered_json::array();
  for (const HeadScore& each : importance.heads) {
    nlohmann::ordered_json head{{"stack", stack_name(each.head.layer_id.stack)},
                                {"layer", each.head.layer_id.layer + 1},
                                {"head", each.head.head + 1}};
    head.update(score(each.score));
    json["heads"].push_back(std::move(head));
  }
  return json.dump() + "\n";
}

/// The heads whose loss is largest first.
std::string to_table(const HeadImportance& importance) {
  std::vector<HeadScore> heads = importance.heads;
  std::stable_sort(heads.begin(), heads.end(), [](const HeadScore& a, const HeadScore& b) {
    return a.score.log_probability < b.score.log_probability;
  });
  const SetScore& whole = importance.whole;
  const auto row = [&](const std::string& name, const SetScore& score, bool change) {
    std::vector<std::string> cells{name, fmt::format("{:.4f}", score.log_probability)};
    cells.push_back(change ? fmt::format("{:+.4f}", score.log_probability - whole.log_probability) : "");
    if (!score.bleu) return cells;
    cells.push_back(fmt::format("{:.1f}", *score.bleu));
    cells.push_back(change ? fmt::format("{:+.1f}", *score.bleu - *whole.bleu) : "");
    return cells;
  };
  std::vector<std::vector<std::string>> rows{{"switched off", "log P per token", "change"}};
  if (whole.bleu) rows[0].insert(rows[0].end(), {"BLEU", "change"});
  rows.push_back(row("none", whole, false));
  for (const HeadScore& each : heads) rows.push_back(row(models::head_name(each.head), each.score, true));
  return text_table(rows);
}

int run_heads(const HeadsOptions& o) {
  if (o.input.pairs.empty()) {
    fail(ErrorKind::kUsage, "give the test set with --pairs F.tsv, lines of SOURCE TAB TARGET");
  }
  if (!o.output.empty()) picture_format(o.output);  // reports a wrong name before the work
  const TestSet set = read_set(o);
  const TranslationModel model = load_translation_model(o.model);
  NumberedPairs pairs;
  for (size_t n = 0; n < set.size(); ++n) pairs.pairs.emplace_back(set.source[n], set.references[0][n]);
  pairs.lines = set.lines;
  require_max_length(model, pairs);
  note_source_language(model, pairs, {.pairs = set.name}, o.common.quiet);
  ThreadPool pool(o.common.threads);
  ProgressLine progress("heads", 0, !o.common.quiet && stderr_is_terminal());
  HeadImportanceOptions options{.translator = translate::translator_options(model.loaded, o.flags.options),
                                .bleu = o.bleu};
  options.progress = [&](size_t done, size_t all) {
    progress.show(done, static_cast<double>(done) / static_cast<double>(all));
  };
  const HeadImportance importance = head_importance(model, set, pool, options);
  progress.clear();
  LineOutput output("-");
  output.write(o.json ? to_json(importance, model.loaded.directory(), set) : to_table(importance));
  output.commit();
  if (!o.output.empty()) {
    save_picture(head_importance_picture(importance), o.output);
    if (!o.common.quiet) std::fprintf(stderr, "wrote %s\n", o.output.c_str());
  }
  return kExitDone;
}

}  // namespace

void add_heads(Command& app, Work& work) {
  auto [command, o] = add_command(
      app, work, "heads", "Show which attention heads matter: scores with each head switched off", run_heads);
  command->footer(R"(Examples:
  heed heads --pairs test.tsv --max-pairs 200
  heed heads --model my-model --pairs test.tsv --no-bleu --json
  heed heads --pairs test.tsv --output heads.svg

Switches off each head in turn: its output becomes zeros. The table lists the log-probability of the
reference translations per token (natural logarithm, end tokens included) and BLEU, the most important head
first. BLEU translates the test set once for each head; --no-bleu is many times faster.)");
  command->add_option("--pairs F.tsv", o->input.pairs, "Test set, lines of SOURCE TAB TARGET");
  add_model_options(*command, o->model);
  add_integer(*command, "--max-pairs", o->max_pairs, "Only the first N pairs [default: all]", {1});
  command->add_switch("--bleu", o->bleu, "BLEU too, for which the test set is translated once for each head");
  command->add_option("--output F", o->output, "Also draw a map of the losses: .png, .svg or .pdf");
  command->add_switch("--json", o->json, "Write JSON instead of a table");
  command->group(kInputOptions);
  command->add_switch("--swap", o->input.swap, "Swap source and target");
  command->add_switch("--lossy", o->input.lossy, "Replace invalid UTF-8 instead of failing");
  add_language_options(*command, o->model);
  add_precision_option(*command, o->model.precision);
  add_shortlist_option(*command, o->model.shortlist);
  add_translate_options(*command, o->flags, {search::OptionGroup::kSearch});
  add_common_options(*command, o->common);
}

}  // namespace heed::cli
