// heed/attention.h: the layer MultiHeadAttention, over src/nn.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "api/attention_masks.h"
#include "api/contiguous.h"
#include "base/check.h"
#include "heed/attention.h"
#include "nn/attention.h"
#include "nn/positions/positions.h"

namespace heed {
namespace {

/// Keeps the weights of one pass for the caller, who may change them: a backward pass reads those on the
/// tape.
class KeepWeights : public nn::AttentionSink {
 public:
  void receive(const nn::AttentionLayerId&, const Var& weights, const ops::AttentionLayout&, int) override {
    weights_ = weights.wants_gradient() ? weights.value().clone() : weights.value();
  }
  const Tensor& weights() const { return weights_; }

 private:
  Tensor weights_;
};

std::vector<int32_t> checked_offsets(const char* what, const std::vector<int64_t>& offsets, int64_t rows) {
  std::vector<int32_t> checked;
  for (const int64_t offset : offsets) {
    if (offset < 0 || offset > std::numeric_limits<int32_t>::max()) {
      fail(ErrorKind::kShape, "attention: an offset of {} is {}; it must lie within the rows", what, offset);
    }
    checked.push_back(static_cast<int32_t>(offset));
  }
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != rows) {
    fail(ErrorKind::kShape, "attention: the offsets of {} must begin with 0 and end with its {} rows", what,
         rows);
  }
  return checked;
}

}  // namespace

struct MultiHeadAttention::Impl {
  explicit Impl(const MultiHeadAttentionOptions& wanted) : options(wanted) {
    if (!(options.dropout >= 0 && options.dropout < 1)) {
      fail(ErrorKind::kUsage, "attention: dropout must be at least 0 and below 1, not {}", options.dropout);
    }
    if (options.dtype != DType::kFloat32 && options.dtype != DType::kFloat64) {
      fail(ErrorKind::kUsage, "attention: the layer computes in float32 or float64, not {}",
           name_of(options.dtype));
    }
    if (options.key_width < 0 || options.value_width < 0) {
      fail(ErrorKind::kShape, "attention: the widths of keys and values cannot be {} and {}",
           options.key_width, options.value_width);
    }
    if (options.key_width == 0) options.key_width = options.d_model;
    if (options.value_width == 0) options.value_width = options.d_model;
    nn::MultiHeadAttention::Options own{.width = options.d_model,
                                        .heads = options.heads,
                                        .key_width = options.key_width,
                                        .value_width = options.value_width,
                                        .bias = options.bias,
                                        .dropout = options.dropout,
                                        .layer_id = {}};
    if (has_relative_positions() && options.heads > 0) {
      if (options.key_width != options.d_model || options.value_width != options.d_model) {
        fail(ErrorKind::kShape,
             "attention: relative positions are for self-attention, whose keys and values "
             "are as wide as its queries");
      }
      own.relative =
          nn::RelativePositions(table, "", options.positions, options.heads, options.d_model / options.heads);
      angles_at({0});  // throws if rotary positions do not fit the heads
    }
    layer = nn::MultiHeadAttention(table, "", own);
    values = nn::ParameterArray(table, options.dtype);
    gradients = nn::ParameterArray(table, options.dtype);
    packed = std::make_unique<nn::PackedWeights>(table, values);
    key = RandomKey::from_seed(options.seed);
    nn::initialize(table, values, key.fold(0));
  }

  int row_of(const std::string& name) const {
    for (int row = 0; row < table.size(); ++row) {
      if (table[row].name == name) return row;
    }
    fail(ErrorKind::kUsage, "attention: there is no parameter '{}'; the first is '{}'", name, table[0].name);
  }

  nn::Context inference_context() const { return packed->context(); }

  nn::Context training_context() {
    std::fill_n(static_cast<char*>(gradients.flat().bytes()),
                static_cast<size_t>(gradients.flat().size()) * size_of(options.dtype), char{0});
    pass.reset();
    tape.clear();
    nn::Context context = inference_context();
    context.packed = nullptr;
    context.tape = &tape;
    context.gradients = &gradients;
    context.training = true;
    context.random = key.fold(++steps);
    return context;
  }

  bool has_relative_positions() const {
    switch (options.positions.kind) {
      case PositionKind::kRelative:
      case PositionKind::kBuckets:
      case PositionKind::kRotary:
      case PositionKind::kRotaryInterleaved:
        return true;
      default:
        return false;
    }
  }

  std::optional<ops::RotaryAngles> angles_at(const std::vector<int32_t>& positions) const {
    return nn::rotary_angles(options.positions, positions, options.d_model / options.heads, options.dtype);
  }

