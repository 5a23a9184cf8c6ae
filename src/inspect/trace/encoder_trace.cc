#include "inspect/trace/encoder_trace.h"

#include <filesystem>

#include "base/thread_pool.h"
#include "inspect/trace/recorder.h"
#include "inspect/trace/text_tokens.h"
#include "models/head_names.h"

namespace heed {
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
  trace.source_tokens = token_names(tokenizer, encoding);
  trace.source_words = word_indices(tokenizer, encoding.ids, trace.source_tokens);
  trace.word_pieces = tokenizer.is_word_piece();
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
  const Encoding encoding = classifier.encode_whole(text);
  require_tokens("text", encoding.size(), model.classifier().max_length());
  const tasks::Classification found = classifier.classify({text}).at(0);
  Trace trace = trace_encoder(model, tokenizer, encoding, details, head_scales);
  trace.source = text.first + (text.second ? " " + *text.second : "");
  trace.target = model.classifier().labels()[found.best];
  return trace;
}

Trace trace_encoder_text(const models::LoadedModel& model, const ModelTokenizer& tokenizer,
                         const std::string& text, bool details, const nn::HeadScales& head_scales) {
  const EncoderTokens tokens = encoder_tokens(model, tokenizer, text);
  require_tokens("text", tokens.encoding.size(), tokens.most);
  Trace trace = trace_encoder(model, tokenizer, tokens.encoding, details, head_scales);
  trace.source = text;
  return trace;
}

}  // namespace heed
