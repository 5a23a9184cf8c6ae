#include "models/model_weights.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/check.h"
#include "io/safetensors.h"
#include "io/weight_files.h"

namespace heed::models {
namespace {

constexpr char kMethod[] = "heed_int8";
constexpr int64_t kVersion = 1;

std::string scale_name(const nn::ParamSpec& spec) {
  return spec.name + "_scale";
}

bool is_kept_in(const nn::QuantizedParameters* quantized, int row) {
  return quantized != nullptr && quantized->holds({row, 1});
}

/// The name under which a file holds a parameter; empty where it does not.
std::string stored_name(const WeightFiles& files, const nn::ParamSpec& spec) {
  if (files.has(spec.name)) return spec.name;
  for (const std::string& alias : spec.aliases) {
    if (files.has(alias)) return alias;
  }
  return "";
}

/// Whether a file's tensor is a row's, which files may hold transposed. final_logits_bias is (1, V) there.
bool fits(const Shape& shape, const Shape& wanted) {
  return shape == wanted || (shape.rank() == wanted.rank() + 1 && shape[0] == 1 &&
                             std::equal(shape.begin() + 1, shape.end(), wanted.begin()));
}

Shape stored_shape(const nn::ParamSpec& spec) {
  return spec.transposed ? Shape{spec.shape[1], spec.shape[0]} : spec.shape;
}

/// Throws unless the files hold a tensor of this name and shape.
void require_tensor(const WeightFiles& files, const std::string& name, const Shape& wanted) {
  if (!files.has(name)) {
    fail(ErrorKind::kFormat,
         "'{}': config.json asks for a parameter '{}' of shape {}, but the weights do not hold it",
         files.directory(), name, wanted.to_string());
  }
  if (!fits(files.info(name).shape, wanted)) {
    fail(ErrorKind::kFormat, "'{}': config.json gives '{}' the shape {}, the weights hold {}",
         files.directory(), name, wanted.to_string(), files.info(name).shape.to_string());
  }
}

/// Throws unless the files hold a row, in its shape.
void require_row(const WeightFiles& files, const nn::ParamSpec& spec) {
  const std::string name = stored_name(files, spec);
  require_tensor(files, name.empty() ? spec.name : name, stored_shape(spec));
}

/// Throws for a tensor that is none of the table's, nor `known` otherwise. With `known`, of a quantised
/// directory, parameters have no other names.
void require_nothing_else(const WeightFiles& files, const nn::ParameterTable& table,
                          std::set<std::string> known = {}) {
  const bool aliases = known.empty();
  for (int row = 0; row < table.size(); ++row) {
    known.insert(table[row].name);
    if (aliases) known.insert(table[row].aliases.begin(), table[row].aliases.end());
  }
  for (const nn::ComputedTensor& each : table.computed()) known.insert(each.name);
  for (const std::string& name : files.names()) {
    if (known.count(name) == 0 && !table.leaves_out(name)) {
      fail(ErrorKind::kFormat,
           "'{}': the weights hold '{}', which this model does not have; do config.json and the "
           "weights belong together?",
           files.directory(), name);
    }
  }
}

std::vector<float> floats_of(const WeightFiles& files, const std::string& name) {
  return files.read(name).to_vector<float>();
}

/// Throws where the files hold one parameter under several names, with other values: other toolkits would use
/// one or another of them, or each in its place.
void require_equal_copies(const WeightFiles& files, const nn::ParamSpec& spec) {
  const std::string used = stored_name(files, spec);
  if (used.empty()) return;
  std::vector<float> values;
  for (const std::string& name : spec.aliases) {
    if (name == used || !files.has(name)) continue;
    require_tensor(files, name, stored_shape(spec));
    if (values.empty()) values = floats_of(files, used);
    if (floats_of(files, name) == values) continue;
    fail(ErrorKind::kFormat,
         "'{}': the weights hold '{}' and '{}', which are one parameter of this model, with different "
         "values; with matrices of their own, the model cannot be used here",
         files.directory(), used, name);
  }
}

/// Throws where the files hold a tensor that the model computes, with other values.
void require_computed(const WeightFiles& files, const nn::ComputedTensor& tensor) {
  if (!files.has(tensor.name)) return;
  const Shape& shape = files.info(tensor.name).shape;
  if ((shape.rank() == 0 ? 1 : shape[-1]) != tensor.width && tensor.width > 1) {
    fail(ErrorKind::kFormat, "'{}': the weights hold '{}' in the shape {}; config.json gives it rows of {}",
         files.directory(), tensor.name, shape.to_string(), tensor.width);
  }
  const std::vector<float> stored = floats_of(files, tensor.name);
  const std::vector<float> computed = tensor.values(shape.size()).to_vector<float>();
  for (size_t n = 0; n < stored.size(); ++n) {
    if (std::abs(stored[n] - computed[n]) <= tensor.tolerance) continue;
    fail(ErrorKind::kFormat,
         "'{}': the weights hold '{}', which this model computes, with other values ({} in place {}, not "
         "{}): it is not the model that config.json describes",
         files.directory(), tensor.name, stored[n], n, computed[n]);
  }
}

/// What is stored twice, or could be computed, must agree.
void require_agreement(const WeightFiles& files, const nn::ParameterTable& table) {
  for (int row = 0; row < table.size(); ++row) require_equal_copies(files, table[row]);
  for (const nn::ComputedTensor& each : table.computed()) require_computed(files, each);
}

/// Throws unless the files hold exactly what the table says, by names and shapes.
void require_tensors(const WeightFiles& files, const nn::ParameterTable& table, bool quantized) {
  std::set<std::string> scales;
  for (int row = 0; row < table.size(); ++row) {
    if (!quantized || !nn::QuantizedParameters::wants(table[row])) {
      require_row(files, table[row]);
      continue;
    }
    scales.insert(scale_name(table[row]));
    require_tensor(files, table[row].name, table[row].shape);
    require_tensor(files, scale_name(table[row]), {table[row].shape[0]});
  }
  require_nothing_else(files, table, std::move(scales));
}

/// (rows, columns) becomes (columns, rows), in place.
void transpose(float* matrix, const Shape& shape) {
  const int64_t rows = shape[0], columns = shape[1];
  const std::vector<float> before(matrix, matrix + rows * columns);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      matrix[column * rows + row] = before[row * columns + column];
    }
  }
}

