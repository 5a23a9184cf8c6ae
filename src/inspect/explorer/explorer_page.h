// The explorer page (web/) as one HTML file that contains its traces: it works from disk, without a server,
// and loads nothing.
#pragma once

#include <string>
#include <vector>

#include "inspect/trace/trace.h"

namespace heed {

struct ExplorerPageOptions {
  bool words = false;   ///< begin with words instead of tokens; the page can change it
  std::string command;  ///< the command for a page with all functions, such as "heed serve --pair de-en"
  /// The options of heed attend that the traces depend on, besides the model and the text, as in a shell.
  std::string options{};
};

/// Throws as check_trace does, and kUsage without traces.
std::string explorer_page(const std::vector<Trace>& traces, const ExplorerPageOptions& options = {});

/// Bundles `main` and the JavaScript modules that it imports into one script. Each module becomes a function
/// that returns its exports. Exposed for tests.
std::string bundle_modules(const std::string& main);

}  // namespace heed
