#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>

#include "arrays.h"
#include "background.h"
#include "base/files/file.h"
#include "bindings.h"
#include "heed/picture.h"
#include "heed/trace.h"
#include "inspect/draw/picture_file.h"
#include "paths.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace heed::python {
namespace {

/// float32 (layers, heads, queries, keys); all lengths are 0 for a stack that the model does not have.
nb::object stack_array(const StackWeights& stack) {
  Shape shape{0, 0, 0, 0};
  if (!stack.empty() && !stack.front().empty()) {
    const AttentionMatrix& first = stack.front().front();
    shape = {static_cast<int64_t>(stack.size()), static_cast<int64_t>(stack.front().size()), first.queries,
             first.keys};
  }
  Tensor all = Tensor::empty(shape);
  float* next = all.data<float>();
  for (const auto& layer : stack) {
    for (const AttentionMatrix& head : layer)
      next = std::copy(head.weights.begin(), head.weights.end(), next);
  }
  return to_numpy(all);
}

}  // namespace

void bind_trace(nb::module_& m) {
  nb::class_<Trace>(m, "Trace")
      .def_prop_ro("model", [](const Trace& t) { return decoded(t.model); })
      .def_ro("source", &Trace::source)
      .def_ro("target", &Trace::target)
      .def_ro("source_tokens", &Trace::source_tokens)
      .def_ro("target_tokens", &Trace::target_tokens)
      .def_ro("decoder_tokens", &Trace::decoder_tokens)
      .def("log_probabilities",
           [](const Trace& t) {
             return to_numpy(
                 Tensor::from(t.log_probabilities, {static_cast<int64_t>(t.log_probabilities.size())}));
           })
      .def("encoder", [](const Trace& t) { return stack_array(t.encoder); })
      .def("decoder", [](const Trace& t) { return stack_array(t.decoder); })
      .def("cross", [](const Trace& t) { return stack_array(t.cross); })
      .def("to_html", [](const Trace& t) { return in_background_get([&] { return attention_page({t}); }); })
      .def("to_json", [](const Trace& t) { return in_background_get([&] { return attention_json(t); }); })
      .def(
          "to_text",
          [](const Trace& t, int columns) {
            return in_background_get([&] { return attention_text(t, columns); });
          },
          "columns"_a)
      .def(
          "save_picture",
          [](const Trace& t, const Path& path, const std::string& title, bool values, int heads_per_row) {
            in_background([&](const std::atomic<bool>&) {
              save_attention(path.bytes, t,
                             {.title = title, .values = values, .heads_per_row = heads_per_row});
            });
          },
          "path"_a, "title"_a, "values"_a, "heads_per_row"_a);
  m.def(
      "require_picture",
      [](const Path& path, const std::string& others) { picture_format(path.bytes, others); }, "path"_a,
      "others"_a);
  m.def(
      "write_file",
      [](const Path& path, const std::string& text) {
        in_background([&](const std::atomic<bool>&) { write_file(path.bytes, text); });
      },
      "path"_a, "text"_a);
}

}  // namespace heed::python
