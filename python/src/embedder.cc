#include "heed/embedder.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "arrays.h"
#include "background.h"
#include "bindings.h"
#include "paths.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace heed::python {

void bind_embedder(nb::module_& m) {
  nb::class_<EmbedderOptions>(m, "EmbedderOptions")
      .def(nb::init<>())
      .def_rw("threads", &EmbedderOptions::threads)
      .def("set_pooling",
           [](EmbedderOptions& self, const std::string& name) { self.pooling = pooling_named(name); })
      .def_rw("normalize", &EmbedderOptions::normalize, nb::arg().none())
      .def_rw("prompt", &EmbedderOptions::prompt, nb::arg().none());
  nb::class_<TextVectors>(m, "TextVectors")
      .def_prop_ro("vectors", [](const TextVectors& self) { return to_numpy(self.vectors); })
      .def_ro("truncated", &TextVectors::truncated);
  nb::class_<Embedder>(m, "Embedder")
      .def(
          "__init__",
          [](Embedder* self, const Path& directory, const EmbedderOptions& options) {
            construct_in_background(self, [&] { return Embedder(directory.bytes, options); });
          },
          "directory"_a, "options"_a)
      .def("width", &Embedder::width)
      .def("max_length", &Embedder::max_length)
      .def(
          "embed",
          [](const Embedder& self, const std::vector<std::string>& texts) {
            TextVectors found;
            in_background([&](const std::atomic<bool>& cancelled) { found = self.embed(texts, &cancelled); });
            return found;
          },
          "texts"_a)
      .def(
          "attend",
          [](const Embedder& self, const std::string& text, const std::vector<std::string>& ablate) {
            return in_background_get([&] { return self.attend(text, ablate); });
          },
          "text"_a, "ablate"_a);
}

}  // namespace heed::python
