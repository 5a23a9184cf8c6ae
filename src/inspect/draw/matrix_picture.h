// Arbitrary matrices as heat maps with a common colour scale: raw scores, masks, position vectors. See
// attention_picture.h for attention.
#pragma once

#include <string>
#include <vector>

#include "inspect/draw/picture.h"
#include "inspect/trace/trace.h"

namespace heed {

struct MatrixPlot {
  std::string title;
  AttentionMatrix matrix;                      ///< row = query; finite numbers, or minus infinity: masked
  std::vector<std::string> rows{}, columns{};  ///< row and column names, or empty
};

struct MatrixPictureOptions {
  std::string title{};                           ///< a heading; empty: none
  std::string scale = "value";                   ///< name of the colour scale
  std::string x_name{}, y_name{};                ///< axis names; empty: none
  double least = 0, most = 1;                    ///< the values of the first and the last colour
  int decimals = -1;                             ///< decimals of the numbers in the cells; -1: no numbers
  std::string masked = "masked (\u2212\u221E)";  ///< what masked cells are, in the legend
  std::string masked_number = "\u2212\u221E";    ///< the text in masked cells that have numbers
  int plots_per_row = 0;                         ///< 0: all in one row
  double cell = 0;       ///< side of a cell in points; 0: from the size of the matrices
  double font_size = 9;  ///< of names
  Colour background{1, 1, 1};
  std::string font = "Noto Sans, DejaVu Sans, sans-serif";
};

/// Sets the ends of the colour scale to round numbers that include both of these.
void set_colour_range(MatrixPictureOptions& options, double least, double most);

/// Masked cells (minus infinity) are grey and hatched, with a legend. Throws kUsage without matrices or
/// unless `least` is below `most`, kShape if the number of names does not match, kNumeric for NaN or plus
/// infinity.
Picture matrix_picture(const std::vector<MatrixPlot>& plots, const MatrixPictureOptions& options = {});

}  // namespace heed
