// The weights of a model directory: model.safetensors with Hugging Face's names and shapes, in float or
// quantized.
//
// The config.json of a quantized directory has "quantization_config", so that other toolkits fail instead of
// misinterpreting the weights. A parameter X (out, in) in 8 bits is stored as X, int8, (out, in), and
// X_scale, float32, (out). One in 4 bits is stored as X, bytes of two numbers, (out, in / 2), and X_scale and
// X_min, float16, (out, in / 32). All others are stored as floats.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/text/json_file.h"
#include "io/weight_files.h"
#include "models/directory/file_parameters.h"
#include "nn/storage/half_parameters.h"
#include "nn/storage/parameters.h"
#include "nn/storage/quantized_parameters.h"

namespace heed::models {

/// The shape in which a file holds a tensor of this name. transformers has final_logits_bias as (1, V) and
/// opens no file with (V), in which other formats store it; Heed reads both.
Shape shape_in_files(const std::string& name, const Shape& shape);

/// Writes the parameters to `directory`/model.safetensors, as float32 or rounded to 16 bits.
void write_weights(const std::string& directory, const nn::ParameterTable& table,
                   const nn::ParameterArray& values, DType dtype);
/// Throws kFormat unless the weights of a directory match the table by name and shape, and by type if
/// they are quantized (`quantized_bits` is 8 or 4, not 0). Only reads headers; call it before allocating
/// memory for the model.
void require_weights(const WeightFiles& files, const nn::ParameterTable& table, int quantized_bits);
/// Throws kFormat if a parameter is stored under several names with different values, or a tensor that the
/// model computes with other values. Reads these tensors, one at a time.
void require_equal_copies(const WeightFiles& files, const nn::ParameterTable& table);
/// Where weights are kept that are not in a ParameterArray; null: nowhere.
struct CompactWeights {
  nn::QuantizedParameters* quantized = nullptr;
  nn::HalfParameters* half = nullptr;
  const FileParameters* in_files = nullptr;
};

/// Reads weights into `values`. Every parameter must be there, under its name or an alias,
/// with its shape, and no other tensor except those that the table leaves out or computes. Copies under
/// several names and computed tensors must agree. If `quantized` is not null, the parameters that it covers
/// are quantized into it instead; if `half` is not null, those that it covers are read into it as they are
/// stored, which must be in its type; those that `in_files` covers are only checked.
void read_weights(const WeightFiles& files, const nn::ParameterTable& table, nn::ParameterArray& values,
                  const CompactWeights& compact = {});
/// The type in which the files hold all matrices that may be kept in fewer bits; empty if there are several.
std::optional<DType> stored_matrix_type(const WeightFiles& files, const nn::ParameterTable& table);
/// For float32 matrices that stay in the files. Null unless parts of each can be read.
std::unique_ptr<FileParameters> file_parameters(std::shared_ptr<const WeightFiles> files,
                                                const nn::ParameterTable& table);

/// For fine-tuning: reads weights over initialized `values`. Parameters with one of the prefixes
/// `new_prefixes` keep their values if the weights lack them in that shape; additional tensors are ignored.
/// Returns the names of the parameters that kept their values.
std::vector<std::string> read_weights_over(const WeightFiles& files, const nn::ParameterTable& table,
                                           const std::vector<std::string>& new_prefixes,
                                           nn::ParameterArray& values);

/// The bits of a quantized directory, 8 or 4, by its config.json; 0 for one in floats. Throws kFormat for an
/// unsupported quantization.
int quantized_bits(const JsonObject& config);
/// Adds the "quantization_config" for write_quantized_weights() to a config.json.
void note_quantization(nlohmann::ordered_json& config, int bits);

/// Whether a tensor holds scales or minima of a quantized one in the same files.
bool is_part_of_quantized(const WeightFiles& files, const std::string& name);
/// Whether a tensor holds a parameter in 4 bits.
bool is_in_4_bits(const WeightFiles& files, const std::string& name);

/// Writes the parameters to `directory`/model.safetensors, and the sinusoidal positions that `original`
/// holds, the weights that the parameters were read from, as they are stored there.
void write_quantized_weights(const std::string& directory, const nn::ParameterTable& table,
                             const nn::ParameterArray& values, const nn::QuantizedParameters& quantized,
                             const WeightFiles& original);
/// Like read_weights().
void read_quantized_weights(const WeightFiles& files, const nn::ParameterTable& table,
                            nn::ParameterArray& values, nn::QuantizedParameters& quantized);

}  // namespace heed::models