/// A parameter as files hold it.
Tensor stored_form(const nn::ParamSpec& spec, Tensor value) {
  if (spec.name == "final_logits_bias") return value.reshape({1, value.size()});
  if (!spec.transposed) return value;
  value = value.clone();
  transpose(value.data<float>(), value.shape());
  return value.reshape({value.dim(1), value.dim(0)});
}

/// Throws for what is infinite or not a number.
void require_finite(const std::string& directory, const std::string& name, const float* values,
                    int64_t size) {
  constexpr int64_t kTogether = 4096;  // without a way out between them, which would keep them from vectors
  for (int64_t begin = 0; begin < size; begin += kTogether) {
    const int64_t end = std::min(begin + kTogether, size);
    uint32_t faults = 0;
    for (int64_t i = begin; i < end; ++i) {
      constexpr uint32_t kExponent = 0x7f800000;  // all of it set: infinite, or no number
      faults += (std::bit_cast<uint32_t>(values[i]) & kExponent) == kExponent ? 1 : 0;
    }
    for (int64_t i = begin; faults > 0 && i < end; ++i) {
      if (std::isfinite(values[i])) continue;
      fail(ErrorKind::kFormat, "'{}': the parameter '{}' holds {} at place {}", directory, name, values[i],
           i);
    }
  }
}

/// Reads a row that the files hold.
void read_row(const WeightFiles& files, const nn::ParamSpec& spec, float* values) {
  const std::string name = stored_name(files, spec);
  const Shape& shape = files.info(name).shape;
  files.read_into(name, values, shape);
  if (spec.transposed) transpose(values, shape);
  require_finite(files.directory(), spec.name, values, shape.size());
}

}  // namespace

void require_weights(const std::string& directory, const nn::ParameterTable& table, bool quantized) {
  require_tensors(WeightFiles::open(directory), table, quantized);
}

void read_weights(const std::string& directory, const nn::ParameterTable& table, nn::ParameterArray& values,
                  nn::QuantizedParameters* quantized) {
  const WeightFiles files = WeightFiles::open(directory);
  require_tensors(files, table, false);
  require_agreement(files, table);
  std::vector<float> matrix;  // one that is quantised at once
  for (int row = 0; row < table.size(); ++row) {
    if (!is_kept_in(quantized, row)) {
      read_row(files, table[row], values.view(table, {row, 1}).data<float>());
      continue;
    }
    matrix.resize(std::max(matrix.size(), static_cast<size_t>(table[row].shape.size())));
    read_row(files, table[row], matrix.data());
    quantized->quantize(row, matrix.data());
  }
}

