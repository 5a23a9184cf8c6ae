// Pictures of attention and of numbers beside it, as files: PNG, SVG or PDF, by the name's ending. Files are
// written whole or not at all. All functions throw heed::Error for numbers that cannot be drawn and files
// that cannot be written.
#pragma once

#include <string>
#include <vector>

#include "heed/tensor.h"
#include "heed/trace.h"

namespace heed {

struct AttentionPictureOptions {
  std::string title{};    ///< a heading; none where empty
  bool values = false;    ///< the weights in the cells, in per cent
  int heads_per_row = 0;  ///< 0: what gives a page a good shape
};

/// Every head of a trace as a heat map, tokens on both axes, on one scale from 0 to 1.
void save_attention(const std::string& path, const Trace& trace, const AttentionPictureOptions& options = {});

/// The same in a terminal, without colours, in lines of at most so many columns.
std::string attention_text(const Trace& trace, int columns = 80);

/// A matrix to be drawn.
struct Heatmap {
  std::string title;
  Tensor values;  ///< (rows, columns), of any type; minus infinity is drawn as masked, grey and hatched
  std::vector<std::string> rows{}, columns{};  ///< their names; none where empty
};

struct HeatmapOptions {
  std::string title{};             ///< a heading; none where empty
  std::string scale = "value";     ///< what the colours show
  std::string x_name{}, y_name{};  ///< what columns and rows are; none where empty
  double least = 0, most = 1;      ///< the values of the first and the last colour
  int decimals = -1;               ///< of the numbers in the cells; -1: none are written
  int per_row = 0;                 ///< matrices in a row; 0: all
};

/// Matrices side by side on one scale of colours.
void save_heatmaps(const std::string& path, const std::vector<Heatmap>& matrices,
                   const HeatmapOptions& options = {});

struct PlotOptions {
  std::string title{}, x_name{}, y_name{};  ///< a heading, and what the axes show; none where empty
};

/// Points that are joined by a line.
struct PlotLine {
  std::string name;
  std::vector<double> x, y;
};

void save_lines(const std::string& path, const std::vector<PlotLine>& lines, const PlotOptions& options = {});
/// One bar per name.
void save_bars(const std::string& path, const std::vector<std::string>& names,
               const std::vector<double>& values, const PlotOptions& options = {});
/// How often values fall into each of `bins` equally wide ranges; 0: as many as suit their number.
void save_histogram(const std::string& path, const std::vector<double>& values,
                    const PlotOptions& options = {}, int bins = 0);

}  // namespace heed
