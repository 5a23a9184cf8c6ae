// The WordPiece pipeline of BERT in a tokenizer.json (text/tokenizer_json.h), as the settings of
// text/wordpiece.h. Steps that it does not have are refused by name.
#pragma once

#include <string>
#include <vector>

#include "text/tokenizer_json.h"
#include "text/wordpiece_config.h"

namespace heed {

/// Pieces and settings of a WordPiece tokenizer.
struct WordPieceModel {
  std::vector<std::string> pieces;
  WordPieceSettings settings;
};
/// Throws kFormat, with file and step, for unsupported steps, and if tokenizer_config.json contradicts
/// tokenizer.json.
WordPieceModel wordpiece_of(const TokenizerJson& json, const WordPieceConfig& config);

}  // namespace heed
