// What a directory contains.
#pragma once

#include <string>
#include <system_error>
#include <vector>

namespace heed {

/// The names in a directory, sorted. If it cannot be listed, sets `error` and returns those that were found.
/// Throws std::bad_alloc where there is no memory; libstdc++'s directory_iterator ends the process there.
std::vector<std::string> names_in(const std::string& directory, std::error_code& error);

/// The same; throws kFile if the directory cannot be listed.
std::vector<std::string> names_in(const std::string& directory);

}  // namespace heed