  /// Self-attention with the positions 0, 1, 2, ... in each sentence.
  Var run_with_positions(nn::Context& context, const std::array<Var, 3>& inputs,
                         const ops::AttentionLayout& layout, const ops::AttentionMask& mask) const {
    const Var& x = inputs[0];
    if (!x.is_same_as(inputs[1]) || !x.is_same_as(inputs[2])) {
      fail(ErrorKind::kUsage,
           "attention: relative positions are for self-attention: give the same tensor as "
           "query, key and value");
    }
    std::vector<int32_t> positions(static_cast<size_t>(x.value().size() / options.d_model));
    for (const AttentionSpan& span : layout.spans) {
      for (int32_t row = span.query_begin; row < span.query_end; ++row)
        positions[row] = row - span.query_begin;
    }
    const auto angles = angles_at(positions);
    return layer.forward_self(context, x, layout, mask, {.angles = angles ? &*angles : nullptr});
  }

  /// A forward pass for inference or training, as the context says. Inputs are (N, width) or (B, T, width).
  Var run(nn::Context& context, const Tensor (&given)[3], const ops::AttentionLayout& layout,
          const ops::AttentionMask& mask) {
    Pass now;
    Tensor inputs[3];
    for (int n = 0; n < 3; ++n) {
      // The same tensor given again is the same variable, so that one product projects it.
      int first = 0;
      while (!Var(given[first]).is_same_as(given[n])) ++first;
      inputs[n] = first < n ? inputs[first] : contiguous(given[n]);
      if (inputs[n].dtype() != options.dtype) {
        fail(ErrorKind::kShape, "attention: a layer of {} cannot take {}; convert it with to()",
             name_of(options.dtype), name_of(inputs[n].dtype()));
      }
      now.inputs[n] = first < n                 ? now.inputs[first]
                      : context.tape != nullptr ? tape.leaf(inputs[n])
                                                : Var(inputs[n]);
    }
    now.output = has_relative_positions()
                     ? run_with_positions(context, now.inputs, layout, mask)
                     : layer.forward(context, {now.inputs[0], now.inputs[1], now.inputs[2]}, layout, mask);
    Var output = now.output;
    now.output_shape = given[0].shape();  // which is (..., D), as the output is
    if (context.tape != nullptr) pass = std::move(now);
    return output;
  }

  AttentionResult padded(nn::Context context, const Tensor& query, const Tensor& key_input,
                         const Tensor& value, const AttentionOptions& wanted);
  PackedResult ragged(nn::Context context, const Tensor& query, const Tensor& key_input, const Tensor& value,
                      const PackedOptions& wanted);

  struct Pass {
    std::array<Var, 3> inputs;
    Var output;          // as rows (N, D)
    Shape output_shape;  // as the caller has it
  };

  MultiHeadAttentionOptions options;
  nn::ParameterTable table;
  nn::MultiHeadAttention layer;
  nn::ParameterArray values, gradients;
  std::unique_ptr<nn::PackedWeights> packed;
  RandomKey key;
  uint64_t steps = 0;
  Tape tape;
  std::optional<Pass> pass;  // the last one for training
};

AttentionResult MultiHeadAttention::Impl::padded(nn::Context context, const Tensor& query,
                                                 const Tensor& key_input, const Tensor& value,
                                                 const AttentionOptions& wanted) {
  const bool fit = query.rank() == 3 && key_input.rank() == 3 && value.rank() == 3 &&
                   key_input.dim(0) == query.dim(0) && value.dim(0) == query.dim(0) &&
                   value.dim(1) == key_input.dim(1) && query.dim(2) == options.d_model &&
                   key_input.dim(2) == options.key_width && value.dim(2) == options.value_width;
  if (!fit) {
    fail(ErrorKind::kShape,
         "attention: query (B, Tq, {}), key (B, Tk, {}) and value (B, Tk, {}) are needed, not {}, {} and {}",
         options.d_model, options.key_width, options.value_width, query.shape().to_string(),
         key_input.shape().to_string(), value.shape().to_string());
  }
  const int64_t batch = query.dim(0), queries = query.dim(1), keys = key_input.dim(1);
  if (wanted.padding.defined() && !(wanted.padding.shape() == Shape{batch, keys})) {
    fail(ErrorKind::kShape, "attention: the padding mask must be (B, Tk) = ({}, {}), not {}", batch, keys,
         wanted.padding.shape().to_string());
  }
  KeepWeights sink;
  if (wanted.weights) context.sink = &sink;
  const auto layout = ops::AttentionLayout::padded(batch, queries, keys);
  const Var output =
      run(context, {query, key_input, value}, layout, mask_of(wanted, 4));  // (B, Tq, D) as rows
  AttentionResult result{output.value().reshape(query.shape())};
  if (wanted.weights) result.weights = sink.weights().reshape({batch, options.heads, queries, keys});
  return result;
}

