// A text as a model reads it that is looked into, which is never a part of it alone, and how its tokens are
// shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/directory/loaded_model.h"
#include "tasks/text_classifier.h"
#include "text/tokenizers/encoder_tokenizer.h"

namespace heed {

/// The tokens of a text for an encoder-only model, however many.
struct EncoderTokens {
  Encoding encoding;
  int64_t most = 0;  ///< the model's maximum; 0: no limit
};

/// What commands and routes for the model's task read: of a classifier, also a pair, separated by a tab; of a
/// masked language model, with its mask tokens; of any other encoder, as its sentence embeddings have it by
/// default. Throws like tasks::TextClassifier::encode and models::read_sentence_texts.
EncoderTokens encoder_tokens(const models::LoadedModel& model, const ModelTokenizer& tokenizer,
                             const std::string& text);

/// Throws kUsage for a text without tokens or with more than `most`; 0: no limit. `side`: "text", "source".
void require_tokens(const char* side, size_t tokens, int64_t most);

/// The names by which the tokens of an encoder-only model are shown and found: as the vocabulary spells them,
/// and unknown ones as the text does.
std::vector<std::string> token_names(const ModelTokenizer& tokenizer, const Encoding& encoding);

/// The word of each token, from 0. Special tokens are words of their own. Of WordPiece, pieces that continue
/// a word are written "##ing"; of other tokenizers, pieces that begin one are marked.
std::vector<int> word_indices(const ModelTokenizer& tokenizer, const std::vector<int32_t>& ids,
                              const std::vector<std::string>& names);

}  // namespace heed
