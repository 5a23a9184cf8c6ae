// heed lens: the way of each token through the layers of a model, in the terminal, as a picture or as JSON.

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "base/check.h"
#include "base/text/printable.h"
#include "cli/files/model_lookup.h"
#include "cli/jobs/resumable/line_output.h"
#include "cli/options/checked_options.h"
#include "cli/options/command.h"
#include "cli/options/query_token.h"
#include "cli/options/terminal.h"
#include "inspect/draw/picture_file.h"
#include "inspect/lens/lens.h"
#include "inspect/lens/lens_json.h"
#include "inspect/lens/lens_table.h"
#include "inspect/reading/model_to_inspect.h"
#include "inspect/trace/label.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed::cli {
namespace {

struct LensCommandOptions {
  CommonOptions common;
  ModelChoice model;
  std::string text, stack, value = "predictions", query, output;
  LensOptions lens;
  bool json = false, details = false;
  std::optional<int> columns;
};

bool writes_json(const LensCommandOptions& o) {
  return o.json || o.output.ends_with(".json");
}

void check_lens_options(const LensCommandOptions& o) {
  for (const std::string* text : {&o.text, &o.lens.target}) {
    if (find_invalid_utf8(*text)) fail(ErrorKind::kText, "the text is not UTF-8: convert it first");
  }
  if (strip(o.text).empty()) fail(ErrorKind::kUsage, "the text is empty: give a text");
  if (o.json && !o.output.empty())
    fail(ErrorKind::kUsage, "--json writes to standard output: leave it out, and give --output F.json");
  if (o.details && !writes_json(o))
    fail(ErrorKind::kUsage, "--details needs JSON output: give --json or --output F.json");
  if (!o.output.empty() && !writes_json(o)) picture_format(o.output);  // reports a wrong name before the work
  lens_value_named(o.value);
}

/// The chosen stack; by default the one that predicts tokens.
const LensStack& stack_of(const LensCommandOptions& o, const Lens& lens) {
  if (o.stack.empty()) return predicting_stack(lens);
  const LensStack& stack = o.stack == "encoder" ? lens.encoder : lens.decoder;
  if (stack.tokens.empty()) {
    fail(ErrorKind::kUsage, "this model has no {}: leave out --stack", o.stack);
  }
  return stack;
}

/// Norms where a stack predicts no tokens.
LensValue value_of(const LensCommandOptions& o, const LensStack& stack) {
  const bool predicts = !stack.states.back().predictions.empty();
  return o.value == "predictions" && !predicts ? LensValue::kNorms : lens_value_named(o.value);
}

std::string lens_text(const LensCommandOptions& o, const Lens& lens) {
  const LensStack& stack = stack_of(o, lens);
  std::string text;
  if (!o.common.quiet) {
    text = fmt::format("source: {}\n", visible_text(lens.source));
    if (!lens.target.empty()) text += fmt::format("target: {}\n", visible_text(lens.target));
    text += fmt::format("\n{}, ", &stack == &lens.encoder ? "encoder" : "decoder");
  }
  if (!o.query.empty())
    return text + lens_token_table(lens, stack, find_query(o.query, stack.tokens, o.common.quiet));
  const LensValue value = value_of(o, stack);
  if (!o.common.quiet) {
    text += value == LensValue::kPredictions ? "the likeliest token after each sub-layer:\n\n"
            : value == LensValue::kNorms     ? "the norm of each token's vector:\n\n"
                                             : "the norm of what each sub-layer adds:\n\n";
  }
  const int columns = o.columns ? *o.columns : std::max(40, terminal_columns());
  return text + lens_table(lens, stack, value, columns);
}

int run_lens(const LensCommandOptions& o) {
  check_lens_options(o);
  const ModelToInspect model(load_model(find_model(o.model), o.model.precision),
                             {o.model.source_language, o.model.target_language});
  ThreadPool pool(o.common.threads);
  const InspectedModel view = model.view();
  const Lens lens = look_through(view, read_text(view, o.text, o.lens.target), o.lens.top, pool);
  LineOutput output(o.output);
  if (writes_json(o)) {
    output.write(lens_to_json(lens, o.details));
  } else if (o.output.empty() || o.output == "-") {
    output.write(lens_text(o, lens));
  } else {
    const LensStack& stack = stack_of(o, lens);
    output.write(render_picture(lens_picture(lens, stack, value_of(o, stack)), picture_format(o.output)));
  }
  output.commit();
  if (!o.common.quiet && !output.to_stdout()) std::fprintf(stderr, "wrote %s\n", o.output.c_str());
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
  command->add_option(
      "--target TEXT", o->lens.target,
      "Use this translation instead of the model's own; of a language model, what follows the text");
  add_choice(*command, "--stack NAME", o->stack, "encoder or decoder [default: the one that predicts tokens]",
             {"encoder", "decoder"});
  add_choice(*command, "--show WHAT", o->value,
             "predictions, norms, or added: the norms of what each sub-layer adds",
             {"predictions", "norms", "added"});
  command->add_option("--query N|TOKEN", o->query,
                      "Show one token in detail: its position, counted from 1, or the token; TOKEN:2 is its "
                      "second occurrence");
  add_integer(*command, "--top K", o->lens.top,
              "Predictions for each token and state in JSON and --query; 0: none", {0, 1000});
  command->add_option("--output F", o->output, "Write to this file: .png, .svg, .pdf or .json");
  command->add_switch("--json", o->json, "Write JSON to standard output");
  command->group(kOutputOptions);
  command->add_switch("--details", o->details, "Include the vectors after each layer (JSON only)");
  add_integer(*command, "--columns", o->columns, "Terminal width [default: $COLUMNS, or the terminal's]",
              {40, 10000});
  add_language_options(*command, o->model);
  add_precision_option(*command, o->model.precision);
  add_common_options(*command, o->common);
}

}  // namespace heed::cli
