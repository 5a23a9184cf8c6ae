// The text of --help: arguments, options in groups, and what stands below, in lines of a fixed width.
#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace heed::cli {

/// `name`: the command as it is called, "heed translate".
std::string help_text(const CLI::App& app, const std::string& name);

}  // namespace heed::cli
