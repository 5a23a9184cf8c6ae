// A model as a directory, in the Hugging Face layout: config.json, generation_config.json, model.safetensors,
// and the tokenizer's files, which src/text reads.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "models/architecture.h"
#include "models/classifier.h"
#include "models/generation_defaults.h"
#include "models/language_model.h"
#include "models/model_weights.h"
#include "models/seq2seq.h"
#include "models/shortlist.h"

namespace heed::models {

/// What matrices are multiplied in.
enum class Precision { kFloat32, kInt8 };

/// A model in memory, ready for use by any number of threads.
struct LoadedModel {
  std::string directory;
  std::string model_type;
  std::unique_ptr<Model> model;
  Precision precision = Precision::kFloat32;
  nn::ParameterArray values;
  std::unique_ptr<nn::QuantizedParameters> quantized;  ///< with int8, else null
  std::unique_ptr<nn::PackedWeights> packed;
  GenerationDefaults generation;
  std::shared_ptr<const Shortlist> shortlist;  ///< of a model that translates; null where none is to be used
  bool shortlist_in_beams = false;             ///< whether with several hypotheses too

  /// A context for inference.
  nn::Context context() const;

  /// The model as what it is for. Throws kUsage where it is for something else, with the command to use.
  const Seq2Seq& seq2seq() const;
  const LanguageModel& language_model() const;
  const Classifier& classifier() const;
};

/// What the model of a directory is for, from its config.json alone. Throws kNotFound, kFile or kFormat.
Task task_of(const std::string& directory);

/// How a model is read.
struct LoadOptions {
  std::optional<Precision> precision = {};  ///< unset: that of the weights as they are stored
  /// Whether the directory's shortlist is used. Unset: with 8 bits and greedy search, where there is one. In
  /// float32 a model gives the translations of other toolkits, word for word, and a shortlist changes some;
  /// and where hypotheses compete, those that are short of words gain by it.
  std::optional<bool> shortlist = {};
};

/// Reads a directory. Floats are quantised as they are read where products are in 8 bits; the floats of a
/// quantised model are those that its whole numbers stand for. Throws kNotFound, kFile or kFormat; the
/// message names file, parameter and both shapes where config and weights contradict each other. Nothing is
/// believed before it is checked. Throws kUsage for a shortlist that is wanted and not there.
LoadedModel load_model(const std::string& directory, const LoadOptions& options = {});

}  // namespace heed::models