MultiHeadAttention::PackedResult MultiHeadAttention::Impl::ragged(nn::Context context, const Tensor& query,
                                                                  const Tensor& key_input,
                                                                  const Tensor& value,
                                                                  const PackedOptions& wanted) {
  const bool fit = query.rank() == 2 && key_input.rank() == 2 && value.rank() == 2 &&
                   value.dim(0) == key_input.dim(0) && query.dim(1) == options.d_model &&
                   key_input.dim(1) == options.key_width && value.dim(1) == options.value_width;
  if (!fit) {
    fail(ErrorKind::kShape,
         "attention: query (Nq, {}), key (Nk, {}) and value (Nk, {}) are needed, not {}, {} and {}",
         options.d_model, options.key_width, options.value_width, query.shape().to_string(),
         key_input.shape().to_string(), value.shape().to_string());
  }
  const auto layout =
      ops::AttentionLayout::packed(checked_offsets("query", wanted.query_offsets, query.dim(0)),
                                   checked_offsets("key", wanted.key_offsets, key_input.dim(0)));
  KeepWeights sink;
  if (wanted.weights) context.sink = &sink;
  const Var output = run(context, {query, key_input, value}, layout, {.causal = wanted.look_ahead});
  PackedResult result{output.value()};
  for (const AttentionSpan& span : layout.spans) {
    if (!wanted.weights) break;
    const Shape shape{options.heads, span.queries(), span.keys()};
    result.weights.push_back(
        sink.weights().narrow(0, options.heads * span.pairs_begin, shape.size()).reshape(shape));
  }
  return result;
}

MultiHeadAttention::MultiHeadAttention(const MultiHeadAttentionOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}
MultiHeadAttention::~MultiHeadAttention() = default;
MultiHeadAttention::MultiHeadAttention(MultiHeadAttention&&) noexcept = default;
MultiHeadAttention& MultiHeadAttention::operator=(MultiHeadAttention&&) noexcept = default;

const MultiHeadAttentionOptions& MultiHeadAttention::options() const {
  return impl_->options;
}

std::vector<std::string> MultiHeadAttention::parameter_names() const {
  std::vector<std::string> names;
  for (int row = 0; row < impl_->table.size(); ++row) names.push_back(impl_->table[row].name);
  return names;
}

Tensor MultiHeadAttention::parameter(const std::string& name) const {
  return impl_->values.view(impl_->table, {impl_->row_of(name), 1}).clone();
}

void MultiHeadAttention::set_parameter(const std::string& name, const Tensor& value) {
  const Tensor parameter = impl_->values.view(impl_->table, {impl_->row_of(name), 1});
  if (!(value.shape() == parameter.shape())) {
    fail(ErrorKind::kShape, "attention: {} is {}, not {}", name, parameter.shape().to_string(),
         value.shape().to_string());
  }
  const Tensor converted = value.to(parameter.dtype());
  std::copy_n(static_cast<const char*>(converted.bytes()),
              static_cast<size_t>(parameter.size()) * size_of(parameter.dtype()),
              static_cast<char*>(parameter.bytes()));
  impl_->packed = std::make_unique<nn::PackedWeights>(impl_->table, impl_->values);
}

AttentionResult MultiHeadAttention::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                            const AttentionOptions& options) const {
  return impl_->padded(impl_->inference_context(), query, key, value, options);
}

MultiHeadAttention::PackedResult MultiHeadAttention::forward_packed(const Tensor& query, const Tensor& key,
                                                                    const Tensor& value,
                                                                    const PackedOptions& options) const {
  return impl_->ragged(impl_->inference_context(), query, key, value, options);
}

AttentionResult MultiHeadAttention::forward_training(const Tensor& query, const Tensor& key,
                                                     const Tensor& value, const AttentionOptions& options) {
  return impl_->padded(impl_->training_context(), query, key, value, options);
}

MultiHeadAttention::PackedResult MultiHeadAttention::forward_packed_training(const Tensor& query,
                                                                             const Tensor& key,
                                                                             const Tensor& value,
                                                                             const PackedOptions& options) {
  return impl_->ragged(impl_->training_context(), query, key, value, options);
}

AttentionGradients MultiHeadAttention::backward(const Tensor& upstream) {
  if (!impl_->pass)
    fail(ErrorKind::kUsage, "attention: backward() must follow a forward_training() of its own");
  const Shape& expected = impl_->pass->output_shape;
  const DType dtype = impl_->pass->output.dtype();
  if (upstream.shape() != expected || upstream.dtype() != dtype) {
    fail(ErrorKind::kShape, "attention: the upstream gradient {} of {} must be as the output: {} of {}",
         upstream.shape().to_string(), name_of(upstream.dtype()), expected.to_string(), name_of(dtype));
  }
  const Impl::Pass pass = *std::exchange(impl_->pass, std::nullopt);
  impl_->tape.backward(pass.output, contiguous(upstream).reshape(pass.output.shape()));
  AttentionGradients gradients;
  Tensor* inputs[3] = {&gradients.query, &gradients.key, &gradients.value};
  for (int n = 0; n < 3; ++n) {
    int first = 0;
    while (!pass.inputs[first].is_same_as(pass.inputs[n])) ++first;
    if (first == n) *inputs[n] = impl_->tape.gradient(pass.inputs[n]);
  }
  for (int row = 0; row < impl_->table.size(); ++row) {
    gradients.parameters[impl_->table[row].name] = impl_->gradients.view(impl_->table, {row, 1}).clone();
  }
  impl_->tape.clear();
  return gradients;
}

}  // namespace heed
