// The parameters of a model: one table that describes them, and one array that holds them.
//
// The table drives allocation, initialization, import, export and `heed info`. The array is flat, so the
// optimizer needs one pass, and parameters that are registered one after the other can be used as one matrix.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "heed/tensor.h"

namespace heed::nn {

/// The initial values of a parameter.
struct Initialization {
  enum class Kind {
    kZeros,
    kOnes,
    kNormal,  ///< mean 0, standard deviation `value`
    kXavier,  ///< uniform in +-value sqrt(6 / (in + out)) (Glorot and Bengio, 2010)
  };
  Kind kind = Kind::kXavier;
  double value = 1;
};

/// One row of the table.
struct ParamSpec {
  std::string name;  ///< as in model.safetensors
  Shape shape;
  Initialization initialization;
  std::vector<std::string> aliases;  ///< other names of the parameter in files
  bool trained = true;               ///< false: not changed by the optimizer
  bool transposed = false;           ///< files hold the transpose: (in, out) instead of (out, in)
  /// Of a matrix (out, in) that may be kept in fewer bits (compact_parameters.h): how few. 8 where rows are
  /// of a vocabulary, on which what a model says depends most, otherwise 4. 32: no other form.
  int fewest_bits = 32;
  /// Of batch norm's running averages (nn/norms/batch_norm.h): how far they move towards those of an update.
  /// 0: the parameter is none.
  double momentum = 0;
  /// A row along the first axis that is initialized to zero and not trained as long as it is zero. -1: none.
  int64_t zero_row = -1;
};

/// Whether a parameter may be kept in fewer bits.
inline bool is_compressible(const ParamSpec& spec) {
  return spec.fewest_bits < 32 && spec.shape.rank() == 2;
}

/// Refers to rows [first, first + count) of a table as one parameter: stacked along the first axis.
struct ParamRef {
  int first = -1;
  int count = 1;
  bool defined() const { return first >= 0; }
  ParamRef slice(int begin, int rows) const { return {first + begin, rows}; }
};

/// A weight (out, in) and its bias, where it has one, of a product y = x W^T + b. Registered with the table,
/// so that packed weights are found by index.
struct ProductRef {
  ParamRef weight, bias;
  int index = -1;
  bool defined() const { return index >= 0; }
};

/// A tensor that files may hold although the model computes it: sinusoidal positions, a mask. If a file has
/// it, its values must be the computed ones.
struct ComputedTensor {
  std::string name;
  int64_t width = 1;  ///< of its last axis
  /// The first `size` elements, row-major, float32.
  std::function<Tensor(int64_t size)> values;
  double tolerance = 0;  ///< for files in 16 bits
};

class ParameterTable {
 public:
  /// Appends a row. Throws kUsage for a duplicate name.
  ParamRef add(ParamSpec spec);
  /// Registers a product of these parameters. Parameters may be part of several products, such as the query
  /// projection by itself and with those of keys and values; each is packed for itself where it is used.
  ProductRef add_product(ParamRef weight, ParamRef bias = {}) { return {weight, bias, products_++}; }
  int products() const { return products_; }

  /// Files may also hold tensors with this prefix, which the model does not use.
  void ignore_prefix(const std::string& prefix) { ignored_.push_back(prefix); }
  bool ignores(const std::string& name) const;
  /// Files may also hold this tensor, with these values.
  void expect(ComputedTensor tensor) { computed_.push_back(std::move(tensor)); }
  const std::vector<ComputedTensor>& computed() const { return computed_; }

  /// Changes the initialization of a row, or its form in files; its name and shape stay.
  void begin(int row, const Initialization& initialization) { specs_[row].initialization = initialization; }
  void set_transposed(int row) { specs_[row].transposed = true; }
  void set_fewest_bits(int row, int bits) { specs_[row].fewest_bits = bits; }
  void add_alias(int row, const std::string& name) { specs_[row].aliases.push_back(name); }
  void set_zero_row(int row, int64_t zero_row) { specs_[row].zero_row = zero_row; }

  int size() const { return static_cast<int>(specs_.size()); }
  const ParamSpec& operator[](int row) const { return specs_[row]; }
  /// The offset of a row in the flat array; that of row size() is the number of all elements.
  int64_t offset(int row) const { return offsets_[row]; }
  int64_t elements() const { return offsets_.back(); }
  /// The shape of a reference; its rows must agree in all axes but the first.
  Shape shape(ParamRef ref) const;

 private:
  std::vector<ParamSpec> specs_;
  std::vector<int64_t> offsets_{0};
  int products_ = 0;
  std::vector<std::string> ignored_;
  std::vector<ComputedTensor> computed_;
};

/// An array of the table's size: values, gradients, or anything else with one number per parameter element.
class ParameterArray {
 public:
  ParameterArray() = default;
  ParameterArray(const ParameterTable& table, DType dtype)
      : flat_(Tensor::zeros({table.elements()}, dtype)) {}

  /// Float32, uninitialized. Rows of the table for which `left_out` is true have no elements.
  static ParameterArray unset(const ParameterTable& table, const std::function<bool(int row)>& left_out = {});

  bool defined() const { return flat_.defined(); }
  const Tensor& flat() const { return flat_; }
  Tensor& flat() { return flat_; }
  /// A view. All rows of the reference must have elements.
  Tensor view(const ParameterTable& table, ParamRef ref) const;

 private:
  Tensor flat_;
  /// With rows left out: the offset of each row, -1 for those. Otherwise null, and the offsets are the
  /// table's.
  std::shared_ptr<const std::vector<int64_t>> offsets_;
};

/// Initializes every parameter as its row says; a function of the key alone.
void initialize(const ParameterTable& table, ParameterArray& values, RandomKey key);

/// Sets the gradients of zero rows (ParamSpec::zero_row) to 0 where all values of the row are 0. A row that a
/// file gave other values is trained.
void drop_gradients_of_zero_rows(const ParameterTable& table, const ParameterArray& values,
                                 ParameterArray& gradients);

}  // namespace heed::nn
