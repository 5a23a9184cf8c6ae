// SentencePiece models whose pieces a vocabulary numbers: Marian, M2M-100, mBART.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/added_vocabulary.h"
#include "text/readers/sentencepiece_file.h"
#include "text/tokenizers/tokenizer.h"

namespace heed {

/// Special tokens and language codes in a text are ordinary text, except `in_text`; pieces that the
/// vocabulary lacks are unknown. `name` (the file) is used in errors.
ModelTokenizer numbered_tokenizer(const SentencePieceFile& file, const std::string& name,
                                  const std::shared_ptr<const Vocabulary>& vocabulary,
                                  std::vector<AddedToken> in_text = {});

/// ">>fr<<": the target language at the beginning of the source, for multilingual Marian models.
bool is_marian_language_code(std::string_view piece);
/// What a text begins with, if it has the form of one; otherwise empty.
std::string_view leading_marian_code(std::string_view text);
/// The language of such a code: "fra".
std::string_view language_of_marian_code(std::string_view code);

}  // namespace heed
