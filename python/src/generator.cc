#include "heed/generator.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "background.h"
#include "bindings.h"
#include "callback.h"
#include "options.h"
#include "paths.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace heed::python {
namespace {

/// Thrown through the search when the callback has failed.
struct CallbackFailed {};

std::string generate(const Generator& self, const std::string& prompt, GenerateOptions options,
                     nb::object show) {
  Callback callback(std::move(show));
  std::string text;
  try {
    in_background([&](const std::atomic<bool>& cancelled) {
      options.cancelled = &cancelled;
      Generator::Show shown;
      if (callback) {
        shown = [&](std::string_view part) {
          callback.call([&] { return nb::str(part.data(), part.size()); });
          if (callback.failed()) throw CallbackFailed();
        };
      }
      text = self.generate(prompt, options, shown);
    });
  } catch (const CallbackFailed&) {
    callback.rethrow();
  }
  return text;
}

}  // namespace

void bind_generator(nb::module_& m) {
  bind_options<GenerateOptions>(m, "GenerateOptions");
  nb::class_<Generator>(m, "Generator")
      .def(
          "__init__",
          [](Generator* self, const Path& directory, int threads) {
            construct_in_background(self, [&] { return Generator(directory.bytes, threads); });
          },
          "directory"_a, "threads"_a)
      .def("generate", &generate, "prompt"_a, "options"_a, "show"_a.none())
      .def(
          "generate_all",
          [](const Generator& self, const std::vector<std::string>& prompts, GenerateOptions options) {
            std::vector<std::string> texts;
            in_background([&](const std::atomic<bool>& cancelled) {
              options.cancelled = &cancelled;
              texts = self.generate(prompts, options);
            });
            return texts;
          },
          "prompts"_a, "options"_a)
      .def(
          "samples",
          [](const Generator& self, const std::string& prompt, int count, GenerateOptions options) {
            std::vector<std::string> texts;
            in_background([&](const std::atomic<bool>& cancelled) {
              options.cancelled = &cancelled;
              texts = self.samples(prompt, count, options);
            });
            return texts;
          },
          "prompt"_a, "count"_a, "options"_a)
      .def(
          "log_probability",
          [](const Generator& self, const std::string& text) {
            return in_background_get([&] { return self.log_probability(text); });
          },
          "text"_a)
      .def(
          "perplexity",
          [](const Generator& self, const std::string& text) {
            return in_background_get([&] { return self.perplexity(text); });
          },
          "text"_a)
      .def(
          "attend",
          [](const Generator& self, const std::string& text, const std::vector<std::string>& ablate) {
            return in_background_get([&] { return self.attend(text, ablate); });
          },
          "text"_a, "ablate"_a);
}

}  // namespace heed::python
