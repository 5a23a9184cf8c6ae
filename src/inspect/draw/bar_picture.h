// Bar charts of the weights of one query, and histograms.
#pragma once

#include <vector>

#include "inspect/draw/elements/chart.h"
#include "inspect/trace/label.h"
#include "inspect/trace/trace.h"

namespace heed {

/// One bar per label, with its value above if it fits. The axis ranges from 0 to the largest value or `most`,
/// whichever is larger. The picture is widened for long labels. Throws kShape if the numbers of labels and
/// values differ, kUsage if there are none, kNumeric for negative or non-finite values.
Picture bar_picture(const std::vector<Label>& labels, const std::vector<double>& values,
                    const ChartOptions& options = {}, double most = 0);

/// A row of an attention matrix; all indices count from 0.
struct QueryChoice {
  Stack stack = Stack::kEncoder;
  int layer = 0, head = 0, query = 0;
};

/// The weights of one query. Throws like check_trace, and kUsage if the query does not exist.
std::vector<float> query_weights(const Trace& trace, const QueryChoice& choice);

/// The weights of one query as bars over the keys, on an axis from 0 to 1. Throws kUsage if the query does
/// not exist.
Picture query_picture(const Trace& trace, const QueryChoice& choice, ChartOptions options = {});

/// A histogram with `bins` bins; 0: by Freedman and Diaconis' rule ("On the histogram as a density
/// estimator", 1981), at most 100. Throws kUsage without values, kNumeric for non-finite values.
Picture histogram_picture(const std::vector<double>& values, int bins, const ChartOptions& options = {});

}  // namespace heed
