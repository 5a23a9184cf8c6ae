// Writes a lens as JSON.
//
// {"version": 1, "model", "source", "target",
//  "tokens": {"encoder": [...], "decoder": [...]}, what each stack reads
//  "expected_tokens": [position],
//  "predictions": [step][position][{"token", "probability"}, ...], of the stack that predicts tokens
//  "states": {"encoder": [{"layer", "part", "norms": [position], "added_norms": [position],
//                          "expected": [position], "predictions": as above}, ...], "decoder"}
//  "hidden": {"encoder": [step][position][width], "decoder"}, with details
//  "parts": {"encoder": {"position", "ids", "embedding": [width], "states": [{"vector": [width],
//                        "heads": [heads x head width], "added": [width], "log_sum"}, ...],
//                        "log_sums": [temperature]}, "decoder"}},
//           the ids of all tokens of each stack, and the vectors of one, where a position is
//           given, counted from 1; log_sums_at() (lens.h) of the stack that predicts tokens
//
// Step 0 is after embedding and positions; the others are after each layer, the last one after the stack's
// final norm (LensStack::steps). A stack that the model does not have is an empty list. "hidden" of a
// recurrent network has rows of different widths.
#pragma once

#include <string>
#include <vector>

#include "heed/lens.h"

namespace heed {

struct LensJsonOptions {
  bool details = false;  ///< with "hidden"
  // The token of each stack whose vectors are "parts", counted from 1; 0: none. The lens must have been taken
  // with parts. Throws kUsage for a position that the stack does not have.
  int encoder_position = 0, decoder_position = 0;
  std::vector<float> log_sums{};  ///< log_sums_at() this token of the stack that predicts; empty: left out
};

std::string lens_to_json(const Lens& lens, const LensJsonOptions& options);

}  // namespace heed
