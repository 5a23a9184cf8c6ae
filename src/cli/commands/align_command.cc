// heed align: word alignments of sentence pairs.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/text/option_error.h"
#include "base/thread_pool.h"
#include "cli/evaluation/choose_heads.h"
#include "cli/files/model_lookup.h"
#include "cli/jobs/pair_alignment.h"
#include "cli/jobs/resumable/line_job.h"
#include "cli/jobs/resumable/line_output.h"
#include "cli/jobs/sentence_pairs.h"
#include "cli/options/checked_options.h"
#include "cli/options/command.h"
#include "metrics/symmetrization.h"
#include "translate/words/word_alignment.h"

namespace heed::cli {
namespace {

struct AlignOptions {
  CommonOptions common;
  ModelChoice model;
  PairsInput input;
  std::vector<std::string> arguments;
  std::string output;
  std::string reverse, symmetrize = "grow-diag-final-and";
  int layer = 0;  // 0: the model's alignment heads, or the last
  bool choose_heads = false;
  LineJobOptions job;
};

/// Pairs that are in memory at a time.
constexpr size_t kPairsAtATime = 4096;

using Links = std::vector<WordLink>;

translate::AlignmentOptions alignment_options(const AlignOptions& o, const models::LoadedModel& model) {
  if (o.layer > 0) return {.layer = o.layer - 1};
  return {.heads = model.generation.alignment_heads};
}

struct BothModels {
  TranslationModel forward;
  std::optional<TranslationModel> reverse;
};

/// The language of a side of the pairs for the reverse model: the one that is given, or else that of the
/// forward model, if the reverse model has it.
std::string reverse_language(const TranslationTokenizer& reverse, const std::string& given,
                             const std::string& forward) {
  return given.empty() && std::ranges::count(reverse.languages(), forward) > 0 ? forward : given;
}

/// Chooses the languages of the pairs. The reverse model reads their targets. What one of the models cannot
/// choose is for the other alone.
void choose_languages(const ModelChoice& given, TranslationModel& forward, TranslationModel& reverse) {
  const TranslationTokenizer &there = forward.tokenizer, &back = reverse.tokenizer;
  const bool for_source = there.chooses_source_language() || !back.chooses_target_language(),
             for_target = there.chooses_target_language() || !back.chooses_source_language();
  tasks::choose_languages(forward, for_source ? given.source_language : "",
                          for_target ? given.target_language : "");
  std::string source, target;
  if (back.chooses_source_language())
    source = reverse_language(back, given.target_language, there.target_language());
  if (back.chooses_target_language())
    target = reverse_language(back, given.source_language, there.source_language());
  tasks::choose_languages(reverse, source, target);
}

BothModels load_models(const AlignOptions& o, const models::ModelDirectory& directory,
                       const std::optional<ModelInventory>& reverse) {
  if (!reverse) return {load_translation_model(o.model, directory), {}};
  ModelChoice without_languages = o.model;
  without_languages.source_language.clear();
  without_languages.target_language.clear();
  BothModels models{load_translation_model(without_languages, directory),
                    load_translation_model(without_languages, open_translation_model(*reverse))};
  choose_languages(o.model, models.forward, *models.reverse);
  return models;
}

/// Throws kUsage for a source of the reverse model without its language code. The target language of that
/// model is the source language of the pairs.
void require_reverse_language(const TranslationModel& model, const NumberedPairs& reversed) {
  try {
    for (const auto& pair : reversed.pairs) model.tokenizer.require_language_code(pair.first);
  } catch (const OptionError& error) {
    fail(error.kind(), "--reverse: {}",
         error.message([](const std::string& /*target_language*/) { return "--source-language"; }));
  }
}

/// The alignments of the reverse model, as (source, target) links of these pairs.
std::vector<Links> reverse_links(const AlignOptions& o, const TranslationModel& model,
                                 const NumberedPairs& pairs, ThreadPool& pool) {
  NumberedPairs reversed = pairs;
  for (auto& [source, target] : reversed.pairs) std::swap(source, target);
  require_reverse_language(model, reversed);
  std::vector<Links> all = align_pairs(model, reversed, alignment_options(o, model.loaded), pool);
  for (Links& links : all) {
    for (auto& [source, target] : links) std::swap(source, target);
  }
  return all;
}

/// Sorts by target word, then source word.
void sort_by_target(Links& links) {
  std::sort(links.begin(), links.end(), [](const WordLink& a, const WordLink& b) {
    return std::pair(a.second, a.first) < std::pair(b.second, b.first);
  });
}

int run_align(const AlignOptions& o) {
  if (o.choose_heads) return choose_heads({o.common, o.model, pair_files(o.arguments, o.input)});
  const Symmetrization method = parse_symmetrization(o.symmetrize);
  GivenPairs given(o.arguments, o.input, o.job.part);
  const models::ModelDirectory directory = open_translation_model(o.model);
  LineJob job{.options = o.job, .models = {directory.path()}};
  std::optional<ModelInventory> reverse_files;
  if (!o.reverse.empty()) {
    reverse_files = model_directory_at(o.reverse, "--reverse");
    job.models.push_back(reverse_files->directory());
  }
  LineOutput output = open_output(job, given.input(), o.output);
  if (output.complete()) return kExitDone;
  given.skip(output.lines_done());
  const auto [model, reverse] = load_models(o, directory, reverse_files);
  ThreadPool pool(o.common.threads);
  for (NumberedPairs pairs; given.next(kPairsAtATime, pairs);) {
    note_source_language(model, pairs, given.input(), o.common.quiet);
    std::vector<Links> all = align_pairs(model, pairs, alignment_options(o, model.loaded), pool);
    if (reverse) {
      const std::vector<Links> turned = reverse_links(o, *reverse, pairs, pool);
      for (size_t n = 0; n < all.size(); ++n) {
        all[n] = symmetrize(all[n], turned[n], method);
        sort_by_target(all[n]);
      }
    }
    std::vector<std::string> lines;
    for (const Links& links : all) lines.push_back(translate::to_pharaoh(links));
    write_for_each_line(pairs, lines, output);
  }
  output.commit(given.fingerprint());
  given.note_extra_columns(o.common.quiet);
  return kExitDone;
}

}  // namespace

void add_align(Command& app, Work& work) {
  auto [command, o] = add_command(app, work, "align", "Align the words of sentence pairs", run_align);
  command->footer(R"(Examples:
  heed align "Der Hund schläft." "The dog sleeps."
  heed align test.tsv --model my-model
  heed align --pairs test.tsv --model de-en-model --reverse en-de-model
  heed align --choose-heads --pairs train.tsv --model my-model

Output is in Pharaoh format: 0-0 1-2 links source word 0 with target word 0, and source word 1 with target
word 2. Words are separated by white space. Each target word is linked to the source word with the highest
attention of the model's alignment heads, or to none. A line without a sentence pair gives an empty line.)");
  add_pair_arguments(*command, o->arguments);
  add_model_options(*command, o->model);
  add_pairs_options(*command, o->input);
  command->add_option("--output F", o->output, "Write to this file instead of standard output");
  command->group("Alignment");
  Option* reverse = command->add_option(
      "--reverse DIR", o->reverse, "Model of the reverse direction; the alignments of both are combined");
  command
      ->add_option("--symmetrize NAME", o->symmetrize,
                   "Symmetrization with --reverse: intersection, union, grow-diag or grow-diag-final-and")
      ->show_default()
      ->needs(reverse);
  add_integer(*command, "--layer", o->layer,
              "Use the mean over the heads of this decoder layer, counted from 1; 0: the model's alignment "
              "heads if it has any, else the last layer",
              {0, 1000});
  command->add_switch("--choose-heads", o->choose_heads,
                      "Select the heads that agree best with alignments learnt from the pairs (some "
                      "thousands), and store them in the model directory");
  add_pairs_switches(*command, o->input);
  add_language_options(*command, o->model);
  add_precision_option(*command, o->model.precision);
  add_line_job_options(*command, o->job);
  command->exclude("--choose-heads",
                   {"--reverse", "--output", "--part", "--resume", "--layer"});  // it aligns nothing
  add_common_options(*command, o->common);
}

}  // namespace heed::cli
