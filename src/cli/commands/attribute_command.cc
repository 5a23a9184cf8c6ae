// heed attribute: how much each token that a model reads contributes to what it predicts.

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>

#include "base/check.h"
#include "cli/files/model_lookup.h"
#include "cli/jobs/resumable/line_output.h"
#include "cli/options/checked_options.h"
#include "cli/options/command.h"
#include "cli/options/query_token.h"
#include "cli/options/terminal.h"
#include "inspect/attribution/attribution.h"
#include "inspect/attribution/attribution_json.h"
#include "inspect/attribution/attribution_table.h"
#include "inspect/draw/picture_file.h"
#include "inspect/reading/model_to_inspect.h"
#include "inspect/trace/label.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed::cli {
namespace {

struct AttributeCommandOptions {
  CommonOptions common;
  ModelChoice model;
  std::string text, token = "all", method = "integrated", output;
  AttributionOptions attribution;
  bool json = false;
  std::optional<int> columns;
  std::optional<bool> colour;
};

bool attribution_is_json(const AttributeCommandOptions& o) {
  return o.json || o.output.ends_with(".json");
}

void check_attribute_options(const AttributeCommandOptions& o) {
  for (const std::string* text : {&o.text, &o.attribution.target, &o.attribution.instead}) {
    if (find_invalid_utf8(*text)) fail(ErrorKind::kText, "the text is not UTF-8: convert it first");
  }
  if (strip(o.text).empty()) fail(ErrorKind::kUsage, "the text is empty: give a text");
  if (o.json && !o.output.empty())
    fail(ErrorKind::kUsage, "--json writes to standard output: leave it out, and give --output F.json");
  if (!o.output.empty() && !attribution_is_json(o)) picture_format(o.output);  // reports a wrong name early
}

std::string attribution_text(const AttributeCommandOptions& o, const Attribution& attribution) {
  std::string text;
  if (!o.common.quiet) {
    text = fmt::format("source: {}\n", visible_text(attribution.source));
    if (!attribution.target.empty()) text += fmt::format("target: {}\n", visible_text(attribution.target));
    text += "\n";
  }
  const int columns = o.columns ? *o.columns : std::max(40, terminal_columns());
  return text + attribution_table(attribution, columns, stdout_colours(o.colour));
}

int run_attribute(const AttributeCommandOptions& o) {
  check_attribute_options(o);
  AttributionOptions options = o.attribution;
  options.method = attribution_method_named(o.method);
  const ModelToInspect model(load_model(find_model(o.model), o.model.precision),
                             {o.model.source_language, o.model.target_language});
  ThreadPool pool(o.common.threads);
  const InspectedModel view = model.view();
  const Reading reading = read_text(view, o.text, options.target);
  if (o.token != "all" && !reading.target_tokens.empty()) {
    options.token = static_cast<int>(find_query(o.token, reading.target_tokens, o.common.quiet)) + 1;
  }
  const Attribution attribution = attribute(view, reading, options, pool);
  LineOutput output(o.output);
  if (attribution_is_json(o)) {
    output.write(attribution_to_json(attribution));
  } else if (o.output.empty() || o.output == "-") {
    output.write(attribution_text(o, attribution));
  } else {
    output.write(render_picture(attribution_picture(attribution), picture_format(o.output)));
  }
  output.commit();
  if (!o.common.quiet && !output.to_stdout()) std::fprintf(stderr, "wrote %s\n", o.output.c_str());
  return kExitDone;
}

}  // namespace

void add_attribute(Command& app, Work& work) {
  auto [command, o] = add_command(
      app, work, "attribute", "Show how much each token contributes to what a model predicts", run_attribute);
  command->footer(R"(Examples:
  heed attribute "Der alte Mann sitzt auf der Bank."
  heed attribute "Der alte Mann sitzt auf der Bank." --token bench --instead ▁bank
  heed attribute "the [MASK] is a good movie ." --model my-masked-model --method leave-out
  heed attribute "The capital of France is" --target " Paris" --model my-language-model --json

Explained is the natural logarithm of a token's probability, or of its ratio to that of --instead. The values
of integrated gradients sum to how much it differs from that of a baseline, in which one token takes the place
of all others: the mask token, the unknown token, or zeros. gradient is the product of gradient and embedding,
leave-out the loss without a token, rollout the mean attention through all layers. Values are of the source
tokens and of the target tokens before the explained one; in a language model, TEXT is the source.)");
  command->add_option("TEXT", o->text, "Text to translate, continue or classify, or with mask tokens")
      ->required();
  add_model_options(*command, o->model);
  command->add_option("--target TEXT", o->attribution.target,
                      "Use this translation, continuation or label instead of the model's own");
  command->add_option(
      "--token N|TOKEN|all", o->token,
      "The target token to explain: its position, counted from 1, or the token; TOKEN:2 is its "
      "second occurrence [all]");
  command->add_option("--instead TOKEN", o->attribution.instead,
                      "Explain why not this token: one of the vocabulary, as the tokens are shown");
  add_choice(*command, "--method NAME", o->method, "integrated, gradient, rollout or leave-out",
             {"integrated", "gradient", "rollout", "leave-out"});
  command->add_option("--output F", o->output, "Write to this file: .png, .svg, .pdf or .json");
  command->add_switch("--json", o->json, "Write JSON to standard output");
  command->group(kOutputOptions);
  command->add_option("--baseline TOKEN", o->attribution.baseline,
                      "Where integrated gradients begin: zero, or a token of the vocabulary");
  add_number(*command, "--tolerance X", o->attribution.tolerance,
             "Share by which the sum of integrated gradients may differ", {1e-5, 1});
  add_integer(*command, "--columns", o->columns, "Terminal width [default: $COLUMNS, or the terminal's]",
              {40, 10000});
  command->add_switch("--color", o->colour,
                      "Colours [default: on a terminal, unless the environment variable NO_COLOR is set]");
  add_language_options(*command, o->model);
  add_precision_option(*command, o->model.precision);
  add_common_options(*command, o->common);
}

}  // namespace heed::cli
