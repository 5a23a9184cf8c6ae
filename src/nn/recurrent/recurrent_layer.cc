#include "nn/recurrent/recurrent_layer.h"

#include "base/check.h"

namespace heed::nn {

RecurrentLayer::RecurrentLayer(ParameterTable& table, const std::string& prefix, const Options& options)
    : options_(options) {
  const int64_t gates = gates_of(options.cell) * options.width;
  std::vector<std::string> names{prefix + "forward"};
  if (options.bidirectional) names.push_back(prefix + "backward");
  std::vector<std::string> inputs;
  for (const std::string& name : names) inputs.push_back(name + ".input");
  input_ = Linear::join(table, inputs, options.input_width, gates);
  for (const std::string& name : names) {
    const Linear hidden(table, name + ".hidden", options.width, gates);
    directions_.push_back({table.add_product(hidden.weight()), hidden.bias()});
  }
}

ops::RecurrentStates RecurrentLayer::forward(Context& context, const Var& x,
                                             const std::vector<int32_t>& offsets,
                                             const ops::RecurrentStart& start) const {
  HEED_CHECK(directions_.size() == 1 || (!start.state.var.defined() && !start.cell.var.defined()));
  const Var gates = input_.forward(context, x);  // (N, input width) -> (N, directions G S)
  std::vector<ops::RecurrentDirection> directions;
  for (const Direction& direction : directions_) {
    directions.push_back({.hidden_weight = context.parameter(direction.hidden.weight),
                          .hidden_bias = context.parameter(direction.hidden_bias),
                          .reverse = !directions.empty(),
                          .initial = start.state,
                          .initial_cell = start.cell,
                          .precision = context.precision,
                          .packed = context.packed_matrix(direction.hidden)});
  }
  return ops::recurrent(options_.cell, gates, offsets, directions);  // (N, directions S)
}

}  // namespace heed::nn
