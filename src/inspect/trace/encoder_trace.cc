#include "inspect/trace/encoder_trace.h"

#include <filesystem>

#include "base/thread_pool.h"
#include "inspect/trace/label.h"
#include "inspect/trace/recorder.h"
#include "models/head_names.h"

namespace heed {
namespace {

/// Special tokens are words of their own. Of WordPiece, pieces that continue a word are written "##ing"; of
/// other tokenizers, pieces that begin one are marked.
std::vector<int> words_of(const ModelTokenizer& tokenizer, const std::vector<int32_t>& ids,
                          const std::vector<std::string>& tokens) {
  std::vector<int> words;
  bool after_special = true;
  for (size_t n = 0; n < tokens.size(); ++n) {
    std::string_view token = tokens[n];
    const bool special = tokenizer.is_special(ids[n]);
    const bool begins = tokenizer.is_word_piece() ? !(token.starts_with("##") && token.size() > 2)
                                                  : strip_word_mark(token) || special || after_special;
    words.push_back(words.empty() ? 0 : words.back() + (begins ? 1 : 0));
    after_special = special;
  }
  return words;
}

}  // namespace

Trace trace_encoder(const models::LoadedModel& model, const ModelTokenizer& tokenizer,
                    const Encoding& encoding, bool details, const nn::HeadScales& head_scales) {
  models::require_heads(model.encoder(), head_scales);
  nn::Context context = model.context();
  context.head_scales = &head_scales;
  models::EncoderInput input;
  input.text.append(encoding.ids);
  input.types = encoding.types;
  AttentionRecorder recorder(details);
  context.sink = &recorder;
  model.encoder().encode(context, input);

  Trace trace;
  trace.model = std::filesystem::path(model.directory()).lexically_normal().filename().string();
  for (size_t n = 0; n < encoding.ids.size(); ++n) {
    const std::string shown = tokenizer.piece(encoding.ids[n]);
    const bool spelt = shown == tokenizer.vocabulary().piece(encoding.ids[n]);
    trace.source_tokens.push_back(spelt ? encoding.pieces[n] : shown);
  }
  trace.source_words = words_of(tokenizer, encoding.ids, trace.source_tokens);
  recorder.move_into(trace);
  return trace;
}

Trace trace_classification(const models::LoadedModel& model, const ModelTokenizer& tokenizer,
                           const tasks::ClassifierText& text, bool details,
                           const nn::HeadScales& head_scales) {
  models::require_heads(model.classifier(), head_scales);
  ThreadPool pool(1);
  nn::Context context = model.context();
  context.head_scales = &head_scales;
  const tasks::TextClassifier classifier(model.classifier(), context, tokenizer, pool);
  const tasks::Classification found = classifier.classify({text}).at(0);
  Trace trace = trace_encoder(model, tokenizer, classifier.encode(text), details, head_scales);
  trace.source = text.first + (text.second ? " " + *text.second : "");
  trace.target = model.classifier().labels()[found.best];
  return trace;
}

Trace trace_masked_text(const models::LoadedModel& model, const ModelTokenizer& tokenizer,
                        const std::string& text, bool details, const nn::HeadScales& head_scales) {
  const EncodeOptions options{.max_length = static_cast<size_t>(model.encoder().max_length()),
                              .read_mask = model.model->task() == models::Task::kMaskedLanguageModel};
  Trace trace = trace_encoder(model, tokenizer, tokenizer.encode(text, options), details, head_scales);
  trace.source = text;
  return trace;
}

}  // namespace heed
