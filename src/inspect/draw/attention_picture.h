// Attention as a grid of heat maps: one matrix per head, one block per layer.
//
// Rows are queries, columns are keys, and each row sums to 1. The colour range is always 0 to 1, so pictures
// are comparable. Cell and font size depend on the number of tokens. Labels never overlap: long ones end in
// "…", and with cells smaller than the font, only every n-th token is labelled.
#pragma once

#include <string>

#include "inspect/draw/picture.h"
#include "inspect/trace/trace.h"

namespace heed {

struct PictureOptions {
  std::string title;            ///< a heading; empty: none
  bool sentences = true;        ///< source and target sentence above the maps
  double cell = 0;              ///< side of a cell in points; 0: from the number of tokens
  double font_size = 9;         ///< maximum font size of tokens; from 25 tokens on it decreases to 6
  double max_label_width = 90;  ///< in points; a longer token ends in "…"
  int heads_per_row = 0;        ///< 0: chosen for a good aspect ratio
  bool values = false;          ///< show weights in the cells as percentages, with larger cells
  double darkest = 1;  ///< the weight with the darkest colour; lower it to make small weights visible
  Colour background{1, 1, 1};
  std::string font = "Noto Sans, DejaVu Sans, sans-serif";
};

/// Throws like check_trace, and kUsage if there are too many cells for a picture.
Picture attention_picture(const Trace& trace, const PictureOptions& options = {});

}  // namespace heed
