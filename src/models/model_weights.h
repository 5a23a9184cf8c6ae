// The weights of a model directory: model.safetensors, in Hugging Face's names and shapes, and the same with
// matrices as 8-bit whole numbers.
//
// A quantised directory says so in its config.json, under "quantization_config", where toolkits that know
// nothing of it stumble over it instead of reading nonsense. A parameter X (out, in) that is quantised is
// stored as X, int8, (out, in), and X_scale, float32, (out); all others are stored as ever.
#pragma once

#include <string>
#include <vector>

#include "base/json_file.h"
#include "nn/parameters.h"
#include "nn/quantized_parameters.h"

namespace heed::models {

/// Writes the parameters as model.safetensors into `directory`, as float32 or rounded to 16 bits.
void write_weights(const std::string& directory, const nn::ParameterTable& table,
                   const nn::ParameterArray& values, DType dtype);
/// Throws kFormat unless a directory holds what the table says, by names and shapes, as 8-bit numbers where
/// `quantized`. Only headers are read: to be called before anything of the model's size is made.
void require_weights(const std::string& directory, const nn::ParameterTable& table, bool quantized);
/// Fills `values` from the weights of a directory; every row of the table must be there under its name or an
/// alias, in its shape, and nothing else but what the table leaves out or computes. What stands there under
/// several names, or is computed, must agree. Where `quantized` is not null, it
/// gets what it holds, and `values` is not touched there.
void read_weights(const std::string& directory, const nn::ParameterTable& table, nn::ParameterArray& values,
                  nn::QuantizedParameters* quantized = nullptr);

/// The same over values that are there, for a model that is trained further: rows whose name begins with one
/// of the prefixes `anew` keep their values where the weights do not hold them in that shape, and what the
/// weights hold besides is passed over. Returns the names of the rows that kept their values.
std::vector<std::string> read_weights_over(const std::string& directory, const nn::ParameterTable& table,
                                           const std::vector<std::string>& anew, nn::ParameterArray& values);

/// Whether a config.json is that of a quantised directory. Throws kFormat for a way of quantising that is not
/// known here.
bool is_quantized(const JsonObject& config);
/// Notes it in a config.json that write_quantized_weights() goes with.
void note_quantization(nlohmann::ordered_json& config);

void write_quantized_weights(const std::string& directory, const nn::ParameterTable& table,
                             const nn::ParameterArray& values, const nn::QuantizedParameters& quantized);
/// As read_weights().
void read_quantized_weights(const std::string& directory, const nn::ParameterTable& table,
                            nn::ParameterArray& values, nn::QuantizedParameters& quantized);

}  // namespace heed::models