std::vector<std::string> read_weights_over(const std::string& directory, const nn::ParameterTable& table,
                                           const std::vector<std::string>& anew, nn::ParameterArray& values) {
  const WeightFiles files = WeightFiles::open(directory);
  const auto may_begin_anew = [&](const std::string& name) {
    return std::ranges::any_of(anew, [&](const std::string& prefix) { return name.starts_with(prefix); });
  };
  require_agreement(files, table);
  std::vector<std::string> kept;
  for (int row = 0; row < table.size(); ++row) {
    const nn::ParamSpec& spec = table[row];
    const std::string name = stored_name(files, spec);
    const bool held = !name.empty() && fits(files.info(name).shape, stored_shape(spec));
    if (!held && may_begin_anew(spec.name)) {
      kept.push_back(spec.name);
      continue;
    }
    require_row(files, spec);
    read_row(files, spec, values.view(table, {row, 1}).data<float>());
  }
  if (anew.empty()) require_nothing_else(files, table);
  return kept;
}

void write_weights(const std::string& directory, const nn::ParameterTable& table,
                   const nn::ParameterArray& values, DType dtype) {
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (int row = 0; row < table.size(); ++row) {
    const Tensor value = stored_form(table[row], values.view(table, {row, 1}));
    tensors.emplace_back(table[row].name, dtype == DType::kFloat32 ? value : value.to(dtype));
  }
  write_safetensors_with_hashes(directory + "/model.safetensors", tensors, {{"format", "pt"}});
}

// ---- Quantised --------------------------------------------------------------------------------------------

bool is_quantized(const JsonObject& config) {
  if (!config.has("quantization_config")) return false;
  const JsonObject note = config.object("quantization_config");
  if (note.string("quant_method", "") != kMethod) {
    note.reject(
        "quant_method",
        fmt::format("{}, which heed quantize writes (of another toolkit's model, take the float weights)",
                    kMethod));
  }
  if (note.integer("version") != kVersion) {
    note.reject("version",
                fmt::format("{} (with this version of heed, quantise the float model again)", kVersion));
  }
  return true;
}

void note_quantization(nlohmann::ordered_json& config) {
  config["quantization_config"] = {{"quant_method", kMethod}, {"version", kVersion}};
}

void write_quantized_weights(const std::string& directory, const nn::ParameterTable& table,
                             const nn::ParameterArray& values, const nn::QuantizedParameters& quantized) {
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (int row = 0; row < table.size(); ++row) {
    const nn::ParamSpec& spec = table[row];
    if (is_kept_in(&quantized, row)) {
      const auto [bytes, scales, out, in] = quantized.matrix({row, 1});
      tensors.emplace_back(spec.name, Tensor::from(std::vector<int8_t>(bytes, bytes + out * in), {out, in}));
      tensors.emplace_back(scale_name(spec), Tensor::from(std::vector<float>(scales, scales + out), {out}));
    } else {
      tensors.emplace_back(spec.name, stored_form(spec, values.view(table, {row, 1})));
    }
  }
  write_safetensors_with_hashes(directory + "/model.safetensors", tensors, {{"format", "pt"}});
}

void read_quantized_weights(const std::string& directory, const nn::ParameterTable& table,
                            nn::ParameterArray& values, nn::QuantizedParameters& quantized) {
  const WeightFiles files = WeightFiles::open(directory);
  require_tensors(files, table, true);
  for (const nn::ComputedTensor& each : table.computed()) require_computed(files, each);
  for (int row = 0; row < table.size(); ++row) {
    const nn::ParamSpec& spec = table[row];
    if (!is_kept_in(&quantized, row)) {
      read_row(files, spec, values.view(table, {row, 1}).data<float>());
      continue;
    }
    const auto to = quantized.matrix({row, 1});
    files.read_into(spec.name, to.values, spec.shape);
    files.read_into(scale_name(spec), to.scales, {to.out});
    require_finite(directory, scale_name(spec), to.scales, to.out);
  }
}

}  // namespace heed::models
