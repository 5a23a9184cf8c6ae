#include "heed/model.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "background.h"
#include "bindings.h"
#include "callback.h"
#include "paths.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace heed::python {
namespace {

/// Thrown through the computation when a hook has failed.
struct HookFailed {};

using NamedFunctions = std::vector<std::pair<std::string, nb::object>>;

/// Functions of Python as hooks. They are called with (name, positions, values), an array that they may keep
/// and write to.
class PythonHooks {
 public:
  explicit PythonHooks(const NamedFunctions& functions) {
    for (const auto& [name, function] : functions) {
      callbacks_.push_back(std::make_shared<Callback>(function));
      hooks_.emplace_back(name, [callback = callbacks_.back()](const HookedState& state) {
        const std::vector<float> before(state.values.begin(), state.values.end());
        const Tensor values = Tensor::from(before, {state.rows(), state.width});
        callback->call([&] {
          const std::vector<int> positions(state.positions.begin(), state.positions.end());
          return nb::make_tuple(state.name, nb::cast(positions), to_numpy(values));
        });
        if (callback->failed()) throw HookFailed();
        std::copy_n(values.data<float>(), values.size(), state.values.data());
      });
    }
  }

  const Hooks& hooks() const { return hooks_; }
  const std::vector<std::shared_ptr<Callback>>& callbacks() const { return callbacks_; }
  /// Runs work that may call hooks; throws what a function of Python has raised.
  template <typename Work>
  void run(const Work& work) const {
    try {
      work();
    } catch (const HookFailed&) {
      for (const auto& callback : callbacks_) callback->rethrow();
    }
  }

 private:
  std::vector<std::shared_ptr<Callback>> callbacks_;
  Hooks hooks_;
};

/// A decoding whose hooks are functions of Python.
struct HookedDecoding {
  PythonHooks hooks;
  Decoding decoding;
};

// The functions of a decoding may refer to it, so the garbage collector has to know of them.

HookedDecoding* decoding_of(PyObject* self) {
  return nb::inst_ready(self) ? nb::inst_ptr<HookedDecoding>(self) : nullptr;
}

int traverse_decoding(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  const HookedDecoding* const decoding = decoding_of(self);
  if (decoding == nullptr) return 0;
  for (const auto& callback : decoding->hooks.callbacks()) Py_VISIT(callback->function().ptr());
  return 0;
}

int clear_decoding(PyObject* self) {
  const HookedDecoding* const decoding = decoding_of(self);
  if (decoding == nullptr) return 0;
  for (const auto& callback : decoding->hooks.callbacks()) callback->clear();
  return 0;
}

PyType_Slot kDecodingSlots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_decoding)},
                                {Py_tp_clear, reinterpret_cast<void*>(clear_decoding)},
                                {0, nullptr}};

Stack stack_named(const std::string& name) {
  if (name == "encoder") return Stack::kEncoder;
  if (name == "decoder") return Stack::kDecoder;
  if (name == "cross") return Stack::kCross;
  throw Error(ErrorKind::kUsage, "unknown stack '" + name + "': choose encoder, decoder or cross");
}

nb::list arrays_of(const std::vector<Tensor>& tensors) {
  nb::list arrays;
  for (const Tensor& each : tensors) arrays.append(to_numpy(each));
  return arrays;
}

nb::tuple forward(const Model& self, const std::vector<int32_t>& ids, const std::vector<int32_t>& decoder_ids,
                  bool last_only, bool hidden_states, const std::vector<int32_t>& types,
                  const NamedFunctions& functions) {
  const PythonHooks hooks(functions);
  const ForwardOptions options{
      .last_only = last_only, .hidden_states = hidden_states, .types = types, .hooks = hooks.hooks()};
  ForwardResult result;
  hooks.run([&] {
    in_background([&](const std::atomic<bool>&) { result = self.forward(ids, decoder_ids, options); });
  });
  return nb::make_tuple(to_numpy(result.logits), arrays_of(result.encoder), arrays_of(result.decoder));
}

HookedDecoding* start(const Model& self, const std::vector<int32_t>& ids,
                      const std::vector<int32_t>& decoder_ids, const NamedFunctions& functions) {
  PythonHooks hooks(functions);
  std::unique_ptr<HookedDecoding> made;
  hooks.run([&] {
    in_background([&](const std::atomic<bool>&) {
      made.reset(new HookedDecoding{hooks, self.start(ids, decoder_ids, hooks.hooks())});
    });
  });
  return made.release();  // Python owns it
}

nb::object step(HookedDecoding& self, const std::vector<int32_t>& tokens, const std::vector<int>& parents) {
  self.hooks.run([&] {
    const ShortWork computing;
    self.decoding.step(tokens, parents);
  });
  return to_numpy(self.decoding.logits());
}

}  // namespace

void bind_model(nb::module_& m) {
  nb::class_<HookedDecoding>(m, "Decoding", nb::type_slots(kDecodingSlots))
      .def("logits", [](const HookedDecoding& self) { return to_numpy(self.decoding.logits()); })
      .def("rows", [](const HookedDecoding& self) { return self.decoding.rows(); })
      .def("length", [](const HookedDecoding& self) { return self.decoding.length(); })
      .def("step", &step, "tokens"_a, "parents"_a);
  nb::class_<Model>(m, "Model")
      .def(
          "__init__",
          [](Model* self, const Path& directory, const std::string& precision) {
            construct_in_background(self, [&] { return Model(directory.bytes, precision); });
          },
          "directory"_a, "precision"_a)
      .def("has_encoder", &Model::has_encoder)
      .def("has_decoder", &Model::has_decoder)
      .def("layers",
           [](const Model& self, const std::string& stack) { return self.layers(stack_named(stack)); })
      .def("heads",
           [](const Model& self, const std::string& stack) { return self.heads(stack_named(stack)); })
      .def("vocabulary_size", &Model::vocabulary_size)
      .def("source_vocabulary_size", &Model::source_vocabulary_size)
      .def("max_length", &Model::max_length)
      .def("start_id", &Model::start_id)
      .def("end_ids", &Model::end_ids)
      .def("forward", &forward, "ids"_a, "decoder_ids"_a, "last_only"_a, "hidden_states"_a, "types"_a,
           "hooks"_a)
      .def("start", &start, "ids"_a, "decoder_ids"_a, "hooks"_a);
}

}  // namespace heed::python
