// Finds the files of a model of Marian, and writes its configuration and tokenizer as those of a Marian model
// of Hugging Face's library.
#pragma once

#include <string>
#include <vector>

#include "base/text/json_file.h"
#include "io/weight_files.h"

namespace heed::cli {

struct MarianFiles {
  std::string directory;
  std::string model;                         ///< the .npz file
  std::vector<std::string> vocabularies;     ///< of the source and the target: .yml or .spm
  std::string source_pieces, target_pieces;  ///< SentencePiece models
  int64_t beam_size = 0;                     ///< from decoder.yml; 0 if unset
};

/// Whether a path is an .npz file, or a directory with one and without a config.json.
bool is_marian_model(const std::string& path);
/// The files at such a path: those that decoder.yml names, or the only ones of their type. Throws kNotFound,
/// kFile or kFormat, with advice on what is missing.
MarianFiles find_marian_files(const std::string& path);

struct OpenedMarianModel {
  JsonObject config;  ///< config.json
  WeightFiles weights;
};
/// Opens the model, and writes vocab.json, tokenizer_config.json and the SentencePiece models to `output`.
OpenedMarianModel import_marian(const MarianFiles& files, const std::string& output);

}  // namespace heed::cli
