#include "cli/options/language_model.h"

#include <cstdlib>

#include "base/check.h"

namespace heed::cli {

LanguageModelFiles load_language_model(const ModelChoice& choice) {
  const char* named = std::getenv("HEED_MODEL");
  if (choice.model.empty() && (named == nullptr || *named == '\0')) {
    fail(ErrorKind::kUsage,
         "no language model is bundled: give one with --model DIR or $HEED_MODEL, or train one with heed "
         "train --task lm");
  }
  return with_tokenizer(load_model(models::ModelDirectory::open(find_model(choice)), choice.precision));
}

}  // namespace heed::cli
