#include "inspect/trace/translation_trace.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "inspect/trace/log_probabilities.h"
#include "inspect/trace/recorder.h"
#include "inspect/trace/weight_count.h"
#include "models/finite_output.h"
#include "models/head_names.h"
#include "search/scoring.h"
#include "search/search.h"

namespace heed {
namespace {

std::vector<std::string> piece_names(const Vocabulary& vocabulary, std::span<const int32_t> ids) {
  std::vector<std::string> names;
  for (const int32_t id : ids) names.push_back(vocabulary.piece(id));
  return names;
}

void require_length(const models::Seq2Seq& model, const char* side, size_t tokens) {
  if (tokens == 0) fail(ErrorKind::kUsage, "the {} has no tokens", side);
  if (model.max_length() > 0 && static_cast<int64_t>(tokens) > model.max_length()) {
    fail(ErrorKind::kUsage, "the {} has {} tokens, but the model's maximum is {}: give a shorter sentence",
         side, tokens, model.max_length());
  }
}

}  // namespace

Trace trace_translation(const models::LoadedModel& model, const TranslationTokenizer& tokenizer,
                        const TranslationPieces& pieces, bool details, const nn::HeadScales& head_scales) {
  models::require_heads(model.seq2seq(), head_scales);
  require_length(model.seq2seq(), "source", pieces.source.size());
  require_length(model.seq2seq(), "target", pieces.target.size());
  // At position t the decoder reads what position t - 1 produced; the first reads the start token.
  std::vector<int32_t> decoder_input{model.seq2seq().start_id()};
  decoder_input.insert(decoder_input.end(), pieces.target.begin(), pieces.target.end() - 1);

  models::Sequences source, target;
  source.append({pieces.source.begin(), pieces.source.end()});
  target.append(decoder_input);
  AttentionRecorder recorder(details);
  nn::Context context = model.context();
  context.sink = &recorder;
  context.head_scales = &head_scales;
  const Tensor logits = model.seq2seq().logits(context, source, target);  // (T, V)
  models::require_finite_output(logits);

  Trace trace;
  trace.source_tokens = piece_names(tokenizer.source_vocabulary(), pieces.source);
  trace.target_tokens = piece_names(tokenizer.vocabulary(), pieces.target);
  trace.decoder_tokens = piece_names(tokenizer.vocabulary(), decoder_input);
  trace.log_probabilities = log_probabilities(logits, pieces.target);
  recorder.move_into(trace);
  return trace;
}

ScoredTrace trace_text_with_score(const models::LoadedModel& model, const TranslationTokenizer& tokenizer,
                                  const TraceRequest& request) {
  models::require_heads(model.seq2seq(), request.head_scales);
  const bool own = request.target.empty();
  tokenizer.require_language_code(request.source);
  const std::vector<int32_t> source = tokenizer.encode_source(request.source).ids;
  std::vector<int32_t> target;
  ScoredTrace scored;
  require_length(model.seq2seq(), "source", source.size());
  const auto require_few = [&](size_t target_tokens) {
    require_few_weights(model.seq2seq(),
                        {static_cast<int64_t>(source.size()), static_cast<int64_t>(target_tokens)},
                        request.max_weights);
  };
  require_few(0);  // before the search
  nn::Context context = model.context();
  context.head_scales = &request.head_scales;
  if (own) {
    const search::ConstrainedSentence constrained(tokenizer, source, request.search, request.constraints);
    const search::Search search(model.seq2seq(), context, constrained.options());
    search::Hypothesis found = search.run({constrained.sentence()}).at(0).at(0);
    if (!constrained.is_satisfied_by(tokenizer.decode(found.ids))) {
      found = search.run({constrained.requiring()}).at(0).at(0);
    }
    target = found.ids;
    require_few(target.size());
    scored.log_probability = found.log_probability;
    scored.score = found.score;
  } else {
    target = tokenizer.encode_target(request.target).ids;
    require_length(model.seq2seq(), "target", target.size());
    require_few(target.size());
    const std::vector<search::ScoringPair> pair{{source, target}};
    const auto each = search::score_pairs(model.seq2seq(), context, request.search, pair).at(0);
    scored.log_probability = std::accumulate(each.begin(), each.end(), 0.0);
    scored.score = search::normalized_score(scored.log_probability, static_cast<int64_t>(target.size()),
                                            request.search.length_penalty);
  }
  scored.trace = trace_translation(model, tokenizer, {source, target}, request.details, request.head_scales);
  scored.trace.model = std::filesystem::path(model.directory()).lexically_normal().filename().string();
  scored.trace.source = request.source;
  scored.trace.target = own ? tokenizer.decode(target) : request.target;
  return scored;
}

Trace trace_text(const models::LoadedModel& model, const TranslationTokenizer& tokenizer,
                 const TraceRequest& request) {
  return trace_text_with_score(model, tokenizer, request).trace;
}

}  // namespace heed
