// Removes what tokenization leaves in decoded text.
#pragma once

#include <string>

namespace heed {

/// Removes spaces before punctuation and in English contractions ("do n't"), in one token with its leading
/// space, like transformers: " do not" is therefore only replaced within one token.
std::string cleaned_up(std::string token);

}  // namespace heed
