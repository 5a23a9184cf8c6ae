#include "heed/generator.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "background.h"
#include "bindings.h"
#include "callback.h"

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
  nb::class_<GenerateOptions>(m, "GenerateOptions")
      .def(nb::init<>())
      .def_rw("max_tokens", &GenerateOptions::max_tokens, nb::arg().none())
      .def_rw("greedy", &GenerateOptions::greedy)
      .def_rw("beam", &GenerateOptions::beam)
      .def_rw("temperature", &GenerateOptions::temperature, nb::arg().none())
      .def_rw("top_k", &GenerateOptions::top_k, nb::arg().none())
      .def_rw("top_p", &GenerateOptions::top_p, nb::arg().none())
      .def_rw("min_p", &GenerateOptions::min_p, nb::arg().none())
      .def_rw("repetition_penalty", &GenerateOptions::repetition_penalty, nb::arg().none())
      .def_rw("seed", &GenerateOptions::seed)
      .def_rw("stops", &GenerateOptions::stops);
  nb::class_<Generator>(m, "Generator")
      .def(
          "__init__",
          [](Generator* self, const std::string& directory, int threads) {
            in_background([&](const std::atomic<bool>&) { new (self) Generator(directory, threads); });
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
