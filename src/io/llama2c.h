// Models in the format of llama2.c (github.com/karpathy/llama2.c, "version 0"): a header of seven 32-bit
// integers, then the float32 weights of a Llama model, each kind of matrix for all layers in turn.
//
// In llama2.c, rotary embeddings rotate adjacent features; in Hugging Face's layout, features half a head
// apart. The rows of the query and key matrices are therefore permuted.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heed/tensor.h"

namespace heed {

struct Llama2cModel {
  int64_t width = 0, inner_width = 0, layers = 0, heads = 0, key_value_heads = 0, vocabulary = 0,
          positions = 0;
  bool tied_output = true;
  /// With the names of LlamaForCausalLM.
  std::vector<std::pair<std::string, Tensor>> tensors;
};

/// Reads a model file. Sizes must be in range, and the file size must match them exactly. Throws kNotFound,
/// kFile or kFormat.
Llama2cModel read_llama2c(const std::string& path);

/// A token of llama2.c's tokenizer.bin: its text (byte tokens "<0x0A>", leading space as " the" or "▁the")
/// and its merge score.
struct Llama2cToken {
  std::string text;
  float score = 0;
};
/// Reads `count` tokens. Throws kNotFound, kFile, or kFormat if the file is not a valid list of `count`
/// tokens.
std::vector<Llama2cToken> read_llama2c_tokens(const std::string& path, int64_t count);

}  // namespace heed
