#include "inspect/trace/text_trace.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <vector>

#include "inspect/trace/log_probabilities.h"
#include "inspect/trace/recorder.h"
#include "inspect/trace/text_tokens.h"
#include "models/finite_output.h"
#include "models/head_names.h"

namespace heed {
Trace trace_language_model(const models::LoadedModel& loaded, const ModelTokenizer& tokenizer,
                           const std::string& text, bool details, const nn::HeadScales& head_scales) {
  const models::LanguageModel& model = loaded.language_model();
  models::require_heads(model, head_scales);
  std::vector<int32_t> ids = tokenizer.prompt_ids(text);
  require_tokens("text", ids.size(), model.max_length());
  models::Sequences read;
  read.append(ids);
  AttentionRecorder recorder(details);
  nn::Context context = loaded.context();
  context.sink = &recorder;
  context.head_scales = &head_scales;
  const Tensor logits = model.logits(context, read);  // (T, V)
  models::require_finite_output(logits);
  const float* last = logits.data<float>() + (logits.dim(0) - 1) * logits.dim(1);

  Trace trace;
  trace.model = std::filesystem::path(loaded.directory()).lexically_normal().filename().string();
  trace.target = text;
  for (const int32_t id : ids) trace.decoder_tokens.push_back(tokenizer.piece(id));
  trace.decoder_words = word_indices(tokenizer, ids, trace.decoder_tokens);
  trace.target_tokens.assign(trace.decoder_tokens.begin() + 1, trace.decoder_tokens.end());
  const auto likeliest = static_cast<int32_t>(std::max_element(last, last + tokenizer.size()) - last);
  trace.target_tokens.push_back(tokenizer.piece(likeliest));
  ids.push_back(likeliest);
  trace.log_probabilities = log_probabilities(logits, std::span(ids).subspan(1));
  recorder.move_into(trace);
  return trace;
}

}  // namespace heed
