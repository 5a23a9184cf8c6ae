#include "heed/classifier.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "background.h"
#include "bindings.h"
#include "paths.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace heed::python {
namespace {

using TextOrPair = std::pair<std::string, std::optional<std::string>>;

}  // namespace

void bind_classifier(nb::module_& m) {
  nb::class_<TextClass>(m, "TextClass")
      .def_ro("label", &TextClass::label)
      .def_ro("probability", &TextClass::probability)
      .def_ro("probabilities", &TextClass::probabilities)
      .def_ro("truncated", &TextClass::truncated);
  nb::class_<Classifier>(m, "Classifier")
      .def(
          "__init__",
          [](Classifier* self, const Path& directory, int threads) {
            construct_in_background(self, [&] { return Classifier(directory.bytes, threads); });
          },
          "directory"_a, "threads"_a)
      .def("labels", [](const Classifier& self) { return self.labels(); })
      .def(
          "classify",
          [](const Classifier& self, const std::vector<TextOrPair>& texts) {
            std::vector<ClassifierText> inputs;
            for (const TextOrPair& text : texts) inputs.push_back({text.first, text.second});
            std::vector<TextClass> classes;
            in_background(
                [&](const std::atomic<bool>& cancelled) { classes = self.classify(inputs, &cancelled); });
            return classes;
          },
          "texts"_a)
      .def(
          "attend",
          [](const Classifier& self, const TextOrPair& text, const std::vector<std::string>& ablate) {
            return in_background_get([&] { return self.attend({text.first, text.second}, ablate); });
          },
          "text"_a, "ablate"_a);
}

}  // namespace heed::python
