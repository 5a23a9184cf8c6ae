// heed patch: which heads, layers or positions of a model carry the difference between two texts.

#include <string>

#include "base/check.h"
#include "cli/jobs/inspection.h"
#include "cli/options/checked_options.h"
#include "inspect/json/patching_json.h"
#include "inspect/patching/patching.h"
#include "inspect/patching/patching_table.h"
#include "inspect/trace/label.h"
#include "text/unicode/whitespace.h"

namespace heed::cli {
namespace {

struct PatchCommandOptions : InspectionOptions {
  std::string other, what = "heads";
  PatchOptions patch;
};

void check_patch_options(const PatchCommandOptions& o) {
  check_inspection(o, {o.other, o.patch.target, o.patch.instead});
  if (strip(o.other).empty()) fail(ErrorKind::kUsage, "the other text is empty: give a text");
}

std::string patch_text(const PatchCommandOptions& o, const Patching& patching) {
  std::string text;
  if (!o.common.quiet) {
    text =
        fmt::format("text:   {}\nother:  {}\n", visible_text(patching.source), visible_text(patching.other));
    if (!patching.target.empty()) text += fmt::format("target: {}\n", visible_text(patching.target));
    text += "\n";
  }
  return text + patching_table(patching, o.table_columns());
}

int run_patch(const PatchCommandOptions& o) {
  check_patch_options(o);
  PatchOptions options = o.patch;
  options.what = patched_part_named(o.what);
  const ModelToInspect model = load_to_inspect(o);
  ThreadPool pool(o.common.threads);
  const InspectedModel view = model.view();
  const Reading clean = read_text(view, o.text, options.target);
  note_namesakes(o, options.token, clean);
  const Patching patching = patch(view, clean, read_another(view, o.other, clean), options, pool);
  write_inspection(o, {.json = [&] { return patching_to_json(patching); },
                       .text = [&] { return patch_text(o, patching); },
                       .picture = [&] { return patching_picture(patching); }});
  return kExitDone;
}

}  // namespace

void add_patch(Command& app, Work& work) {
  auto [command, o] =
      add_command(app, work, "patch",
                  "Show which heads, layers or positions carry the difference of two texts", run_patch);
  command->footer(R"(Examples:
  heed patch "Der Mann liest ein Buch." "Die Frau liest ein Buch."
  heed patch "Er schläft." "Sie schläft." --token 1 --instead ▁She --what positions
  heed patch "Das ist gut." "Das ist nicht gut." --what layers --json
  heed patch "The nurse said that he" "The nurse said that she" --model my-language-model

Activation patching: the clean run reads TEXT, the corrupted run OTHER, both with the target that the model
gives for TEXT. Activations of the clean run replace those of the corrupted run, whose forward pass then
continues. An effect of 1 restores all of the difference in log-probability, 0 none; below 0 the target
becomes less likely. heads replaces the output of one head, layers what one sub-layer adds, both at all
positions; positions replaces the residual stream after a layer at one position. Texts of different lengths are aligned by the tokens of
their common prefix and suffix; the tokens between stay as they are.)");
  command->add_option("TEXT", o->text, "Text to translate, continue or classify, or with mask tokens")
      ->required();
  command->add_option("OTHER", o->other, "Another text, which differs in a word for example")->required();
  add_model_options(*command, o->model);
  command
      ->add_option("--target TEXT", o->patch.target,
                   "Use this translation, continuation or label instead of the model's own of TEXT")
      ->refuse_empty();
  command->add_option(
      "--token N|TOKEN|all", o->patch.token,
      "The target token to look at: its position, counted from 1, or the token; TOKEN:2 is its "
      "second occurrence [default: all]");
  command->add_option("--instead TOKEN", o->patch.instead,
                      "Look at the ratio of its probability to that of this token of the vocabulary");
  const std::vector<std::string> parts = names_in(kPatchedParts);
  add_choice(*command, "--what PART", o->what, alternatives(parts) + " [default: " + o->what + "]", parts);
  add_result_options(*command, *o);
  add_columns(*command, o->columns, 40);
  add_last_options(*command, *o);
}

}  // namespace heed::cli
