// A model in memory, loaded from its directory.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/files/model_inventory.h"
#include "models/classifier.h"
#include "models/directory/generation_defaults.h"
#include "models/directory/model_directory.h"
#include "models/directory/model_weights.h"
#include "models/language_model.h"
#include "models/masked_language_model.h"
#include "models/seq2seq.h"
#include "models/shortlist.h"

namespace heed::models {

/// The precision of matrix products with weights. The rest is computed in float32.
enum class Precision {
  kFloat32,
  kBfloat16,  ///< weights and activations are rounded to bfloat16; sums are float32
  kInt8,      ///< weights as packed_int8.h has them, rows of activations likewise
  kInt4,      ///< matrices as packed_int4.h has them, vocabularies as with kInt8
};

/// The bits of weights in this precision if they are integers, 8 or 4; otherwise 0.
int integer_bits(Precision precision);
/// Whether weights that are stored in these bits (ModelDirectory::quantized_bits()) can be used in a
/// precision: from one kind of integers to another they would be rounded twice.
bool can_be_used_in(Precision precision, int stored_bits);

/// A loaded model; thread-safe.
struct LoadedModel {
  ModelInventory files;
  std::string model_type;
  std::unique_ptr<Model> model;
  Precision precision = Precision::kFloat32;
  int stored_bits = 0;        ///< of quantized weights in the directory, 8 or 4; else 0
  nn::ParameterArray values;  ///< without the elements that the following three hold
  std::unique_ptr<nn::QuantizedParameters> quantized;  ///< with int8 and int4, else null
  std::unique_ptr<nn::HalfParameters> half;            ///< with weights kept in 16 bits, else null
  std::unique_ptr<FileParameters> in_files;            ///< with weights left in the files, else null
  std::unique_ptr<nn::PackedWeights> packed;
  GenerationDefaults generation;
  std::shared_ptr<const Shortlist> shortlist;  ///< of a model that translates; null where none is to be used
  bool shortlist_in_beams = false;             ///< whether it is also used in beam search

  const std::string& directory() const { return files.directory(); }
  /// The weights that are not in `values`; null if there are none.
  const nn::CompactParameters* compact() const;
  /// A context for inference.
  nn::Context context() const;

  /// The model's interface for its task. Throws kUsage for another task, with the command to use.
  const Seq2Seq& seq2seq() const;
  const LanguageModel& language_model() const;
  const Classifier& classifier() const;
  const MaskedLanguageModel& masked_language_model() const;
  /// Classifiers and masked language models are encoders, too.
  const Encoder& encoder() const;
};

/// A directory without its weights, for its tokenizer and settings: there is no context to compute in.
/// `encoder` as in LoadOptions. Throws as load_model() does for files other than weights.
LoadedModel without_weights(const ModelDirectory& directory, bool encoder = false);

/// How matrices are kept in memory, in float32 and bfloat16 precision. Results are the same bits.
enum class WeightStorage {
  kFloat32,  ///< in float32: 4 bytes for each weight, and 4 more packed
  kPacked,   ///< of 16-bit files as stored, and packed in float32 where they are used: 2 and 4 bytes
  /// Of 16-bit files as stored, and each product widens what it needs, which takes longer: 2 bytes. Of
  /// float32 files only packed, 4 bytes; rows of embeddings are read when they are needed.
  kCompact,
};

/// Options of load_model().
struct LoadOptions {
  std::optional<Precision> precision = {};  ///< unset: that of the weights as they are stored

  /// Whether to use the directory's vocabulary shortlist. Default: if there is one, for greedy search in int8
  /// or int4. In float32 a model should give exactly the translations of other toolkits; in beam search,
  /// hypotheses whose best tokens are missing from the shortlist would gain.
  std::optional<bool> shortlist = {};

  /// Default: kCompact for models of at least 16 million parameters, kPacked for smaller ones.
  std::optional<WeightStorage> storage = {};

  bool encoder = false;  ///< load the encoder alone, for embeddings, whatever head config.json names
};

/// Loads a directory. With int8 or int4 precision, float weights are quantized while loading; with float32 or
/// bfloat16, quantized weights are dequantized. Everything is validated before use. Throws kNotFound, kFile
/// or kFormat; if config and weights do not match, the message names file, parameter and both shapes. Throws
/// kUsage if a requested shortlist is missing, for a precision that the instruction set in use lacks, and for
/// weights that are quantized to other bits than those of the precision.
LoadedModel load_model(const ModelDirectory& directory, const LoadOptions& options = {});
LoadedModel load_model(const std::string& directory, const LoadOptions& options = {});

}  // namespace heed::models
