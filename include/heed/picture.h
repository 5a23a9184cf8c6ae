// Pictures of attention, of heed/inspector.h and of other data as PNG, SVG or PDF; the file name extension
// selects the format. Files are written atomically. Attention also as a page for a browser, as text and as
// JSON. All functions throw heed::Error for values that cannot be drawn and files that cannot be written.
#pragma once

#include <string>
#include <vector>

#include "heed/attribution.h"
#include "heed/lens.h"
#include "heed/patching.h"
#include "heed/tensor.h"
#include "heed/trace.h"

namespace heed {

struct AttentionPictureOptions {
  std::string title{};    ///< heading; empty: none
  bool values = false;    ///< write the weights into the cells as percentages
  int heads_per_row = 0;  ///< 0: automatic
};

/// Draws every head of a trace as a heat map with tokens on both axes and a common scale from 0 to 1.
void save_attention(const std::string& path, const Trace& trace, const AttentionPictureOptions& options = {});

/// The same as text without colours, with at most `columns` characters per line.
std::string attention_text(const Trace& trace, int columns = 80);

/// The explorer (docs/explorer.md) with these traces in it, as one HTML file that works without a server and
/// loads nothing.
std::string attention_page(const std::vector<Trace>& traces);

/// The trace as JSON, as of `heed attend --json`.
std::string attention_json(const Trace& trace);

// Heat maps, as of `heed lens`, `heed attribute` and `heed patch`.

void save_lens(const std::string& path, const Lens& lens, const LensView& view = {});
/// A row for each explained token.
void save_attribution(const std::string& path, const Attribution& attribution);
/// A map for each stack.
void save_patching(const std::string& path, const Patching& patching);

/// A matrix to draw.
struct Heatmap {
  std::string title;
  Tensor values;  ///< (rows, columns), of any type; minus infinity is drawn as masked: grey and hatched
  std::vector<std::string> rows{}, columns{};  ///< names; empty: none
};

struct HeatmapOptions {
  std::string title{};             ///< heading; empty: none
  std::string scale = "value";     ///< name of the colour scale
  std::string x_name{}, y_name{};  ///< axis names; empty: none
  double least = 0, most = 1;      ///< range of the colour scale
  int decimals = -1;               ///< decimals of the numbers in the cells; -1: no numbers
  int per_row = 0;                 ///< matrices per row; 0: all
};

/// Draws matrices side by side with a common colour scale.
void save_heatmaps(const std::string& path, const std::vector<Heatmap>& matrices,
                   const HeatmapOptions& options = {});

struct PlotOptions {
  std::string title{}, x_name{}, y_name{};  ///< heading and axis names; empty: none
};

/// Points connected by a line.
struct PlotLine {
  std::string name;
  std::vector<double> x, y;
};

void save_lines(const std::string& path, const std::vector<PlotLine>& lines, const PlotOptions& options = {});
/// One bar per name.
void save_bars(const std::string& path, const std::vector<std::string>& names,
               const std::vector<double>& values, const PlotOptions& options = {});
/// Draws a histogram with `bins` bins of equal width; 0: depending on the number of values.
void save_histogram(const std::string& path, const std::vector<double>& values,
                    const PlotOptions& options = {}, int bins = 0);

}  // namespace heed
