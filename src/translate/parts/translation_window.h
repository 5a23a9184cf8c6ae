// Lines that are translated together, and the hypotheses of their parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/hypothesis.h"
#include "translate/parts/line_splitter.h"

namespace heed::translate {

/// Parts are numbered from 0 through all lines of the window.
struct TranslationWindow {
  std::vector<std::string> inputs;
  std::vector<SplitLine> lines;          ///< `inputs`, split
  std::vector<size_t> first_part;        ///< of each line, and the end
  std::vector<size_t> first_translated;  ///< part of each line; without one, the end of the line's parts
  std::vector<size_t> line_of_part;
  std::vector<double> bytes_of_part;                        ///< share of the line, proportional to its tokens
  std::vector<std::vector<search::Hypothesis>> hypotheses;  ///< of each part; empty for parts that are copied
  std::vector<std::vector<std::string>> warnings;           ///< of each part, about its best hypothesis
  uint64_t parts_before = 0;                                ///< parts of earlier windows
  uint64_t first_line = 0;                                  ///< number of the first line in the input

  /// Numbers the parts, once `lines` are split.
  void number_parts();

  const LinePart& part(size_t number) const {
    const size_t line = line_of_part[number];
    return lines[line].parts[number - first_part[line]];
  }
  /// Whether all parts of the line before this one are copied, and this one is translated.
  bool is_first_translated(size_t number) const;
};

}  // namespace heed::translate
