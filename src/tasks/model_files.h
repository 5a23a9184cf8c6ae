// A model with its tokenizer, loaded from a model directory, by task.
#pragma once

#include <memory>
#include <string>

#include "models/directory/loaded_model.h"
#include "text/subwords/wordpiece.h"
#include "text/tokenizers/text_tokenizer.h"
#include "text/tokenizers/tokenizer.h"

namespace heed::decode {

struct TranslationModel {
  models::LoadedModel loaded;
  Tokenizer tokenizer;
};
/// Adds the tokenizer to a loaded translation model. Throws kUsage for another kind of model, kFormat if the
/// vocabulary sizes differ, and the errors of Tokenizer::load().
TranslationModel translation_model(models::LoadedModel loaded);

/// Chooses the languages of a model whose source or target has a token for its language; empty: as before.
/// Throws kUsage for another model or an unknown language.
void choose_languages(TranslationModel& model, const std::string& source, const std::string& target);

struct LanguageModelFiles {
  models::LoadedModel loaded;
  std::unique_ptr<TextTokenizer> tokenizer;
};
/// Adds the tokenizer to a loaded language model. Without one in the directory, logs a warning, and texts are
/// token ids. Throws kFormat if the tokenizer has more tokens than the model's vocabulary.
LanguageModelFiles with_tokenizer(models::LoadedModel loaded);

struct EncoderModel {
  models::LoadedModel loaded;
  WordPieceTokenizer tokenizer;
};
/// Adds the tokenizer to a loaded classifier, masked language model or encoder without a head. Throws kUsage
/// for another kind of model, kFormat if the tokenizer has more pieces than the model's vocabulary, and the
/// errors of WordPieceTokenizer::load().
EncoderModel encoder_model(models::LoadedModel loaded);
/// The same for classifiers alone.
EncoderModel classifier_model(models::LoadedModel loaded);

}  // namespace heed::decode
