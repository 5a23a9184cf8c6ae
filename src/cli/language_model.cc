#include "cli/language_model.h"

#include <cstdlib>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "text/plain_tokenizers.h"

namespace heed::cli {

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

LanguageModelFiles load_language_model(const ModelChoice& choice) {
  const char* named = std::getenv("HEED_MODEL");
  if (choice.model.empty() && (named == nullptr || *named == '\0')) {
    fail(ErrorKind::kUsage,
         "no language model is bundled: give one with --model DIR or $HEED_MODEL, or train one with heed "
         "train --task lm");
  }
  return with_tokenizer(load_model(find_model(choice), choice.precision));
}

}  // namespace heed::cli
