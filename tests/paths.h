// Paths that tests use. Only paths.cc is compiled with them, so that ccache can share all other files between
// source trees.
#pragma once
#include <string>

namespace heed {

// The root of the source tree.
std::string source_folder();
// The built command, build/bin/heed.
std::string heed_command();
// The emulator for programs of another processor, with its arguments; empty if none is needed.
std::string emulator();

}  // namespace heed
