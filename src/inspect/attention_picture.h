// Attention as a grid of heat maps: one matrix for each head, block by block for each layer.
//
// Queries are the rows, keys the columns, and each row sums to 1. The colours run from 0 to 1 in every
// picture, so that any two can be compared. Cells and letters are sized from the number of tokens; labels
// never touch, over-long ones end in "…", and where cells get smaller than letters only every n-th token is
// named.
#pragma once

#include <string>

#include "inspect/picture.h"
#include "inspect/trace.h"

namespace heed {

struct PictureOptions {
  std::string title;          ///< a heading; empty: none
  bool sentences = true;      ///< source and target sentence above the maps
  double cell = 0;            ///< side of a cell in points; 0: from the number of tokens
  double font_size = 9;       ///< the largest size for tokens; from 25 tokens up they get smaller, to 6
  double longest_label = 90;  ///< in points; a longer token ends in "…"
  int heads_per_row = 0;      ///< 0: what gives a page a good shape
  bool values = false;        ///< the weights in the cells, in per cent; cells grow to hold them
  double darkest = 1;  ///< the weight from which a cell is darkest; lower it to see faint attention better
  Colour background{1, 1, 1};
  std::string font = "Noto Sans, DejaVu Sans, sans-serif";
};

/// Throws as check_trace does, and kUsage for more cells than a picture can hold.
Picture attention_picture(const Trace& trace, const PictureOptions& options = {});

}  // namespace heed
