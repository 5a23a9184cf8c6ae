// The files of sentence-transformers (Reimers and Gurevych, "Sentence-BERT", 2019) beside an encoder:
// modules.json, which lists the steps from a text to its vector, and the settings of each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/files/model_inventory.h"
#include "heed/embedder.h"

namespace heed::models {

struct SentenceModules {
  std::vector<Pooling> pooling{Pooling::kMean};  ///< vectors of several follow each other
  bool normalize = false;
  int64_t max_length = 0;  ///< in tokens, including special ones; 0: the model's
  bool lowercase = false;  ///< texts are lower-cased first
  std::map<std::string, std::string> prompts = {};
  std::string prompt = {};    ///< the name of the default one; empty: none
  bool pools_prompts = true;  ///< whether the tokens of a prompt count
};

/// "cls", "max", "mean" and "mean_sqrt_len_tokens".
const std::vector<std::pair<std::string, Pooling>>& pooling_names();

/// Reads the files of a directory; the mean without a modules.json, as sentence-transformers has it. `width`
/// is that of the encoder's vectors. Throws kFormat, with file and key, for what is not supported.
SentenceModules read_sentence_modules(const ModelInventory& files, int64_t width);
/// Of these only how a text is read: length, case and prompts, whatever becomes of its vectors.
SentenceModules read_sentence_texts(const ModelInventory& files);

/// The files of a model directory: those in it, and those in the folders of its modules, as
/// "1_Pooling/config.json"; not those in other folders, such as training/. Throws kFormat for an invalid
/// modules.json.
std::vector<std::string> model_files(const ModelInventory& files);

}  // namespace heed::models
