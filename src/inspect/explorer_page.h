// The explorer page (web/) as one HTML file with traces in it: it works from a disk, without a server, and
// loads nothing.
#pragma once

#include <string>
#include <vector>

#include "inspect/trace.h"

namespace heed {

struct ExplorerPageOptions {
  bool words = false;   ///< begin with words instead of tokens; the page can change it
  std::string command;  ///< how to get a page that can do all, such as "heed serve --pair de-en"
};

/// Throws as check_trace does, and kUsage without traces.
std::string explorer_page(const std::vector<Trace>& traces, const ExplorerPageOptions& options = {});

/// The JavaScript modules that `main` imports, and itself, as one script: each becomes a function that
/// returns what the module exports. Exposed for tests.
std::string bundle_modules(const std::string& main);

}  // namespace heed
