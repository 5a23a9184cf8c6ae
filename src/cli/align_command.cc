// heed align: which word of a translation comes from which word of its source.

#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/thread_pool.h"
#include "cli/checked_options.h"
#include "cli/command.h"
#include "cli/line_output.h"
#include "cli/pair_alignment.h"
#include "cli/translation.h"
#include "decode/alignment.h"

namespace heed::cli {
namespace {

struct AlignOptions {
  CommonOptions common;
  ModelChoice model;
  PairsInput input;
  std::string output;
  int layer = 0;  // 0: the last
};

int run_align(const AlignOptions& o) {
  const NumberedPairs pairs = read_pairs(o.input);
  LineOutput output(o.output);
  const TranslationModel model = load_translation_model(o.model);
  const decode::AlignmentOptions options{.layer = o.layer - 1};
  ThreadPool pool(o.common.threads);
  std::vector<std::string> lines;
  for (const auto& links : align_pairs(model, pairs, options, pool))
    lines.push_back(decode::to_pharaoh(links));
  if (interrupted()) return kExitInterrupted;
  write_for_each_line(pairs, lines, output);
  output.commit();
  return kExitDone;
}

}  // namespace

void add_align(Command& app, Work& work) {
  auto o = std::make_shared<AlignOptions>();
  Command* command = app.add_subcommand("align", "Align the words of sentence pairs");
  command->footer(
      "Example:\n  heed align --pairs test.tsv --model my-model\n"
      "Pharaoh format: 0-0 1-2 links source word 0 with target word 0, and source word 1 with target word 2. "
      "Words are\n"
      "what white space divides; every target word is linked to the source word that its pieces attend to "
      "most. A line\n"
      "without text on both sides gives an empty one.");
  add_pairs_options(*command, o->input);
  command->add_option("--output", o->output, "Write to this file instead of standard output")->type_name("F");
  add_integer(*command, "--layer", o->layer,
              "Decoder layer whose attention to the source is read, from 1 on; 0: the last", {0, 1000});
  add_model_options(*command, o->model);
  add_precision_option(*command, o->model.precision);
  add_common_options(*command, o->common);
  command->callback([o, &work] { work = [o] { return run_align(*o); }; });
}

}  // namespace heed::cli
