// The names of precisions in options, requests and answers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/directory/loaded_model.h"

namespace heed::models {

/// "float32", "int8", "int4" and "bfloat16".
std::vector<std::string> precision_names();

/// One of these names.
std::string name_of(Precision precision);

/// The precision with this name; unset for an empty one. Throws kUsage for another name.
std::optional<Precision> precision_named(const std::string& name);

/// Whether the instruction set in use has products in this precision: bfloat16 is offered only where it is
/// faster than float32.
bool runs_here(Precision precision);
/// Throws kUsage if it does not.
void require_runs_here(Precision precision);

}  // namespace heed::models
