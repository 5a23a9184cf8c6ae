#include "models/directory/model_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/check.h"
#include "io/safetensors/safetensors.h"
#include "models/directory/model_directory.h"
#include "models/stacks/transpose.h"
#include "nn/positions/sinusoids.h"
#include "tensor/finite.h"
#include "tensor/half.h"

namespace heed::models {
namespace {

constexpr int64_t kVersion = 1;

/// What "quant_method" of a config.json says.
std::string method_name(int bits) {
  return fmt::format("heed_int{}", bits);
}

constexpr std::string_view kLogitsBias = "final_logits_bias";

/// The scales of a parameter X are stored as X_scale.
constexpr std::string_view kScale = "_scale", kMinimum = "_min";

std::string name_of_part(const std::string& name, std::string_view part) {
  return name + std::string(part);
}

/// A tensor in which a quantized directory stores a parameter, or part of one.
struct QuantizedTensor {
  std::string name;
  Shape shape;
  DType dtype;
  void* data = nullptr;  ///< where the weights are in memory; null if only names and shapes are asked for
};

/// The tensors of a parameter, called `name` in a directory of `bits`, 8 or 4, as model_weights.h describes
/// them.
std::vector<QuantizedTensor> quantized_tensors(const nn::ParamSpec& spec, const std::string& name, int bits) {
  const int64_t out = spec.shape[0], in = spec.shape[1];
  if (nn::QuantizedParameters::bits_of(spec, bits) == 8) {
    return {{name, spec.shape, DType::kInt8}, {name_of_part(name, kScale), {out}, DType::kFloat32}};
  }
  const Shape groups{out, in / kInt4Group};
  return {{name, {out, in / 2}, DType::kInt8},
          {name_of_part(name, kScale), groups, DType::kFloat16},
          {name_of_part(name, kMinimum), groups, DType::kFloat16}};
}
/// The same with their data.
std::vector<QuantizedTensor> quantized_tensors(const nn::ParamSpec& spec, const std::string& name, int row,
                                               const nn::QuantizedParameters& quantized) {
  std::vector<QuantizedTensor> tensors = quantized_tensors(spec, name, quantized.bits());
  if (quantized.bits_of(row) == 8) {
    const auto matrix = quantized.matrix({row, 1});
    tensors[0].data = matrix.values;
    tensors[1].data = matrix.scales;
  } else {
    const Int4Rows rows = quantized.int4_rows({row, 1});
    tensors[0].data = rows.values;
    tensors[1].data = rows.scales;
    tensors[2].data = rows.minima;
  }
  return tensors;
}

bool is_kept_in(const nn::CompactParameters* compact, int row) {
  return compact != nullptr && compact->holds_row(row);
}

/// The name of a parameter in the files; empty if missing.
std::string stored_name(const WeightFiles& files, const nn::ParamSpec& spec) {
  if (files.has(spec.name)) return spec.name;
  for (const std::string& alias : spec.aliases) {
    if (files.has(alias)) return alias;
  }
  return "";
}
/// The same; a missing parameter goes by its own name.
std::string expected_name(const WeightFiles& files, const nn::ParamSpec& spec) {
  const std::string name = stored_name(files, spec);
  return name.empty() ? spec.name : name;
}

/// Whether the shapes match; files may store matrices transposed, and final_logits_bias as (1, V).
bool fits(const Shape& shape, const Shape& wanted) {
  return shape == wanted || (shape.rank() == wanted.rank() + 1 && shape[0] == 1 &&
                             std::equal(shape.begin() + 1, shape.end(), wanted.begin()));
}

Shape stored_shape(const nn::ParamSpec& spec) {
  return spec.transposed ? Shape{spec.shape[1], spec.shape[0]} : spec.shape;
}

/// Throws unless the files contain a tensor of this name and shape.
void require_tensor(const WeightFiles& files, const std::string& name, const Shape& wanted) {
  if (!files.has(name)) {
    fail(ErrorKind::kFormat,
         "'{}': the parameter '{}' of shape {}, required by config.json, is missing in the weights",
         files.directory(), name, wanted.to_string());
  }
  if (!fits(files.info(name).shape, wanted)) {
    fail(ErrorKind::kFormat, "'{}': '{}' has the shape {} by config.json, but {} in the weights",
         files.directory(), name, wanted.to_string(), files.info(name).shape.to_string());
  }
}

/// A parameter that is zero if the files lack it, as in transformers.
bool may_be_missing(const nn::ParamSpec& spec) {
  return spec.name == kLogitsBias;
}

/// Throws unless the files contain a parameter with its shape.
void require_row(const WeightFiles& files, const nn::ParamSpec& spec) {
  if (stored_name(files, spec).empty() && may_be_missing(spec)) return;
  require_tensor(files, expected_name(files, spec), stored_shape(spec));
}

/// Old versions of other toolkits stored the positions 0, 1, 2, ... of embeddings beside the weights.
bool is_position_count(const TensorInfo& tensor) {
  return tensor.name.ends_with("position_ids") && tensor.readable && tensor.dtype == DType::kInt64;
}

/// All names that parameters may have in files.
std::set<std::string> possible_names(const nn::ParameterTable& table) {
  std::set<std::string> names;
  for (int row = 0; row < table.size(); ++row) {
    names.insert(table[row].name);
    names.insert(table[row].aliases.begin(), table[row].aliases.end());
  }
  return names;
}

/// Throws for a tensor that is neither `known` nor one that the table computes or leaves out.
void require_nothing_else(const WeightFiles& files, const nn::ParameterTable& table,
                          std::set<std::string> known) {
  for (const nn::ComputedTensor& each : table.computed()) known.insert(each.name);
  for (const std::string& name : files.names()) {
    if (known.count(name) == 0 && !table.ignores(name) && !is_position_count(files.info(name))) {
      fail(ErrorKind::kFormat,
           "'{}': the weights contain '{}', which is not a parameter of this model; check that config.json "
           "belongs to the weights",
           files.directory(), name);
    }
  }
}

std::vector<float> floats_of(const WeightFiles& files, const std::string& name) {
  return files.read(name).to_vector<float>();
}

/// Whether two tensors of the same size have the same values. Compares parts, so that two copies of a large
/// embedding are never in memory.
bool have_equal_values(const WeightFiles& files, const std::string& one, const std::string& other) {
  constexpr int64_t kTogether = int64_t{1} << 22;
  const int64_t size = files.info(one).shape.size();
  const auto part = [&](const std::string& name, int64_t begin, int64_t count) {
    Tensor stored = Tensor::empty({count}, files.info(name).dtype);
    files.read_part(name, begin, count, stored.bytes());
    return stored.to_vector<float>();
  };
  for (int64_t begin = 0; begin < size; begin += kTogether) {
    const int64_t count = std::min(kTogether, size - begin);
    if (part(one, begin, count) != part(other, begin, count)) return false;
  }
  return true;
}

/// What to do about two copies with different values: which key of config.json unties them, if one does.
std::string how_to_untie(const std::string& directory, const std::string& one, const std::string& other) {
  const auto is_output = [](const std::string& name) {
    return name.starts_with("lm_head") || name.starts_with("vocab_projector") ||
           name.ends_with("decoder.weight");
  };
  const auto is_input = [](const std::string& name) {
    return name.ends_with("embed_tokens.weight") || name.ends_with("shared.weight");
  };
  constexpr const char* kForm = "If they are meant to differ, config.json must say \"{}\": false";
  const bool bias = one.ends_with("bias") || other.ends_with("bias");
  if (!bias && (is_output(one) || is_output(other))) return fmt::format(kForm, "tie_word_embeddings");
  const std::string type = ModelDirectory::open(directory).config().string("model_type", "");
  const std::vector<std::string> always_shared{"bart", "m2m_100", "mbart", "t5"};
  if (is_input(one) && is_input(other) && std::ranges::count(always_shared, type) == 0) {
    return fmt::format(kForm, "share_encoder_decoder_embeddings");
  }
  return fmt::format("In models of the type '{}' they are always the same: get the files again", type);
}

/// Throws if the files contain one parameter under several names with different values, since other toolkits
/// would use either of them, or each separately.
void require_equal_copies(const WeightFiles& files, const nn::ParamSpec& spec) {
  const std::string used = stored_name(files, spec);
  if (used.empty()) return;
  for (const std::string& name : spec.aliases) {
    if (name == used || !files.has(name)) continue;
    require_tensor(files, name, stored_shape(spec));
    if (!files.info(used).readable || !files.info(name).readable) continue;  // refused when it is read
    if (have_equal_values(files, used, name)) continue;
    fail(ErrorKind::kFormat,
         "'{}': the weights contain '{}' and '{}', which are tied in this model, with different values; "
         "which of them other toolkits use varies. {}",
         files.directory(), used, name, how_to_untie(files.directory(), used, name));
  }
}

/// Throws if the files contain other values for a tensor that the model computes.
void require_computed(const WeightFiles& files, const nn::ComputedTensor& tensor) {
  if (!files.has(tensor.name)) return;
  const Shape& shape = files.info(tensor.name).shape;
  if ((shape.rank() == 0 ? 1 : shape[-1]) != tensor.width && tensor.width > 1) {
    fail(ErrorKind::kFormat, "'{}': '{}' has the shape {} in the weights, but rows of {} by config.json",
         files.directory(), tensor.name, shape.to_string(), tensor.width);
  }
  const std::vector<float> stored = floats_of(files, tensor.name);
  const std::vector<float> computed = tensor.values(shape.size()).to_vector<float>();
  for (size_t n = 0; n < stored.size(); ++n) {
    if (std::abs(stored[n] - computed[n]) <= tensor.tolerance) continue;
    fail(ErrorKind::kFormat,
         "'{}': the values of '{}' in the weights differ from those that this model computes ({} at index "
         "{}, not {}): config.json describes another model",
         files.directory(), tensor.name, stored[n], n, computed[n]);
  }
}

/// Checks duplicate and computed tensors.
void require_agreement(const WeightFiles& files, const nn::ParameterTable& table) {
  for (int row = 0; row < table.size(); ++row) require_equal_copies(files, table[row]);
  for (const nn::ComputedTensor& each : table.computed()) require_computed(files, each);
}

/// Calls visit(tensor, positions) for the sinusoidal positions that the files hold, which may be rounded to
/// 16 bits.
template <typename Visit>
void visit_stored_positions(const WeightFiles& files, const nn::ParameterTable& table, const Visit& visit) {
  for (const nn::ComputedTensor& each : table.computed()) {
    const auto* positions = each.values.target<nn::SinusoidalPositions>();
    if (positions != nullptr && files.has(each.name)) visit(each, *positions);
  }
}

/// Computes with the sinusoidal positions that the files hold.
void use_stored_positions(const WeightFiles& files, const nn::ParameterTable& table) {
  visit_stored_positions(files, table,
                         [&](const nn::ComputedTensor& each, const nn::SinusoidalPositions& positions) {
                           const Tensor rows = files.read(each.name).to(DType::kFloat32);
                           positions.store(rows.reshape({rows.size() / each.width, each.width}));
                         });
}

/// Throws unless names and shapes of the files match the table exactly.
/// `bits`: 8 or 4 for a quantized directory, which holds every parameter once, under any of its names;
/// otherwise 0.
void require_tensors(const WeightFiles& files, const nn::ParameterTable& table, int bits) {
  std::set<std::string> known;
  if (bits == 0) known = possible_names(table);
  for (int row = 0; row < table.size(); ++row) {
    const std::string name = expected_name(files, table[row]);
    if (bits == 0 || nn::QuantizedParameters::bits_of(table[row], bits) == 0) {
      require_row(files, table[row]);
      known.insert(name);
      continue;
    }
    for (const QuantizedTensor& tensor : quantized_tensors(table[row], name, bits)) {
      require_tensor(files, tensor.name, tensor.shape);
      known.insert(tensor.name);
    }
  }
  require_nothing_else(files, table, std::move(known));
}

/// Transposes (rows, columns) in place.
template <typename T>
void transpose(T* matrix, const Shape& shape) {
  const std::vector<T> before(matrix, matrix + shape.size());
  transpose_columns(before.data(), shape, 0, shape[1], matrix);
}

/// A parameter in the format of files.
Tensor stored_form(const nn::ParamSpec& spec, Tensor value) {
  if (!spec.transposed) return value.reshape(shape_in_files(spec.name, value.shape()));
  value = value.clone();
  transpose(value.data<float>(), value.shape());
  return value.reshape({value.dim(1), value.dim(0)});
}

[[noreturn]] void fail_not_finite(const std::string& directory, const std::string& name, float value,
                                  size_t at) {
  fail(ErrorKind::kFormat, "'{}': the parameter '{}' contains {} at index {}", directory, name, value, at);
}

void require_finite(const std::string& directory, const std::string& name, const float* values,
                    int64_t size) {
  const auto count = static_cast<size_t>(size);
  const size_t at = first_not_finite(values, count);
  if (at < count) fail_not_finite(directory, name, values[at], at);
}

/// Reads one parameter.
void read_row(const WeightFiles& files, const nn::ParamSpec& spec, float* values) {
  const std::string name = stored_name(files, spec);
  if (name.empty() && may_be_missing(spec)) {
    std::fill_n(values, spec.shape.size(), 0.0F);
    return;
  }
  const Shape& shape = files.info(name).shape;
  files.read_into(name, values, shape);
  if (spec.transposed) transpose(values, shape);
  require_finite(files.directory(), spec.name, values, shape.size());
}

void require_finite(const std::string& directory, const std::string& name, const uint16_t* values,
                    int64_t size, DType dtype) {
  const bool bfloat = dtype == DType::kBFloat16;
  const auto count = static_cast<size_t>(size);
  const size_t at = (bfloat ? first_not_finite_bfloat : first_not_finite_half)(values, count);
  if (at < count) {
    fail_not_finite(directory, name, (bfloat ? bfloat_to_float : half_to_float)(values[at]), at);
  }
}

/// Reads one parameter in 16 bits.
void read_half_row(const WeightFiles& files, const nn::ParamSpec& spec, DType dtype, uint16_t* values) {
  const std::string name = stored_name(files, spec);
  const Shape& shape = files.info(name).shape;
  files.read_into(name, values, dtype, shape);
  if (spec.transposed) transpose(values, shape);
  require_finite(files.directory(), spec.name, values, shape.size(), dtype);
}

/// Reads a tensor of a quantized directory.
void read_quantized(const WeightFiles& files, const QuantizedTensor& to) {
  switch (to.dtype) {
    case DType::kInt8:
      return files.read_into(to.name, static_cast<int8_t*>(to.data), to.shape);
    case DType::kFloat16: {
      auto* const halves = static_cast<uint16_t*>(to.data);
      if (const TensorInfo& stored = files.info(to.name); stored.dtype != to.dtype) {
        fail(ErrorKind::kFormat, "'{}': the tensor '{}' has the type {}, expected F16", files.directory(),
             to.name, stored.type);
      }
      files.read_into(to.name, halves, to.dtype, to.shape);
      return require_finite(files.directory(), to.name, halves, to.shape.size(), to.dtype);
    }
    default: {
      auto* const floats = static_cast<float*>(to.data);
      files.read_into(to.name, floats, to.shape);
      return require_finite(files.directory(), to.name, floats, to.shape.size());
    }
  }
}

/// The first value of a part of a parameter, beginning at `begin` in the file, that is not finite, is an
/// error.
[[noreturn]] void fail_not_finite(const WeightFiles& files, const nn::ParamSpec& spec, float value,
                                  int64_t begin, size_t at) {
  auto index = static_cast<size_t>(begin) + at;
  if (spec.transposed) {
    const auto rows = static_cast<size_t>(spec.shape[0]), columns = static_cast<size_t>(spec.shape[1]);
    index = index % rows * columns + index / rows;
  }
  fail_not_finite(files.directory(), spec.name, value, index);
}

/// Checks the values of a parameter and calls visit(values, count) for them, part by part, in the order of
/// the file.
template <typename Visit>
void visit_row(const WeightFiles& files, const nn::ParamSpec& spec, Visit visit) {
  files.visit_floats(stored_name(files, spec), [&](int64_t begin, const float* values, int64_t count) {
    const size_t at = first_not_finite(values, static_cast<size_t>(count));
    if (at < static_cast<size_t>(count)) fail_not_finite(files, spec, values[at], begin, at);
    visit(values, count);
  });
}
/// The same for a parameter that is stored in 16 bits.
template <typename Visit>
void visit_half_row(const WeightFiles& files, const nn::ParamSpec& spec, bool bfloat, Visit visit) {
  files.visit_halves(stored_name(files, spec), [&](int64_t begin, const uint16_t* values, int64_t count) {
    const auto size = static_cast<size_t>(count);
    const size_t at = bfloat ? first_not_finite_bfloat(values, size) : first_not_finite_half(values, size);
    if (at < size) {
      const float value = bfloat ? bfloat_to_float(values[at]) : half_to_float(values[at]);
      fail_not_finite(files, spec, value, begin, at);
    }
    visit(values, count);
  });
}

/// Makes rows of `in` values of parts of a parameter: calls use(first row, rows, values) for whole rows.
template <typename T, typename Use>
class WholeRows {
 public:
  WholeRows(int64_t in, Use use) : in_(in), use_(std::move(use)) {}

