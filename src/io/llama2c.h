// Models in the format of llama2.c (github.com/karpathy/llama2.c, "version 0"): a header of seven 32-bit
// numbers, and the weights of a Llama as float32, one matrix of all layers after the other.
//
// Pairs of features that rotary positions turn stand next to each other there; in Hugging Face's layout they
// are half a head apart. So the rows of the query and key matrices change places.
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
  /// By the names of LlamaForCausalLM.
  std::vector<std::pair<std::string, Tensor>> tensors;
};

/// Reads a file strictly: sizes in range, and exactly as many numbers as they ask for. Throws kNotFound,
/// kFile or kFormat.
Llama2cModel read_llama2c(const std::string& path);

/// A token of llama2.c's tokenizer.bin: its text (of bytes "<0x0A>", of a space in front " the" or "▁the")
/// and its score in merging.
struct Llama2cToken {
  std::string text;
  float score = 0;
};
/// Throws kNotFound, kFile, or kFormat where the file is not such a list of `count` tokens.
std::vector<Llama2cToken> read_llama2c_tokens(const std::string& path, int64_t count);

}  // namespace heed
