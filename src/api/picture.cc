#include "heed/picture.h"

#include <cmath>

#include "api/findings_checks.h"
#include "base/check.h"
#include "inspect/attribution/attribution_table.h"
#include "inspect/draw/attention_picture.h"
#include "inspect/draw/bar_picture.h"
#include "inspect/draw/curve_picture.h"
#include "inspect/draw/matrix_picture.h"
#include "inspect/draw/picture_file.h"
#include "inspect/explorer/explorer_page.h"
#include "inspect/json/trace_json.h"
#include "inspect/lens/lens_table.h"
#include "inspect/patching/patching_table.h"
#include "inspect/terminal/attention_terminal.h"

namespace heed {
namespace {

void require_count(const char* what, int count) {
  if (count < 0) fail(ErrorKind::kUsage, "{} must be at least 1, or 0, not {}", what, count);
}

ChartOptions chart_options(const PlotOptions& o) {
  ChartOptions options;
  options.title = o.title;
  options.x_name = o.x_name;
  options.y_name = o.y_name;
  return options;
}

}  // namespace

void save_attention(const std::string& path, const Trace& trace, const AttentionPictureOptions& o) {
  require_count("AttentionPictureOptions: heads_per_row", o.heads_per_row);
  PictureOptions options;
  options.title = o.title;
  options.values = o.values;
  options.heads_per_row = o.heads_per_row;
  save_picture(attention_picture(trace, options), path);
}

std::string attention_text(const Trace& trace, int columns) {
  TerminalOptions options;
  options.columns = columns;
  return attention_terminal(trace, options);
}

std::string attention_page(const std::vector<Trace>& traces) {
  return explorer_page(traces);
}

std::string attention_json(const Trace& trace) {
  return trace_to_json(trace);
}

void save_lens(const std::string& path, const Lens& lens, const LensView& view) {
  const LensStack& stack = stack_named(checked(lens), view.stack);
  save_picture(lens_picture(lens, stack, lens_value_named(stack, view.show)), path);
}

void save_attribution(const std::string& path, const Attribution& attribution) {
  save_picture(attribution_picture(checked(attribution)), path);
}

void save_patching(const std::string& path, const Patching& patching) {
  save_picture(patching_picture(checked(patching)), path);
}

void save_heatmaps(const std::string& path, const std::vector<Heatmap>& matrices, const HeatmapOptions& o) {
  require_count("HeatmapOptions: per_row", o.per_row);
  constexpr int kMaxDecimals = 17;  // a double has no more
  if (o.decimals < -1 || o.decimals > kMaxDecimals) {
    fail(ErrorKind::kUsage, "HeatmapOptions: decimals must be from 0 to {}, or -1 for none, not {}",
         kMaxDecimals, o.decimals);
  }
  if (!std::isfinite(o.least) || !std::isfinite(o.most) || !(o.least < o.most)) {
    fail(ErrorKind::kUsage, "HeatmapOptions: least must be below most, not {} and {}", o.least, o.most);
  }
  std::vector<MatrixPlot> plots;
  for (const Heatmap& each : matrices) {
    if (!each.values.defined() || each.values.rank() != 2) {
      fail(ErrorKind::kShape, "'{}' has the shape {}; a matrix (rows, columns) can be drawn", each.title,
           each.values.defined() ? each.values.shape().to_string() : "of no tensor");
    }
    plots.push_back({each.title,
                     {static_cast<int>(each.values.dim(0)), static_cast<int>(each.values.dim(1)),
                      each.values.to_vector<float>()},
                     each.rows,
                     each.columns});
  }
  MatrixPictureOptions options;
  options.title = o.title;
  options.scale = o.scale;
  options.x_name = o.x_name;
  options.y_name = o.y_name;
  options.least = o.least;
  options.most = o.most;
  options.decimals = o.decimals;
  options.plots_per_row = o.per_row;
  save_picture(matrix_picture(plots, options), path);
}

void save_lines(const std::string& path, const std::vector<PlotLine>& lines, const PlotOptions& options) {
  std::vector<Curve> curves;
  for (const PlotLine& line : lines) curves.push_back({line.name, line.x, line.y});
  save_picture(curve_picture(curves, chart_options(options)), path);
}

void save_bars(const std::string& path, const std::vector<std::string>& names,
               const std::vector<double>& values, const PlotOptions& options) {
  std::vector<Label> labels;
  for (const std::string& name : names) labels.push_back({visible_text(name), 0, 0});
  save_picture(bar_picture(labels, values, chart_options(options)), path);
}

void save_histogram(const std::string& path, const std::vector<double>& values, const PlotOptions& options,
                    int bins) {
  save_picture(histogram_picture(values, bins, chart_options(options)), path);
}

}  // namespace heed
