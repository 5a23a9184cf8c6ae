// The version of Heed, defined only here; CMake reads it from this file.
#pragma once

#define HEED_VERSION "1.1.0"

namespace heed {

/// The version of the linked library, to compare with HEED_VERSION, the version of the headers.
const char* version();

}  // namespace heed
