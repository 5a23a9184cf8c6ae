// heed info: size and parameters of a model, its training curves, and facts about this build and machine.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/thread_pool.h"
#include "cli/files/model_lookup.h"
#include "cli/files/model_summary.h"
#include "cli/files/verify_weights.h"
#include "cli/jobs/resumable/line_output.h"
#include "cli/jobs/training_curves.h"
#include "cli/options/command.h"
#include "cli/options/terminal.h"
#include "heed/version.h"
#include "inspect/draw/curve_picture.h"
#include "inspect/draw/picture_file.h"
#include "inspect/terminal/curve_terminal.h"
#include "kernels/gemm/gemm.h"
#include "kernels/simd/isa.h"

namespace heed::cli {
namespace {

struct InfoOptions {
  ModelChoice model;
  std::string directory, curve;
  bool verify = false, json = false;
};

ChartOptions chart_of(const CurvePlot& plot) {
  ChartOptions chart;
  chart.title = plot.title;
  chart.x_name = "step";
  chart.y_name = plot.y_name;
  return chart;
}

/// All plots in one picture, from top to bottom.
void draw_curves(const std::vector<CurvePlot>& plots, const std::string& path) {
  Picture picture = curve_picture(plots[0].curves, chart_of(plots[0]));
  for (size_t n = 1; n < plots.size(); ++n) {
    picture.add_below(curve_picture(plots[n].curves, chart_of(plots[n])));
  }
  picture.title = "Training";
  save_picture(picture, path);
}

nlohmann::ordered_json system_json() {
  return {{"version", HEED_VERSION},
          {"instruction_set", isa_name()},
          {"instruction_sets", available_isas()},
          {"matrix_products", gemm_library()},
          {"processors", available_processors()}};
}

std::string system_text() {
  return fmt::format("{:<14}{}\n{:<14}{} (of {})\n{:<14}{}\n{:<14}{}\n", "heed", HEED_VERSION, "instructions",
                     isa_name(), fmt::join(available_isas(), ", "), "products", gemm_library(), "processors",
                     available_processors());
}

/// Returns what keeps the model from being opened; empty if it can be.
std::string describe_model(const InfoOptions& o, const ModelInventory& files, LineOutput& output) {
  const ModelSummary summary = summarize_model(files);
  const std::vector<CurvePlot> plots = training_curves(files.directory());
  if (!o.curve.empty()) {
    if (plots.empty()) {
      fail(ErrorKind::kNotFound,
           "'{}' contains neither training/metrics.jsonl nor training-log.jsonl: leave out --curve",
           files.directory());
    }
    draw_curves(plots, o.curve);
  }
  if (o.json) {
    nlohmann::ordered_json json = to_json(summary);
    json["system"] = system_json();
    output.write_line(json.dump());
    return summary.problem;
  }
  output.write(to_text(summary));
  for (const CurvePlot& plot : plots) {
    CurveTerminalOptions terminal;
    terminal.columns = std::max(30, terminal_columns());
    terminal.colours = stdout_colours();
    terminal.title = plot.title;
    terminal.x_name = "step";
    output.write("\n" + curve_terminal(plot.curves, terminal));
  }
  output.write("\n" + system_text());
  return summary.problem;
}

void describe_bundle(bool as_json, LineOutput& output) {
  const std::vector<BundledModel> bundled = bundled_models();
  if (as_json) {
    nlohmann::ordered_json json{{"models", nlohmann::ordered_json::array()}};
    for (const BundledModel& model : bundled)
      json["models"].push_back(to_json(summarize_model(ModelInventory(model.directory))));
    json["system"] = system_json();
    output.write_line(json.dump());
    return;
  }
  for (const BundledModel& model : bundled)
    output.write(to_text(summarize_model(ModelInventory(model.directory))) + "\n");
  if (bundled.empty()) output.write("No bundled models.\n\n");
  output.write(system_text());
}

int verify_model(const InfoOptions& o, const ModelInventory& model) {
  LineOutput output("-");
  const std::vector<VerifiedFile> files = verify_weights(model);
  const bool damaged = any_damaged(files);
  if (o.json) {
    output.write_line(
        nlohmann::ordered_json{{"model", model.directory()}, {"damaged", damaged}, {"files", to_json(files)}}
            .dump());
  } else {
    output.write(to_text(files));
  }
  output.commit();
  return damaged ? kExitFailed : kExitDone;
}

int run_info(const InfoOptions& o) {
  if (!o.directory.empty() && !o.model.model.empty()) {
    fail(ErrorKind::kUsage, "DIR and --model exclude each other: give one of them");
  }
  if (!o.curve.empty()) picture_format(o.curve);  // rejects an unknown extension before any work
  if (o.verify) {
    return verify_model(o,
                        o.directory.empty() ? find_model(o.model) : model_directory_at(o.directory, "DIR"));
  }
  LineOutput output("-");
  std::string problem;
  if (!o.directory.empty()) {
    problem = describe_model(o, model_directory_at(o.directory, "DIR"), output);
  } else if (o.model.model.empty() && o.model.pair.empty() && default_model().empty() && o.curve.empty()) {
    describe_bundle(o.json, output);
  } else {
    problem = describe_model(o, find_model(o.model), output);
  }
  output.commit();
  if (!problem.empty()) fail(ErrorKind::kFormat, "this model cannot be opened: {}", problem);
  return kExitDone;
}

}  // namespace

void add_info(Command& app, Work& work) {
  auto [command, o] =
      add_command(app, work, "info", "Show size, parameters and training curves of a model", run_info);
  command->footer(R"(Example:
  heed info my-model --curve loss.svg
Without DIR, --model, --pair and $HEED_MODEL, describes all bundled models; --curve and --verify are then of
the one for de-en. Also shows the instruction set and the libraries in use. A directory that cannot be
opened as a model is described too, with the reason; the exit status is then 1.)");
  command->add_option("DIR", o->directory, "Model directory");
  add_model_options(*command, o->model);
  command->add_option(
      "--curve F", o->curve,
      "Draw training loss, validation scores and learning rate to a file: .svg, .png or .pdf");
  command->add_switch("--verify", o->verify,
                      "Verify all weight files against their stored hashes; exit status 1 if one is damaged");
  command->add_switch("--json", o->json, "One JSON object instead of text");
}

}  // namespace heed::cli
