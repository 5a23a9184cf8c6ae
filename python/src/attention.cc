#include "heed/attention.h"

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
#include "heed/error.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace heed::python {
namespace {

/// The three inputs. The same array given again is the same tensor, so that self-attention projects it once.
struct Inputs {
  Inputs(const AnyArray& q, const AnyArray& k, const AnyArray& v)
      : query(to_tensor(q)), key(same(k, q) ? query : to_tensor(k)) {
    value = same(v, q) ? query : same(v, k) ? key : to_tensor(v);
  }

  static bool same(const AnyArray& a, const AnyArray& b) {
    if (a.data() != b.data() || a.ndim() != b.ndim() || !(a.dtype() == b.dtype())) return false;
    for (size_t axis = 0; axis < a.ndim(); ++axis) {
      if (a.shape(axis) != b.shape(axis) || a.stride(axis) != b.stride(axis)) return false;
    }
    return true;
  }

  Tensor query, key, value;
};

using Masks = std::optional<AnyArray>;

AttentionOptions options_of(const Masks& padding, bool look_ahead, const Masks& mask, const Masks& bias,
                            bool weights) {
  AttentionOptions options{.look_ahead = look_ahead, .weights = weights};
  if (padding) options.padding = to_tensor(*padding);
  if (mask) options.mask = to_tensor(*mask);
  if (bias) options.bias = to_tensor(*bias);
  return options;
}

nb::object pair_of(const AttentionResult& result) {
  return nb::make_tuple(to_numpy(result.output), to_numpy(result.weights));
}

nb::object pair_of(const MultiHeadAttention::PackedResult& result) {
  nb::list weights;
  for (const Tensor& each : result.weights) weights.append(to_numpy(each));
  return nb::make_tuple(to_numpy(result.output), weights);
}

template <typename Work>
auto without_gil(const Work& work) {
  const ShortWork off;
  return work();
}

PositionKind position_kind(const std::string& name) {
  static const std::vector<std::pair<std::string, PositionKind>> kinds{
      {"none", PositionKind::kNone},
      {"relative", PositionKind::kRelative},
      {"buckets", PositionKind::kBuckets},
      {"rotary", PositionKind::kRotary},
      {"rotary_interleaved", PositionKind::kRotaryInterleaved}};
  for (const auto& [known, kind] : kinds) {
    if (known == name) return kind;
  }
  throw Error(ErrorKind::kUsage,
              "positions must be none, relative, buckets, rotary or rotary_interleaved, not '" + name + "'");
}

DType layer_type(const std::string& name) {
  if (name == "float32") return DType::kFloat32;
  if (name == "float64") return DType::kFloat64;
  throw Error(ErrorKind::kUsage, "dtype must be float32 or float64, not '" + name + "'");
}

nb::object forward(MultiHeadAttention& self, bool training, bool look_ahead, bool weights,
                   const AnyArray& query, const AnyArray& key, const AnyArray& value, const Masks& padding,
                   const Masks& mask, const Masks& bias) {
  const Inputs in(query, key, value);
  const AttentionOptions options = options_of(padding, look_ahead, mask, bias, weights);
  return pair_of(without_gil([&] {
    return training ? self.forward_training(in.query, in.key, in.value, options)
                    : self.forward(in.query, in.key, in.value, options);
  }));
}

nb::object forward_packed(MultiHeadAttention& self, bool training, const std::vector<int64_t>& query_offsets,
                          const std::vector<int64_t>& key_offsets, bool look_ahead, bool weights,
                          const AnyArray& query, const AnyArray& key, const AnyArray& value) {
  const Inputs in(query, key, value);
  const MultiHeadAttention::PackedOptions options{query_offsets, key_offsets, look_ahead, weights};
  return pair_of(without_gil([&] {
    return training ? self.forward_packed_training(in.query, in.key, in.value, options)
                    : self.forward_packed(in.query, in.key, in.value, options);
  }));
}

}  // namespace

void bind_attention(nb::module_& m) {
  nb::class_<MultiHeadAttentionOptions>(m, "MultiHeadAttentionOptions")
      .def(nb::init<>())
      .def_rw("d_model", &MultiHeadAttentionOptions::d_model)
      .def_rw("heads", &MultiHeadAttentionOptions::heads)
      .def_rw("key_width", &MultiHeadAttentionOptions::key_width)
      .def_rw("value_width", &MultiHeadAttentionOptions::value_width)
      .def_rw("bias", &MultiHeadAttentionOptions::bias)
      .def_rw("dropout", &MultiHeadAttentionOptions::dropout)
      .def_rw("seed", &MultiHeadAttentionOptions::seed)
      .def("set_dtype",
           [](MultiHeadAttentionOptions& o, const std::string& name) { o.dtype = layer_type(name); })
      .def(
          "set_positions",
          [](MultiHeadAttentionOptions& o, const std::string& kind, int64_t max_relative_distance,
             int64_t buckets, int64_t bucket_max_distance, bool bidirectional, double rotary_base) {
            o.positions = {position_kind(kind), max_relative_distance, buckets,
                           bucket_max_distance, bidirectional,         rotary_base};
          },
          "kind"_a, "max_relative_distance"_a, "buckets"_a, "bucket_max_distance"_a, "bidirectional"_a,
          "rotary_base"_a);
  nb::class_<MultiHeadAttention>(m, "MultiHeadAttention")
      .def(nb::init<const MultiHeadAttentionOptions&>(), "options"_a)
      .def("parameter_names", &MultiHeadAttention::parameter_names)
      .def(
          "parameter",
          [](const MultiHeadAttention& self, const std::string& name) {
            return to_numpy(self.parameter(name));
          },
          "name"_a)
      .def(
          "set_parameter",
          [](MultiHeadAttention& self, const std::string& name, const AnyArray& value) {
            self.set_parameter(name, to_tensor(value));
          },
          "name"_a, "value"_a)
      .def("forward", &forward, "training"_a, "look_ahead"_a, "weights"_a, "query"_a, "key"_a, "value"_a,
           "padding"_a.none(), "mask"_a.none(), "bias"_a.none())
      .def("forward_packed", &forward_packed, "training"_a, "query_offsets"_a, "key_offsets"_a,
           "look_ahead"_a, "weights"_a, "query"_a, "key"_a, "value"_a)
      .def(
          "backward",
          [](MultiHeadAttention& self, const AnyArray& upstream) {
            const Tensor gradient = to_tensor(upstream);
            const AttentionGradients all = without_gil([&] { return self.backward(gradient); });
            nb::dict parameters;
            for (const auto& [name, value] : all.parameters) parameters[name.c_str()] = to_numpy(value);
            return nb::make_tuple(to_numpy(all.query), to_numpy(all.key), to_numpy(all.value), parameters);
          },
          "upstream"_a);
  m.def(
      "scaled_dot_product_attention",
      [](bool look_ahead, bool weights, double scale, const AnyArray& query, const AnyArray& key,
         const AnyArray& value, const Masks& padding, const Masks& mask, const Masks& bias) {
        const Inputs in(query, key, value);
        const AttentionOptions options = options_of(padding, look_ahead, mask, bias, weights);
        return pair_of(without_gil(
            [&] { return scaled_dot_product_attention(in.query, in.key, in.value, options, scale); }));
      },
      "look_ahead"_a, "weights"_a, "scale"_a, "query"_a, "key"_a, "value"_a, "padding"_a.none(),
      "mask"_a.none(), "bias"_a.none());
}

}  // namespace heed::python
