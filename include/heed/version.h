// The version of Heed. This line is the only place that states it: CMake reads it from here.
#pragma once

#define HEED_VERSION "0.1.0"

namespace heed {

/// The version of the library that is linked, to compare with HEED_VERSION, that of the headers.
const char* version();

}  // namespace heed
