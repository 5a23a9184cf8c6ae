// The command `heed`, for the console script of the package.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bindings.h"
#include "cli/options/command.h"
#include "paths.h"

namespace nb = nanobind;

namespace heed::python {
namespace {

int run_command(const std::vector<Path>& arguments) {
  std::vector<const char*> argv(arguments.size());
  std::ranges::transform(arguments, argv.begin(), [](const Path& each) { return each.bytes.c_str(); });
  const nb::gil_scoped_release released;
  return cli::run(static_cast<int>(argv.size()), argv.data());
}

}  // namespace

void bind_command(nb::module_& m) {
  m.def(
      "run_command", &run_command, nb::arg("arguments"),
      "Runs the command `heed` in this process, whose messages and signals become those of the command, and "
      "returns its exit status. `arguments` begin with the name of the program.");
}

}  // namespace heed::python
