// heed attribute: how much each token that a model reads contributes to what it predicts.

#include <fmt/format.h>

#include <optional>
#include <string>

#include "base/check.h"
#include "cli/jobs/inspection.h"
#include "cli/options/checked_options.h"
#include "cli/options/terminal.h"
#include "inspect/attribution/attribution.h"
#include "inspect/attribution/attribution_table.h"
#include "inspect/json/attribution_json.h"

namespace heed::cli {
namespace {

struct AttributeCommandOptions : InspectionOptions {
  std::string method = "integrated";
  AttributionOptions attribution;
  std::optional<double> tolerance;
  std::optional<bool> colour;
};

std::string attribution_text(const AttributeCommandOptions& o, const Attribution& attribution) {
  std::string text;
  if (!o.common.quiet) text = source_and_target(attribution.source, attribution.target) + "\n";
  return text + attribution_table(attribution, o.table_columns(), stdout_colours(o.colour));
}

int run_attribute(const AttributeCommandOptions& o) {
  check_inspection(o, {o.attribution.target, o.attribution.instead});
  AttributionOptions options = o.attribution;
  options.method = attribution_method_named(o.method);
  if (o.tolerance && options.method != AttributionMethod::kIntegrated) {
    fail(ErrorKind::kUsage, "--tolerance is for --method integrated: leave it out");
  }
  options.tolerance = o.tolerance.value_or(options.tolerance);
  const ModelToInspect model = load_to_inspect(o);
  ThreadPool pool(o.common.threads);
  const InspectedModel view = model.view();
  const Reading reading = read_text(view, o.text, options.target);
  note_namesakes(o, options.token, reading);
  const Attribution attribution = attribute(view, reading, options, pool);
  write_inspection(o, {.json = [&] { return attribution_to_json(attribution); },
                       .text = [&] { return attribution_text(o, attribution); },
                       .picture = [&] { return attribution_picture(attribution); }});
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

The explained quantity is the natural logarithm of a token's probability, or of its ratio to that of
--instead. The values of integrated gradients sum to its difference from a baseline, in which one token takes
the place of all others: the mask token, the unknown token, or zeros. gradient is the product of gradient and embedding,
leave-out the loss without a token, rollout the mean attention through all layers. Values are of the source
tokens and of the target tokens before the explained one; in a language model, TEXT is the source.)");
  command->add_option("TEXT", o->text, "Text to translate, continue or classify, or with mask tokens")
      ->required();
  add_model_options(*command, o->model);
  command
      ->add_option("--target TEXT", o->attribution.target,
                   "Use this translation, continuation or label instead of the model's own")
      ->refuse_empty();
  command->add_option(
      "--token N|TOKEN|all", o->attribution.token,
      "The target token to explain: its position, counted from 1, or the token; TOKEN:2 is its "
      "second occurrence [default: all]");
  command->add_option("--instead TOKEN", o->attribution.instead,
                      "Explain why not this token: one of the vocabulary, as the tokens are shown");
  const std::vector<std::string> methods = names_in(kAttributionMethods);
  add_choice(*command, "--method NAME", o->method, alternatives(methods) + " [default: " + o->method + "]",
             methods);
  add_result_options(*command, *o);
  command->add_option("--baseline TOKEN", o->attribution.baseline,
                      "Where integrated gradients begin: zero, or a token of the vocabulary");
  add_number(*command, "--tolerance X", o->tolerance,
             fmt::format("Error of integrated gradients: intervals with a larger share of it are divided "
                         "[default: {}]",
                         AttributionOptions().tolerance),
             {1e-5, 1});
  add_columns(*command, o->columns, 40);
  command->add_switch("--color", o->colour,
                      "Colours [default: on a terminal, unless the environment variable NO_COLOR is set]");
  add_last_options(*command, *o);
}

}  // namespace heed::cli
