// Helpers for tests of modules: random parameters, and a module as a function of its parameters, so that
// gradient_mismatch() checks the gradients of all of them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "autograd/gradient_check.h"
#include "nn/context.h"
#include "random_tensor.h"

namespace heed::nn {

/// A table's parameters, drawn at random, biases and norms too.
inline ParameterArray random_parameters(const ParameterTable& table, DType dtype = DType::kFloat64,
                                        uint64_t seed = 1, double deviation = 0.5) {
  ParameterArray values(table, dtype);
  values.flat() = TensorSource(seed).normal({table.elements()}, dtype, deviation);
  return values;
}

/// For inference.
inline Context context_for(const ParameterTable& table, const ParameterArray& values) {
  Context context;
  context.table = &table;
  context.values = &values;
  return context;
}

using Module = std::function<Var(Context& context, const std::vector<Var>& inputs)>;

/// The module as a function of its inputs and, as the last one, of all its parameters in a row. `training`
/// turns dropout on, with the same masks every time.
inline DifferentiableFunction with_parameters(const ParameterTable& table, const Module& module,
                                              bool training = false) {
  return [&table, module, training](const std::vector<Var>& all) {
    const Var& flat = all.back();
    std::vector<Var> inputs(all.begin(), all.end() - 1);
    auto values = std::make_shared<ParameterArray>(), gradients = std::make_shared<ParameterArray>();
    values->flat() = flat.value();
    gradients->flat() = Tensor::zeros(flat.shape(), flat.dtype());
    Tape* tape = tape_of(flat);
    for (const Var& input : inputs) tape = tape != nullptr ? tape : input.tape();
    if (tape != nullptr) {
      // First on the tape, so last on the way back, when the gradients of all parameters are there.
      const Var first = inputs[0];
      inputs[0] = tape->record(first.value(), [tape, first, flat, values, gradients](const Tensor& upstream) {
        tape->add_gradient(first, upstream);
        tape->add_gradient(flat, gradients->flat());
      });
    }
    Context context = context_for(table, *values);
    context.tape = tape;
    context.gradients = gradients.get();
    context.training = training;
    context.random = RandomKey::from_seed(3);
    return module(context, inputs);
  };
}

/// Checks the gradients of all parameters of the table, and of the inputs.
inline void expect_module_gradients(const ParameterTable& table, const Module& module,
                                    std::vector<Tensor> inputs, bool training = false) {
  inputs.push_back(random_parameters(table).flat());
  EXPECT_EQ(gradient_mismatch(with_parameters(table, module, training), inputs, {}), "");
}

}  // namespace heed::nn
