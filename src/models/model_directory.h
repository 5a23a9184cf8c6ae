// A model as a directory, in the Hugging Face layout: config.json, generation_config.json, model.safetensors,
// and the tokenizer's files, which src/text reads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/architecture.h"
#include "models/classifier.h"
#include "models/generation_defaults.h"
#include "models/language_model.h"
#include "models/seq2seq.h"

namespace heed::models {

/// A model in memory, ready for use by any number of threads.
struct LoadedModel {
  std::string directory;
  std::string model_type;
  std::unique_ptr<Model> model;
  nn::ParameterArray values;
  std::unique_ptr<nn::PackedWeights> packed;
  GenerationDefaults generation;

  /// A context for inference.
  nn::Context context() const;

  /// The model as what it is for. Throws kUsage where it is for something else, with the command to use.
  const Seq2Seq& seq2seq() const;
  const LanguageModel& language_model() const;
  const Classifier& classifier() const;
};

/// What the model of a directory is for, from its config.json alone. Throws kNotFound, kFile or kFormat.
Task task_of(const std::string& directory);

/// Reads a directory. Throws kNotFound, kFile or kFormat; the message names file, parameter and both shapes
/// where config and weights contradict each other. Nothing is believed before it is checked.
LoadedModel load_model(const std::string& directory);

/// Writes the parameters as model.safetensors into `directory`, as float32 or rounded to 16 bits.
void write_weights(const std::string& directory, const nn::ParameterTable& table,
                   const nn::ParameterArray& values, DType dtype);
/// Fills `values` from the weights of a directory; every row of the table must be there under its name or an
/// alias, in its shape, and nothing else but what the table leaves out.
void read_weights(const std::string& directory, const nn::ParameterTable& table, nn::ParameterArray& values);
/// The same over values that are there, for a model that is trained further: rows whose name begins with one
/// of the prefixes `anew` keep their values where the weights do not hold them in that shape, and what the
/// weights hold besides is passed over. Returns the names of the rows that kept their values.
std::vector<std::string> read_weights_over(const std::string& directory, const nn::ParameterTable& table,
                                           const std::vector<std::string>& anew, nn::ParameterArray& values);

}  // namespace heed::models
