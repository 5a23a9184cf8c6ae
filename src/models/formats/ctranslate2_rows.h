// The table of names that reading and writing CTranslate2's model.bin share: each variable, and the
// parameters of a model that are stacked in it. It follows from the names of a model's family, so a new
// family needs no table of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/stacks/decoder_only.h"
#include "models/stacks/transformer.h"

namespace heed::models {

struct Ctranslate2Row {
  enum class Kind {
    kMatrix,  ///< variable/weight and, where it exists, /bias; NAME.weight and .bias
    kNorm,    ///< variable/gamma and, where it exists, /beta; NAME.weight and .bias
    kTable,   ///< both names are complete
  };
  Kind kind = Kind::kMatrix;
  std::string variable;            ///< such as decoder/layer_0/self_attention/linear_0
  std::vector<std::string> names;  ///< stacked along the first axis: queries, keys, values
  std::vector<int64_t> rows{};     ///< of each name, if there are several; empty: equal parts
  bool transposed = false;         ///< Hugging Face's files have the matrix as (in, out)
  int64_t skipped_rows = 0;        ///< of the parameter, before those of the variable
};

/// The two tensors of a row, by the ends of their names in model.bin and of the parameters.
struct Ctranslate2Suffix {
  const char *variable, *name;
  bool optional;
};
std::vector<Ctranslate2Suffix> suffixes_of(Ctranslate2Row::Kind kind);

/// Activations by CTranslate2's number; unset: not supported.
const std::vector<std::optional<Activation>>& ctranslate2_activations();

// The variables of model.bin that are tables of embeddings.
constexpr char kCtranslate2Embedding[] = "decoder/embeddings/weight",
               kCtranslate2SourceEmbedding[] = "encoder/embeddings_0/weight",
               kCtranslate2Output[] = "decoder/projection/weight",
               kCtranslate2OutputBias[] = "decoder/projection/bias";
/// The end of the name of a stack's position table.
constexpr char kCtranslate2Positions[] = "/position_encodings/encodings";
/// The end of the name of a norm's setting: whether 1 is added to its weights.
constexpr char kCtranslate2NormOffset[] = "/layer_norm_use_residual";

/// All weights but computed positions. A tied output and a shared embedding have one row.
std::vector<Ctranslate2Row> ctranslate2_rows(const TransformerConfig& config);
std::vector<Ctranslate2Row> ctranslate2_rows(const DecoderOnlyConfig& config);

}  // namespace heed::models
