// Where the tests find what they read and run. Only paths.cc is compiled with these paths, so that trees in
// other places share what ccache has of all other files.
#pragma once
#include <string>

namespace heed {

// The root of the source tree.
std::string source_folder();
// The built command, build/bin/heed.
std::string heed_command();
// What runs a program for another processor, with its arguments; empty where none is needed.
std::string emulator();

}  // namespace heed
