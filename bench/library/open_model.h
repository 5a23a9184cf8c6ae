// Opens a model for the benchmarks of forward passes and of translation.
#pragma once

#include <cstdio>
#include <exception>

#include "models/config/precision_names.h"
#include "models/directory/loaded_model.h"

namespace heed::bench {

/// Opens a model directory in a precision by its name, as --precision does. Null, and the reason on standard
/// error, if it cannot. The caller deletes it.
inline models::LoadedModel* open_model(const char* directory, const char* precision) {
  try {
    return new models::LoadedModel(
        models::load_model(directory, {.precision = models::precision_named(precision)}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return nullptr;
  }
}

}  // namespace heed::bench
