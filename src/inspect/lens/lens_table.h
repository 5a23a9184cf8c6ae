// A lens as tables for the terminal and as a picture.
#pragma once

#include <string>

#include "base/text/named_values.h"
#include "heed/lens.h"
#include "inspect/draw/picture.h"

namespace heed {

/// What a table shows of each token at each state.
enum class LensValue {
  kPredictions,  ///< the likeliest token; in a picture, the probability of the expected one
  kNorms,        ///< the norm of the vector
  kAdded,        ///< the norm of what the sub-layer added
};

constexpr NamedValues<LensValue, 3> kLensValues{
    {{LensValue::kPredictions, "predictions"}, {LensValue::kNorms, "norms"}, {LensValue::kAdded, "added"}}};

/// "encoder" or "decoder"; empty: the one that predicts tokens. Throws kUsage for another name, and for a
/// stack that the model does not have.
const LensStack& stack_named(const Lens& lens, const std::string& name);

/// The value of a name in kLensValues; norms instead of predictions in a stack without them. Throws kUsage
/// for another name.
LensValue lens_value_named(const LensStack& stack, const std::string& name);

/// One row for each state, one column for each token; wide tables are split. Throws kUsage for predictions of
/// a stack without them, for what is added in one whose layers add nothing (recurrent networks), and for
/// fewer than 40 columns.
std::string lens_table(const Lens& lens, const LensStack& stack, LensValue value, int columns);

/// One row for each state, for a single token: layer, part, norms, and predictions.
std::string lens_token_table(const Lens& lens, const LensStack& stack, size_t token);

/// A heat map. Throws like lens_table().
Picture lens_picture(const Lens& lens, const LensStack& stack, LensValue value);

}  // namespace heed
