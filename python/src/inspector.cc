#include "heed/inspector.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "background.h"
#include "bindings.h"
#include "heed/picture.h"
#include "paths.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace heed::python {
namespace {

/// A float32 array of one or two axes.
nb::object float_array(const std::vector<float>& values, int width = 0) {
  const auto size = static_cast<int64_t>(values.size());
  const Shape shape = width > 0 ? Shape{size / width, width} : Shape{size};
  return to_numpy(Tensor::from(values, shape));
}

using Predictions = std::vector<std::vector<std::pair<std::string, double>>>;

Predictions predictions_of(const LensState& state) {
  Predictions all;
  for (const auto& position : state.predictions) {
    auto& list = all.emplace_back();
    for (const TokenProbability& each : position) list.emplace_back(each.token, each.probability);
  }
  return all;
}

void bind_lens(nb::module_& m) {
  nb::class_<LensState>(m, "LensState")
      .def_ro("layer", &LensState::layer)
      .def_ro("part", &LensState::part)
      .def("values", [](const LensState& s) { return float_array(s.values, s.width); })
      .def("norms", [](const LensState& s) { return float_array(s.norms); })
      .def("added_norms", [](const LensState& s) { return float_array(s.added_norms); })
      .def("expected", [](const LensState& s) { return float_array(s.expected); })
      .def("predictions", &predictions_of)
      .def("heads", [](const LensState& s) { return float_array(s.heads); })
      .def("added", [](const LensState& s) { return float_array(s.added, s.width); })
      .def("log_sums", [](const LensState& s) { return float_array(s.log_sums); });
  nb::class_<LensStack>(m, "LensStack")
      .def_ro("tokens", &LensStack::tokens)
      .def_ro("ids", &LensStack::ids)
      .def_ro("states", &LensStack::states)
      .def("embeddings", [](const LensStack& s) { return float_array(s.embeddings); })
      .def("steps", &LensStack::steps);
  nb::class_<Lens>(m, "Lens")
      .def_prop_ro("model", [](const Lens& lens) { return decoded(lens.model); })
      .def_ro("source", &Lens::source)
      .def_ro("target", &Lens::target)
      .def_ro("encoder", &Lens::encoder)
      .def_ro("decoder", &Lens::decoder)
      .def_ro("expected_tokens", &Lens::expected_tokens)
      .def("to_json", &lens_json, "details"_a)
      .def(
          "to_text",
          [](const Lens& lens, const std::string& stack, const std::string& show, int columns) {
            return lens_text(lens, {stack, show}, columns);
          },
          "stack"_a, "show"_a, "columns"_a)
      .def("token_to_text", &lens_token_text, "token"_a, "stack"_a)
      .def(
          "save_picture",
          [](const Lens& lens, const Path& path, const std::string& stack, const std::string& show) {
            in_background([&](const std::atomic<bool>&) { save_lens(path.bytes, lens, {stack, show}); });
          },
          "path"_a, "stack"_a, "show"_a);
}

void bind_attribution(nb::module_& m) {
  nb::class_<TokenAttribution>(m, "TokenAttribution")
      .def_ro("token", &TokenAttribution::token)
      .def_ro("instead", &TokenAttribution::instead)
      .def_ro("log_probability", &TokenAttribution::log_probability)
      .def("values", [](const TokenAttribution& t) { return float_array(t.values); })
      .def_ro("sum", &TokenAttribution::sum)
      .def_ro("difference", &TokenAttribution::difference)
      .def_ro("evaluations", &TokenAttribution::evaluations);
  nb::class_<Attribution>(m, "Attribution")
      .def_prop_ro("model", [](const Attribution& a) { return decoded(a.model); })
      .def_ro("source", &Attribution::source)
      .def_ro("target", &Attribution::target)
      .def_ro("source_tokens", &Attribution::source_tokens)
      .def_ro("target_tokens", &Attribution::target_tokens)
      .def_prop_ro("method", [](const Attribution& a) { return attribution_method_name(a.method); })
      .def_ro("baseline", &Attribution::baseline)
      .def_ro("tokens", &Attribution::tokens)
      .def("to_json", &attribution_json)
      .def("to_text", &attribution_text, "columns"_a)
      .def(
          "save_picture",
          [](const Attribution& a, const Path& path) {
            in_background([&](const std::atomic<bool>&) { save_attribution(path.bytes, a); });
          },
          "path"_a);
}

void bind_patching(nb::module_& m) {
  nb::class_<PatchMap>(m, "PatchMap")
      .def_ro("rows", &PatchMap::rows)
      .def_ro("columns", &PatchMap::columns)
      .def("effects",
           [](const PatchMap& p) { return float_array(p.effects, static_cast<int>(p.columns.size())); });
  nb::class_<Patching>(m, "Patching")
      .def_prop_ro("model", [](const Patching& p) { return decoded(p.model); })
      .def_ro("source", &Patching::source)
      .def_ro("other", &Patching::other)
      .def_ro("target", &Patching::target)
      .def_ro("source_tokens", &Patching::source_tokens)
      .def_ro("other_tokens", &Patching::other_tokens)
      .def_ro("target_tokens", &Patching::target_tokens)
      .def_ro("counterparts", &Patching::counterparts)
      .def_ro("tokens", &Patching::tokens)
      .def_ro("instead", &Patching::instead)
      .def_ro("clean", &Patching::clean)
      .def_ro("corrupted", &Patching::corrupted)
      .def_ro("encoder", &Patching::encoder)
      .def_ro("decoder", &Patching::decoder)
      .def_ro("cross", &Patching::cross)
      .def_prop_ro("what", [](const Patching& p) { return patched_part_name(p.what); })
      .def_ro("evaluations", &Patching::evaluations)
      .def("to_json", &patching_json)
      .def("to_text", &patching_text, "columns"_a)
      .def(
          "save_picture",
          [](const Patching& p, const Path& path) {
            in_background([&](const std::atomic<bool>&) { save_patching(path.bytes, p); });
          },
          "path"_a);
}

}  // namespace

