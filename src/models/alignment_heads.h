// The attention heads of a translation model that align words: alignment_heads of generation_config.json, as
// Whisper's files list them.
#pragma once

#include <string>
#include <vector>

#include "base/json_file.h"

namespace heed::models {

/// A head of the decoder's attention to the source; both count from 0. When the decoder reads a token, the
/// head looks at the token's counterpart in the source.
struct AlignmentHead {
  int layer = 0, head = 0;
  bool operator==(const AlignmentHead&) const = default;
};

/// Those of a file; none where it does not say. Throws kFormat.
std::vector<AlignmentHead> alignment_heads_of(const JsonObject& file);
/// Those of a model directory; none where it has no generation_config.json. Throws kFile or kFormat.
std::vector<AlignmentHead> read_alignment_heads(const std::string& directory);
/// Writes them into the generation_config.json that is there, and keeps all else. Throws kNotFound, kFile or
/// kFormat.
void write_alignment_heads(const std::string& directory, const std::vector<AlignmentHead>& heads);

}  // namespace heed::models
