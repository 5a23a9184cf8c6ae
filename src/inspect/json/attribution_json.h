// Writes attributions as JSON.
//
// {"version": 1, "model", "source", "target", "source_tokens", "target_tokens", "method", "baseline",
//  "tokens": [n], which target tokens are explained, counted from 1
//  "instead": [the alternative or null],
//  "log_probability": [f(x)], null for rollout
//  "attributions": [n][source tokens, then earlier target tokens],
//  "sum": [n], "difference": [n] what the sum should be, null unless the method is "integrated"
//  "evaluations": [n]}
#pragma once

#include <string>

#include "heed/attribution.h"

namespace heed {

std::string attribution_to_json(const Attribution& attribution);

}  // namespace heed
