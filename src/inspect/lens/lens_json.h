// Writes a lens as JSON.
//
// {"version": 1, "model", "source", "target",
//  "tokens": {"encoder": [...], "decoder": [...]}, what each stack reads
//  "expected_tokens": [position],
//  "predictions": [step][position][{"token", "probability"}, ...], of the stack that predicts tokens
//  "states": {"encoder": [{"layer", "part", "norms": [position], "added_norms": [position],
//                          "expected": [position], "predictions": as above}, ...], "decoder"}
//  "hidden": {"encoder": [step][position][width], "decoder"}}, with details
//
// Step 0 is after embedding and positions; the others are after each layer, the last one after the stack's
// final norm (LensStack::steps). A stack that the model does not have is an empty list. "hidden" of a
// recurrent network has rows of different widths.
#pragma once

#include <string>

#include "heed/lens.h"

namespace heed {

/// `details`: with "hidden".
std::string lens_to_json(const Lens& lens, bool details);

}  // namespace heed
