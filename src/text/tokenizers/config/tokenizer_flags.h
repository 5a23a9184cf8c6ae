// Flags that both tokenizer_config.json and tokenizer.json have.
#pragma once

#include <optional>
#include <string>

#include "text/readers/tokenizer_json.h"

namespace heed {

/// What tokenizer_config.json says; empty where it leaves something out.
struct TokenizerFlags {
  std::string tokenizer_class = {};
  std::optional<bool> lowercase = {};      ///< do_lower_case
  std::optional<bool> strip_accents = {};  ///< strip_accents
  std::optional<bool> chinese_apart = {};  ///< tokenize_chinese_chars
  std::optional<bool> adds_space = {};     ///< add_prefix_space
};

/// Throws kFormat if a BertNormalizer or ByteLevel step contradicts the flags, since libraries disagree on
/// which file takes precedence. A flag that is left out has the default of the class, if transformers lets
/// that take precedence: in classes such as BertTokenizer, of a step that is alone, not in a sequence.
void require_same_flags(const TokenizerJson& json, const TokenizerFlags& flags);

}  // namespace heed
