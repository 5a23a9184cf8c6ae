// Any matrices as a row or a grid of heat maps on one scale of colours: scores before the softmax, masks,
// position vectors. Attention with its tokens, layers and heads is attention_picture.h.
#pragma once

#include <string>
#include <vector>

#include "inspect/picture.h"
#include "inspect/trace.h"

namespace heed {

struct MatrixPanel {
  std::string title;
  AttentionMatrix matrix;                      ///< row = query; finite numbers, or minus infinity: masked
  std::vector<std::string> rows{}, columns{};  ///< names, as many as the matrix has, or none
};

struct MatrixPictureOptions {
  std::string title{};             ///< a heading; empty: none
  std::string scale = "value";     ///< what the colours show
  std::string x_name{}, y_name{};  ///< what columns and rows are; none where empty
  double least = 0, most = 1;      ///< the values of the first and the last colour
  int decimals = -1;               ///< of the numbers in the cells; -1: none are written
  int panels_per_row = 0;          ///< 0: all in one row
  double cell = 0;                 ///< side of a cell in points; 0: from the size of the matrices
  double font_size = 9;            ///< of names
  Colour background{1, 1, 1};
  std::string font = "Noto Sans, DejaVu Sans, sans-serif";
};

/// Masked cells are grey and hatched, and the legend says so. Throws kUsage where there is nothing to draw or
/// `least` is not below `most`, kShape for names that are not as many as rows or columns, kNumeric for
/// numbers that are NaN or infinite, but for minus infinity.
Picture matrix_picture(const std::vector<MatrixPanel>& panels, const MatrixPictureOptions& options = {});

}  // namespace heed