void bind_inspector(nb::module_& m) {
  bind_lens(m);
  bind_attribution(m);
  bind_patching(m);
  nb::class_<Inspector>(m, "Inspector")
      .def(
          "__init__",
          [](Inspector* self, const Path& directory, int threads, const std::string& source,
             const std::string& target, const std::string& precision) {
            construct_in_background(self, [&] {
              return Inspector(directory.bytes, threads, {source, target}, precision);
            });
          },
          "directory"_a, "threads"_a, "source_language"_a, "target_language"_a, "precision"_a)
      .def(
          "lens",
          [](const Inspector& self, const std::string& text, const std::string& target, int top, bool parts) {
            const LensOptions options{.target = target, .top = top, .parts = parts};
            return in_background_get([&] { return self.lens(text, options); });
          },
          "text"_a, "target"_a, "top"_a, "parts"_a)
      .def(
          "attribute",
          [](const Inspector& self, const std::string& text, const std::string& target,
             const std::string& token, const std::string& instead, const std::string& method,
             const std::string& baseline, double tolerance) {
            AttributionOptions options{.target = target, .token = token, .instead = instead};
            options.method = attribution_method_named(method);
            options.baseline = baseline;
            options.tolerance = tolerance;
            return in_background_get([&] { return self.attribute(text, options); });
          },
          "text"_a, "target"_a, "token"_a, "instead"_a, "method"_a, "baseline"_a, "tolerance"_a)
      .def(
          "patch",
          [](const Inspector& self, const std::string& text, const std::string& other,
             const std::string& target, const std::string& token, const std::string& instead,
             const std::string& what) {
            const PatchOptions options{
                .target = target, .token = token, .instead = instead, .what = patched_part_named(what)};
            return in_background_get([&] { return self.patch(text, other, options); });
          },
          "text"_a, "other"_a, "target"_a, "token"_a, "instead"_a, "what"_a);
}

}  // namespace heed::python
