// Writes the effects of activation patching as JSON.
//
// {"version": 1, "model", "source", "other", "target", "source_tokens", "other_tokens", "target_tokens",
//  "counterparts": [of each source token, the position of its counterpart in other_tokens, from 1, or null],
//  "tokens": [the target tokens that f is of, from 1], "instead": the alternative or null,
//  "what": "heads", "layers" or "positions",
//  "clean", "corrupted": f,
//  "effects": {"encoder", "decoder", "cross": [row][column]}, null for a position without a counterpart
//  "rows": {"encoder", "decoder", "cross": the names of rows}, "columns": likewise,
//  "evaluations"}
//
// Rows are layers; of positions, the first row is before them. Columns are heads, sub-layers or positions. A
// stack that the model does not have is an empty list.
#pragma once

#include <string>

#include "heed/patching.h"

namespace heed {

std::string patching_to_json(const Patching& patching);

}  // namespace heed
