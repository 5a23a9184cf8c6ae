#include "inspect/trace/text_tokens.h"

#include <string_view>

#include "base/check.h"
#include "base/thread_pool.h"
#include "inspect/trace/label.h"
#include "tasks/text_embedder.h"

namespace heed {

EncoderTokens encoder_tokens(const models::LoadedModel& model, const ModelTokenizer& tokenizer,
                             const std::string& text) {
  const int64_t most = model.encoder().max_length();
  ThreadPool pool(1);
  switch (model.model->task()) {
    case models::Task::kClassification: {
      const tasks::TextClassifier classifier(model.classifier(), model.context(), tokenizer, pool);
      return {classifier.encode_whole(tasks::classifier_text(text)), most};
    }
    case models::Task::kMaskedLanguageModel:
      return {tokenizer.encode(text, {.read_mask = true}), most};
    case models::Task::kEmbedding: {
      const tasks::TextEmbedder embedder(model.encoder(), model.context(), tokenizer,
                                         models::read_sentence_texts(model.files), pool);
      return {embedder.encode_whole(text), embedder.max_length()};
    }
    case models::Task::kTranslation:
    case models::Task::kLanguageModel:
      break;  // which are no encoders
  }
  HEED_CHECK(false);
}

void require_tokens(const char* side, size_t tokens, int64_t most) {
  if (tokens == 0) fail(ErrorKind::kUsage, "the {} has no tokens: give a text", side);
  if (most > 0 && static_cast<int64_t>(tokens) > most) {
    fail(ErrorKind::kUsage, "the {} has {} tokens, but the model's maximum is {}: give a shorter text", side,
         tokens, most);
  }
}

std::vector<std::string> token_names(const ModelTokenizer& tokenizer, const Encoding& encoding) {
  std::vector<std::string> names;
  for (size_t n = 0; n < encoding.size(); ++n) {
    const int32_t id = encoding.ids[n];
    const std::string shown = tokenizer.piece(id);
    // Of a mask token, a text may spell the space before it, too.
    const bool added = tokenizer.is_special(id) || tokenizer.pipeline().added().find(id) != nullptr;
    const bool named = added && id != tokenizer.vocabulary().unknown_id();
    names.push_back(named || shown != tokenizer.vocabulary().piece(id) ? shown : encoding.pieces[n]);
  }
  return names;
}

std::vector<int> word_indices(const ModelTokenizer& tokenizer, const std::vector<int32_t>& ids,
                              const std::vector<std::string>& names) {
  std::vector<int> words;
  bool after_special = true;
  for (size_t n = 0; n < names.size(); ++n) {
    std::string_view name = names[n];
    const bool special = tokenizer.is_special(ids[n]);
    const bool begins = tokenizer.is_word_piece() ? !(name.starts_with("##") && name.size() > 2)
                                                  : strip_word_mark(name) || special || after_special;
    words.push_back(words.empty() ? 0 : words.back() + (begins ? 1 : 0));
    after_special = special;
  }
  return words;
}

}  // namespace heed
