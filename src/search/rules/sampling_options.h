// The rows of the options of sampling that translation and generation share.
#pragma once

#include "search/rules/option_row.h"

namespace heed::search {

/// When they have a meaning.
struct SamplingCondition {
  std::string_view needs = {};
  std::array<std::string_view, 2> excludes = {};
  bool of_last_model = false;
};

/// Calls visit(row, &Options::field, range) for each. `usual_top_p`: what holds if top_p is not given.
template <typename Options, typename Visit>
void visit_sampling_options(Visit& visit, const SamplingCondition& condition, std::string_view usual_top_p) {
  OptionRow row{.name = "temperature",
                .group = OptionGroup::kSampling,
                .value = "T",
                .help =
                    "Temperature of sampling: below 1 sharpens the distribution, above 1 flattens it; 0: "
                    "greedy search",
                .otherwise = "the model's, or 1",
                .needs = condition.needs,
                .excludes = condition.excludes,
                .of_last_model = condition.of_last_model};
  visit(row, &Options::temperature, models::kTemperatures);
  row.name = "top_k";
  row.value = "K";
  row.help = "Sample from the K most probable tokens; 0: all";
  row.otherwise = "the model's, or 0";
  visit(row, &Options::top_k, models::kTopK);
  row.name = "top_p";
  row.value = "P";
  row.help = "Sample from the most probable tokens whose probabilities sum to P (nucleus sampling); 1: all";
  row.otherwise = usual_top_p;
  visit(row, &Options::top_p, models::kTopP);
}

}  // namespace heed::search
