// Checks that the configs of several models share.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace heed::models {

struct NamedSize {
  const char* name;  ///< for messages: "width"
  int64_t value;
};

/// Throws kUsage for a size below 1. `model` is for messages: "a Transformer".
void require_positive(const char* model, std::initializer_list<NamedSize> sizes);

/// Throws kUsage for a special token id outside the vocabulary, except -1, no such token, if `optional`.
void require_special_ids(std::initializer_list<int32_t> ids, int64_t vocabulary, bool optional = false);

/// Throws kUsage unless source and target, which share embeddings, have the same vocabulary size.
void require_shared_vocabulary(int64_t source, int64_t target);

}  // namespace heed::models
