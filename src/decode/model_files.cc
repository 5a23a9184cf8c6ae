#include "decode/model_files.h"

#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "decode/text_classifier.h"
#include "text/plain_tokenizers.h"

namespace heed::decode {

TranslationModel translation_model(models::LoadedModel loaded) {
  loaded.seq2seq();  // throws for another task, before its tokenizer files are missed
  const std::string directory = loaded.directory;
  TranslationModel model{std::move(loaded), Tokenizer::load(directory)};
  const auto pieces = static_cast<int64_t>(model.tokenizer.size());
  if (pieces != model.loaded.seq2seq().vocabulary_size()) {
    fail(ErrorKind::kFormat,
         "'{}': vocab.json has {} pieces, but vocab_size in config.json is {}: use the vocab.json of this "
         "model",
         directory, pieces, model.loaded.seq2seq().vocabulary_size());
  }
  return model;
}

LanguageModelFiles with_tokenizer(models::LoadedModel loaded) {
  const int64_t words = loaded.language_model().vocabulary_size();  // throws for a model of another task
  std::unique_ptr<TextTokenizer> tokenizer;
  if (TextTokenizer::is_in(loaded.directory)) {
    tokenizer = TextTokenizer::load(loaded.directory);
  } else {
    log_warning("'{}' contains no supported tokenizer: texts are token ids separated by spaces",
                loaded.directory);
    tokenizer =
        std::make_unique<IdTokenizer>(static_cast<int32_t>(words), loaded.language_model().start_id());
  }
  if (tokenizer->size() > words) {
    fail(ErrorKind::kFormat,
         "'{}': the tokenizer has {} tokens, but vocab_size in config.json is {}: use the tokenizer of this "
         "model",
         loaded.directory, tokenizer->size(), words);
  }
  return {std::move(loaded), std::move(tokenizer)};
}

ClassifierModel classifier_model(models::LoadedModel loaded) {
  const int64_t vocabulary = loaded.classifier().vocabulary_size();
  WordPieceTokenizer tokenizer = WordPieceTokenizer::load(loaded.directory);
  require_vocabulary(tokenizer, vocabulary, loaded.directory);
  return {std::move(loaded), std::move(tokenizer)};
}

}  // namespace heed::decode
