// The cross-attention heads that align words: alignment_heads of generation_config.json, in Whisper's format.
#pragma once

#include <string>
#include <vector>

#include "base/files/model_inventory.h"
#include "base/text/json_file.h"

namespace heed::models {

/// A cross-attention head; both indices count from 0. At the step that reads a target token, it attends to
/// the aligned source token.
struct AlignmentHead {
  int layer = 0, head = 0;
  bool operator==(const AlignmentHead&) const = default;
};

/// The heads in a file; empty if missing. Throws kFormat.
std::vector<AlignmentHead> alignment_heads_of(const JsonObject& file);
/// Updates the existing generation_config.json. Throws kNotFound, kFile or kFormat.
void write_alignment_heads(const std::string& directory, const std::vector<AlignmentHead>& heads);

}  // namespace heed::models
