#include "heed/train.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <string>
#include <utility>

#include "background.h"
#include "bindings.h"
#include "callback.h"
#include "paths.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace heed::python {
namespace {

const char* name_of(TrainEnd end) {
  switch (end) {
    case TrainEnd::kSteps:
      return "steps";
    case TrainEnd::kMinutes:
      return "minutes";
    case TrainEnd::kEpochs:
      return "epochs";
    case TrainEnd::kPatience:
      return "patience";
    case TrainEnd::kCancelled:
      return "cancelled";
  }
  return "steps";
}

/// An exception of a callback, and Ctrl-C, end the training after the current step, and it is saved.
TrainResult train(const TrainOptions& options, nb::object on_step, nb::object on_message) {
  Callback step(std::move(on_step)), message(std::move(on_message));
  TrainResult result;
  in_background([&](const std::atomic<bool>& cancelled) {
    std::atomic<bool> stop{false};
    TrainCallbacks callbacks;
    callbacks.cancelled = &stop;
    callbacks.option_names = argument_of;
    const auto update = [&] { stop = cancelled || step.failed() || message.failed(); };
    callbacks.on_step = [&](const TrainStep& each) {
      if (step) step.call([&] { return nb::cast(each); });
      update();
    };
    callbacks.on_message = [&](const std::string& text) {
      if (message) message.call([&] { return decoded(text); });
      update();
    };
    result = train_model(options, callbacks);
  });
  step.rethrow();
  message.rethrow();
  return result;
}

/// The fields that are paths.
void bind_paths(nb::class_<TrainOptions>& options) {
  using Field = std::string TrainOptions::*;
  for (const auto& [name, field] : {std::pair<const char*, Field>{"output", &TrainOptions::output},
                                    {"source", &TrainOptions::source},
                                    {"target", &TrainOptions::target},
                                    {"text", &TrainOptions::text},
                                    {"valid_pairs", &TrainOptions::valid_pairs},
                                    {"valid_source", &TrainOptions::valid_source},
                                    {"valid_target", &TrainOptions::valid_target},
                                    {"valid_text", &TrainOptions::valid_text},
                                    {"recipe", &TrainOptions::recipe},
                                    {"from_model", &TrainOptions::from}}) {
    options.def_prop_rw(
        name, [member = field](const TrainOptions& self) { return decoded(self.*member); },
        [member = field](TrainOptions& self, const Path& path) { self.*member = path.bytes; });
  }
  options.def_prop_rw(
      "pairs",
      [](const TrainOptions& self) {
        nb::list paths;
        for (const std::string& each : self.pairs) paths.append(decoded(each));
        return paths;
      },
      [](TrainOptions& self, const std::vector<Path>& paths) {
        self.pairs.clear();
        for (const Path& each : paths) self.pairs.push_back(each.bytes);
      });
}

}  // namespace

void bind_train(nb::module_& m) {
  nb::class_<TrainOptions> options(m, "TrainOptions");
  bind_paths(options);
  options.def(nb::init<>())
      .def_rw("swap", &TrainOptions::swap)
      .def_rw("lossy", &TrainOptions::lossy)
      .def_rw("task", &TrainOptions::task)
      .def_rw("preset", &TrainOptions::preset)
      .def_rw("settings", &TrainOptions::settings)
      .def_rw("languages", &TrainOptions::languages)
      .def_rw("threads", &TrainOptions::threads)
      .def_rw("max_steps", &TrainOptions::max_steps)
      .def_rw("max_minutes", &TrainOptions::max_minutes)
      .def_rw("max_epochs", &TrainOptions::max_epochs);
  nb::class_<TrainStep>(m, "TrainStep")
      .def_ro("step", &TrainStep::step)
      .def_ro("loss", &TrainStep::loss)
      .def_ro("learning_rate", &TrainStep::learning_rate)
      .def_ro("gradient_norm", &TrainStep::gradient_norm)
      .def_ro("target_tokens", &TrainStep::target_tokens)
      .def_ro("target_tokens_per_second", &TrainStep::target_tokens_per_second)
      .def_ro("seconds", &TrainStep::seconds)
      .def_ro("epochs", &TrainStep::epochs)
      .def_ro("valid_loss", &TrainStep::valid_loss)
      .def_ro("scores", &TrainStep::scores)
      .def_ro("best", &TrainStep::best);
  nb::class_<TrainResult>(m, "TrainResult")
      .def_prop_ro("end", [](const TrainResult& r) { return name_of(r.end); })
      .def_ro("steps", &TrainResult::steps)
      .def_ro("resumed_from", &TrainResult::resumed_from)
      .def_ro("best_step", &TrainResult::best_step)
      .def_ro("seconds", &TrainResult::seconds);
  m.def("train", &train, "options"_a, "on_step"_a.none(), "on_message"_a.none());
}

}  // namespace heed::python
