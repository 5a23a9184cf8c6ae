#include "inspect/classifier_trace.h"

#include <filesystem>

#include "base/thread_pool.h"
#include "inspect/head_ablation.h"
#include "inspect/recorder.h"

namespace heed {
namespace {

/// A piece that continues a word is written "##ing"; special tokens and all others begin one.
std::vector<int> words_of(const std::vector<std::string>& pieces) {
  std::vector<int> words;
  for (const std::string& piece : pieces) {
    const bool continues = piece.starts_with("##") && piece.size() > 2 && !words.empty();
    words.push_back(words.empty() ? 0 : words.back() + (continues ? 0 : 1));
  }
  return words;
}

}  // namespace

Trace trace_classification(const models::LoadedModel& model, const WordPieceTokenizer& tokenizer,
                           const decode::ClassifierText& text, decode::Classification* result, bool details,
                           const nn::HeadScales& head_scales) {
  require_heads(model.classifier(), head_scales);
  ThreadPool pool(1);
  nn::Context context = model.context();
  context.head_scales = &head_scales;
  const decode::TextClassifier classifier(model.classifier(), context, tokenizer, pool);
  const decode::Classification found = classifier.classify({text}).at(0);
  if (result != nullptr) *result = found;

  const WordPieceEncoding encoding = classifier.encode(text);
  models::ClassifierInput input;
  input.text.append(encoding.ids);
  input.types = encoding.types;
  AttentionRecorder recorder(details);
  context.sink = &recorder;
  model.classifier().logits(context, input);

  Trace trace;
  trace.model = std::filesystem::path(model.directory).lexically_normal().filename().string();
  trace.source = text.first + (text.second ? " " + *text.second : "");
  trace.target = model.classifier().labels()[found.best];
  trace.source_tokens = encoding.pieces;
  trace.source_words = words_of(encoding.pieces);
  recorder.move_into(trace);
  return trace;
}

}  // namespace heed
