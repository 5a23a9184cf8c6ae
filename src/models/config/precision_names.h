// The names of precisions in options, requests and answers.
#pragma once

#include <string>

#include "models/directory/loaded_model.h"

namespace heed::models {

/// "float32" or "int8".
std::string name_of(Precision precision);

/// The precision with this name; unset for an empty one. Throws kUsage for another name.
std::optional<Precision> precision_named(const std::string& name);

}  // namespace heed::models
