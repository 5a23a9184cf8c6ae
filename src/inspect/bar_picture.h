// Bars: the weights of one query over its keys, and how often values occur.
#pragma once

#include <string>
#include <vector>

#include "inspect/chart.h"
#include "inspect/label.h"
#include "inspect/trace.h"

namespace heed {

/// One bar per label, with its value above where there is room. The axis runs from 0 to the largest value, or
/// to `most` where that is larger. The picture gets wider where the labels need it. Throws kShape where
/// labels and values differ in number, kUsage where there are none, kNumeric for values that are negative or
/// not finite.
Picture bar_picture(const std::vector<Label>& labels, const std::vector<double>& values,
                    const ChartOptions& options = {}, double most = 0);

/// Which row of which matrix; all count from 0.
struct QueryChoice {
  Stack stack = Stack::kEncoder;
  int layer = 0, head = 0, query = 0;
};

/// The weights of one query, one for each key. Throws as check_trace, and kUsage where there is no such
/// query.
std::vector<float> query_weights(const Trace& trace, const QueryChoice& choice);

/// The weights of one query as bars over the keys, on an axis from 0 to 1. Throws kUsage where there is no
/// such query.
Picture query_picture(const Trace& trace, const QueryChoice& choice, ChartOptions options = {});

/// How many values fall into each of `bins` equally wide ranges; 0: as many as Freedman and Diaconis' rule
/// says ("On the histogram as a density estimator", 1981), at most 100. Throws kUsage for no values, kNumeric
/// for values that are not finite.
Picture histogram_picture(const std::vector<double>& values, int bins, const ChartOptions& options = {});

}  // namespace heed
