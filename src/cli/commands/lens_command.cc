// heed lens: the way of each token through the layers of a model, in the terminal, as a picture or as JSON.

#include <string>
#include <vector>

#include "base/check.h"
#include "cli/jobs/inspection.h"
#include "cli/options/checked_options.h"
#include "cli/options/input_notes.h"
#include "inspect/json/lens_json.h"
#include "inspect/lens/lens.h"
#include "inspect/lens/lens_table.h"

namespace heed::cli {
namespace {

struct LensCommandOptions : InspectionOptions {
  std::string query;
  LensOptions lens;
  LensView view;
  bool details = false;
};

void check_lens_options(const LensCommandOptions& o) {
  check_inspection(o, {o.lens.target});
  if (o.details && !o.writes_json())
    fail(ErrorKind::kUsage, "--details needs JSON output: give --json or --output F.json");
}

std::string lens_text(const LensCommandOptions& o, const Lens& lens) {
  const LensStack& stack = stack_named(lens, o.view.stack);
  std::string text;
  if (!o.common.quiet) {
    text = source_and_target(lens.source, lens.target);
    text += fmt::format("\n{}, ", &stack == &lens.encoder ? "encoder" : "decoder");
  }
  if (!o.query.empty())
    return text + lens_token_table(lens, stack, find_token(o.query, stack.tokens, o.common.quiet));
  const LensValue value = lens_value_named(stack, o.view.show);
  if (!o.common.quiet) {
    text += value == LensValue::kPredictions ? "the likeliest token after each sub-layer:\n\n"
            : value == LensValue::kNorms     ? "the norm of each token's vector:\n\n"
                                             : "the norm of what each sub-layer adds:\n\n";
  }
  return text + lens_table(lens, stack, value, o.table_columns());
}

int run_lens(const LensCommandOptions& o) {
  check_lens_options(o);
  const ModelToInspect model = load_to_inspect(o);
  ThreadPool pool(o.common.threads);
  const InspectedModel view = model.view();
  const Lens lens = look_through(view, read_text(view, o.text, o.lens.target), o.lens.top, pool);
  const auto picture = [&] {
    const LensStack& stack = stack_named(lens, o.view.stack);
    return lens_picture(lens, stack, lens_value_named(stack, o.view.show));
  };
  write_inspection(o, {.json = [&] { return lens_to_json(lens, {.details = o.details}); },
                       .text = [&] { return lens_text(o, lens); },
                       .picture = picture});
  return kExitDone;
}

}  // namespace

void add_lens(Command& app, Work& work) {
  auto [command, o] =
      add_command(app, work, "lens", "Show the way of each token through the layers of a model", run_lens);
  command->footer(R"(Examples:
  heed lens "Der Hund schläft."
  heed lens "Der Hund schläft." --query 2
  heed lens "Der Hund schläft." --stack encoder --show norms
  heed lens "The capital of France is" --model my-language-model --output lens.svg

Each layer reads one vector of each token, the residual stream, and adds to it. The table shows what the
output layer would predict from the vectors after each sub-layer (logit lens), or their norms. Rows are
states, columns the tokens that the stack reads. A translation is the model's own, or --target; of a
language model, --target is what follows the text. An encoder predicts tokens only in a masked language
model; in other models it has norms. In a recurrent network, the output layer reads the last state only.)");
  command->add_option("TEXT", o->text, "Text to translate, continue, classify or embed")->required();
  add_model_options(*command, o->model);
  command
      ->add_option(
          "--target TEXT", o->lens.target,
          "Use this translation instead of the model's own; of a language model, what follows the text")
      ->refuse_empty();
  add_choice(*command, "--stack NAME", o->view.stack,
             "encoder or decoder [default: the one that predicts tokens]", {"encoder", "decoder"});
  add_choice(*command, "--show WHAT", o->view.show,
             "predictions, norms, or added: the norms of what each sub-layer adds [default: predictions]",
             names_in(kLensValues));
  command->add_option("--query N|TOKEN", o->query,
                      "Show one token in detail: its position, counted from 1, or the token; TOKEN:2 is its "
                      "second occurrence");
  add_integer(*command, "--top K", o->lens.top,
              "Predictions for each token and state in JSON and --query; 0: none", {0, 1000});
  add_result_options(*command, *o);
  command->add_switch("--details", o->details, "Include the vectors after each layer (JSON only)");
  command->exclude("--query", {"--output", "--json", "--show"});  // which show all tokens
  add_columns(*command, o->columns, 40);
  add_last_options(*command, *o);
}

}  // namespace heed::cli