  void operator()(const T* values, int64_t count) {
    if (!waiting_.empty()) {  // part of a row
      const int64_t missing = std::min(in_ - static_cast<int64_t>(waiting_.size()), count);
      waiting_.insert(waiting_.end(), values, values + missing);
      values += missing;
      count -= missing;
      if (static_cast<int64_t>(waiting_.size()) < in_) return;
      use(waiting_.data(), 1);
      waiting_.clear();
    }
    use(values, count / in_);
    waiting_.assign(values + count / in_ * in_, values + count);
  }

 private:
  void use(const T* values, int64_t rows) {
    use_(done_, rows, values);
    done_ += rows;
  }

  int64_t in_, done_ = 0;
  Use use_;
  std::vector<T> waiting_;
};

/// Quantizes a parameter some rows at a time, so that a large matrix is never in memory in float32.
void quantize_row(const WeightFiles& files, const nn::ParameterTable& table, int row,
                  nn::QuantizedParameters& quantized) {
  const nn::ParamSpec& spec = table[row];
  const int64_t in = spec.shape[1];
  if (spec.transposed || in == 0) {
    std::vector<float> all(static_cast<size_t>(spec.shape.size()));
    read_row(files, spec, all.data());
    return quantized.quantize(row, all.data());
  }
  const TensorInfo& stored = files.info(stored_name(files, spec));
  const bool bfloat = stored.dtype == DType::kBFloat16;
  if (stored.readable && (bfloat || stored.dtype == DType::kFloat16)) {
    const auto quantize = [&](int64_t begin, int64_t rows, const uint16_t* values) {
      quantized.quantize_rows(row, begin, {values, rows, in, bfloat});
    };
    visit_half_row(files, spec, bfloat, WholeRows<uint16_t, decltype(quantize)>(in, quantize));
  } else {
    const auto quantize = [&](int64_t begin, int64_t rows, const float* values) {
      quantized.quantize_rows(row, begin, rows, values);
    };
    visit_row(files, spec, WholeRows<float, decltype(quantize)>(in, quantize));
  }
}

}  // namespace

Shape shape_in_files(const std::string& name, const Shape& shape) {
  return name == kLogitsBias ? Shape{1, shape.size()} : shape;
}

std::optional<DType> stored_matrix_type(const WeightFiles& files, const nn::ParameterTable& table) {
  std::optional<DType> common;
  for (int row = 0; row < table.size(); ++row) {
    if (!nn::is_compressible(table[row])) continue;
    const std::string name = stored_name(files, table[row]);
    if (name.empty() || !files.info(name).readable) return {};
    const DType dtype = files.info(name).dtype;
    if (common.value_or(dtype) != dtype) return {};
    common = dtype;
  }
  return common;
}

std::unique_ptr<FileParameters> file_parameters(std::shared_ptr<const WeightFiles> files,
                                                const nn::ParameterTable& table) {
  std::vector<std::string> names(static_cast<size_t>(table.size()));
  for (int row = 0; row < table.size(); ++row) {
    if (!nn::is_compressible(table[row])) continue;
    names[static_cast<size_t>(row)] = stored_name(*files, table[row]);
    if (!files->has_cheap_parts(names[static_cast<size_t>(row)])) return nullptr;
  }
  return std::make_unique<FileParameters>(table, std::move(files), std::move(names));
}

void require_weights(const WeightFiles& files, const nn::ParameterTable& table, int quantized_bits) {
  require_tensors(files, table, quantized_bits);
}

void require_equal_copies(const WeightFiles& files, const nn::ParameterTable& table) {
  require_agreement(files, table);
}

void read_weights(const WeightFiles& files, const nn::ParameterTable& table, nn::ParameterArray& values,
                  const CompactWeights& compact) {
  const auto& [quantized, half, in_files] = compact;
  require_tensors(files, table, 0);
  require_agreement(files, table);
  use_stored_positions(files, table);
  for (int row = 0; row < table.size(); ++row) {
    if (is_kept_in(in_files, row)) {
      visit_row(files, table[row], [](const float*, int64_t) {});
      continue;
    }
    if (is_kept_in(half, row)) {
      read_half_row(files, table[row], half->dtype(), half->elements(row));
      half->arrange(row);
      continue;
    }
    if (is_kept_in(quantized, row)) {
      quantize_row(files, table, row, *quantized);
    } else {
      read_row(files, table[row], values.view(table, {row, 1}).data<float>());
    }
  }
}

std::vector<std::string> read_weights_over(const WeightFiles& files, const nn::ParameterTable& table,
                                           const std::vector<std::string>& new_prefixes,
                                           nn::ParameterArray& values) {
  const auto may_be_new = [&](const std::string& name) {
    return std::ranges::any_of(new_prefixes,
                               [&](const std::string& prefix) { return name.starts_with(prefix); });
  };
  require_agreement(files, table);
  std::vector<std::string> kept;
  for (int row = 0; row < table.size(); ++row) {
    const nn::ParamSpec& spec = table[row];
    const std::string name = stored_name(files, spec);
    const bool held = !name.empty() && fits(files.info(name).shape, stored_shape(spec));
    if (!held && may_be_new(spec.name)) {
      kept.push_back(spec.name);
      continue;
    }
    require_row(files, spec);
    read_row(files, spec, values.view(table, {row, 1}).data<float>());
  }
  if (new_prefixes.empty()) require_nothing_else(files, table, possible_names(table));
  return kept;
}

void write_weights(const std::string& directory, const nn::ParameterTable& table,
                   const nn::ParameterArray& values, DType dtype) {
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (int row = 0; row < table.size(); ++row) {
    const Tensor value = stored_form(table[row], values.view(table, {row, 1}));
    tensors.emplace_back(table[row].name, dtype == DType::kFloat32 ? value : value.to(dtype));
  }
  write_safetensors_with_hashes(directory + "/" + model_file::kSafetensors, tensors, {{"format", "pt"}});
}

// ---- Quantised --------------------------------------------------------------------------------------------

int quantized_bits(const JsonObject& config) {
  if (!config.has("quantization_config")) return 0;
  const JsonObject note = config.object("quantization_config");
  const std::string method = note.string("quant_method", "");
  if (method != method_name(8) && method != method_name(4)) {
    note.reject("quant_method",
                fmt::format("{} or {}, the formats of heed quantize (use the float weights of another "
                            "toolkit's model)",
                            method_name(8), method_name(4)));
  }
  if (note.integer("version") != kVersion) {
    note.reject("version",
                fmt::format("{} (quantize the float model again with this version of Heed)", kVersion));
  }
  return method == method_name(4) ? 4 : 8;
}

void note_quantization(nlohmann::ordered_json& config, int bits) {
  config["quantization_config"] = {{"quant_method", method_name(bits)}, {"version", kVersion}};
}

bool is_part_of_quantized(const WeightFiles& files, const std::string& name) {
  return std::ranges::any_of(std::array{kScale, kMinimum}, [&](std::string_view part) {
    return name.ends_with(part) && files.has(name.substr(0, name.size() - part.size()));
  });
}

bool is_in_4_bits(const WeightFiles& files, const std::string& name) {
  return files.has(name_of_part(name, kScale)) && files.has(name_of_part(name, kMinimum));
}

void write_quantized_weights(const std::string& directory, const nn::ParameterTable& table,
                             const nn::ParameterArray& values, const nn::QuantizedParameters& quantized,
                             const WeightFiles& original) {
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (int row = 0; row < table.size(); ++row) {
    const nn::ParamSpec& spec = table[row];
    if (!is_kept_in(&quantized, row)) {
      tensors.emplace_back(spec.name, stored_form(spec, values.view(table, {row, 1})));
      continue;
    }
    for (const QuantizedTensor& each : quantized_tensors(spec, spec.name, row, quantized)) {
      Tensor tensor = Tensor::empty(each.shape, each.dtype);
      std::memcpy(tensor.bytes(), each.data, static_cast<size_t>(each.shape.size()) * size_of(each.dtype));
      tensors.emplace_back(each.name, tensor);
    }
  }
  visit_stored_positions(original, table, [&](const nn::ComputedTensor& each, const auto&) {
    tensors.emplace_back(each.name, original.read(each.name));
  });
  write_safetensors_with_hashes(directory + "/" + model_file::kSafetensors, tensors, {{"format", "pt"}});
}

void read_quantized_weights(const WeightFiles& files, const nn::ParameterTable& table,
                            nn::ParameterArray& values, nn::QuantizedParameters& quantized) {
  require_tensors(files, table, quantized.bits());
  for (const nn::ComputedTensor& each : table.computed()) require_computed(files, each);
  use_stored_positions(files, table);
  for (int row = 0; row < table.size(); ++row) {
    const nn::ParamSpec& spec = table[row];
    if (!is_kept_in(&quantized, row)) {
      read_row(files, spec, values.view(table, {row, 1}).data<float>());
      continue;
    }
    const std::string name = expected_name(files, spec);
    for (const QuantizedTensor& to : quantized_tensors(spec, name, row, quantized)) read_quantized(files, to);
  }
}

}  // namespace heed::models
