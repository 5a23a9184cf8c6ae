#include "train/validation.h"

#include <string>
#include <utility>
#include <vector>

#include "data/batcher.h"
#include "decode/search.h"
#include "decode/work_queue.h"
#include "text/bleu.h"
#include "text/chrf.h"

namespace heed::train {
namespace {

/// An untrained model does not know when to stop: translations get no longer than 2 * source + 10.
decode::SearchOptions search_options(const models::Seq2Seq& model, const Recipe& recipe) {
  decode::SearchOptions options;
  options.beam_size = recipe.validation_beam;
  options.max_length_factor = 2;
  options.max_length_offset = 10;
  options.forbidden_ids = {model.padding_id()};
  return options;
}

/// The best translations, in the order of the sources. Which thread searches which sentence changes none.
std::vector<std::string> translate(const models::Seq2Seq& model, const nn::ParameterArray& values,
                                   const TrainingData& data, const Recipe& recipe, ThreadPool& pool) {
  EncodeOptions encode_options;
  encode_options.max_length = static_cast<size_t>(model.longest());
  std::vector<decode::SearchSentence> sentences;
  for (const std::string& line : data.validation_source) {
    sentences.push_back({sentences.size(), data.tokenizer.encode_source(line, encode_options).ids});
  }
  std::vector<std::string> translations(sentences.size());
  nn::PackedWeights packed;
  nn::Context context;
  context.table = &model.table();
  context.values = &values;
  context.packed = &packed;
  const decode::Search search(model, context, search_options(model, recipe));
  decode::WorkQueue queue(std::move(sentences), pool.threads());
  pool.run(static_cast<size_t>(pool.threads()), [&](size_t) {
    search.run([&](const decode::SearchRoom& room) { return queue.take(room); },
               [&](uint64_t number, std::vector<decode::Hypothesis> hypotheses) {
                 if (!hypotheses.empty()) translations[number] = data.tokenizer.decode(hypotheses[0].ids);
               });
  });
  return translations;
}

}  // namespace

ValidationScores validate(const models::Seq2Seq& model, const nn::ParameterArray& values,
                          const TrainingData& data, const Recipe& recipe, TrainingStep& step,
                          ThreadPool& pool) {
  ValidationScores scores;
  const auto batches =
      length_sorted_batches(sizes_of(*data.validation), recipe.batch_tokens / recipe.shard_count());
  const LossSums sums = step.evaluate(*data.validation, batches, values, 0);
  scores.loss = sums.negative_log_likelihood / static_cast<double>(sums.target_tokens);
  if (data.validation_source.empty()) return scores;
  const std::vector<std::string> translations = translate(model, values, data, recipe, pool);
  scores.bleu = corpus_bleu(translations, {data.validation_target}).score;
  scores.chrf = corpus_chrf(translations, {data.validation_target}).score;
  return scores;
}

double metric_of(const ValidationScores& scores, const Recipe& recipe) {
  if (recipe.metric == "bleu" && scores.bleu) return *scores.bleu;
  if (recipe.metric == "chrf" && scores.chrf) return *scores.chrf;
  return -scores.loss;
}

}  // namespace heed::train
