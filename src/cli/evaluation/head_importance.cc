#include "cli/evaluation/head_importance.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "cli/evaluation/evaluation_report.h"
#include "cli/options/interrupts.h"
#include "inspect/draw/matrix_picture.h"
#include "inspect/trace/trace.h"
#include "models/head_names.h"

namespace heed::cli {
namespace {

std::vector<std::pair<std::string, std::string>> pairs_of(const TestSet& set) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (size_t n = 0; n < set.size(); ++n) pairs.emplace_back(set.source[n], set.references[0][n]);
  return pairs;
}

/// Empty when interrupted.
std::optional<Lines> translations(const decode::Translator& translator, const TestSet& set) {
  Lines lines;
  size_t next = 0;
  const bool whole = translator.translate(
      [&](std::string& line) {
        if (next == set.source.size()) return false;
        line = set.source[next++];
        return true;
      },
      [&](const decode::Translation& translation) { lines.push_back(translation.best().text); },
      {.progress = {}, .cancelled = &interrupted()});
  return whole ? std::optional(std::move(lines)) : std::nullopt;
}

/// One map of a stack: layers by heads.
MatrixPlot plot_of(const HeadImportance& importance, Stack stack,
                   const std::function<double(const SetScore&)>& value) {
  MatrixPlot plot{.title = stack_name(stack), .matrix = {}};
  int layers = 0, heads = 0;
  for (const HeadScore& each : importance.heads) {
    if (each.head.layer_id.stack != stack) continue;
    layers = std::max(layers, each.head.layer_id.layer + 1);
    heads = std::max(heads, each.head.head + 1);
    plot.matrix.weights.push_back(static_cast<float>(value(each.score)));
  }
  plot.matrix.queries = layers;
  plot.matrix.keys = heads;
  for (int layer = 1; layer <= layers; ++layer) plot.rows.push_back(fmt::format("layer {}", layer));
  for (int head = 1; head <= heads; ++head) plot.columns.push_back(std::to_string(head));
  return plot;
}

}  // namespace

std::optional<HeadImportance> head_importance(const TranslationModel& model, const TestSet& set,
                                              ThreadPool& pool, const HeadImportanceOptions& options) {
  MeasureOptions measured;
  measured.metrics = "bleu";
  const std::vector<NamedMetric> metrics = make_metrics(measured, set.references.size());
  const auto pairs = pairs_of(set);
  HeadImportance result;
  const auto score_without = [&](nn::HeadScales off) -> std::optional<SetScore> {
    decode::TranslatorOptions ablated = options.translator;
    ablated.heads = std::move(off);
    const decode::Translator translator(model.loaded, model.tokenizer, pool, ablated);
    SetScore score;
    size_t tokens = 0;
    for (const decode::TargetScore& each : translator.score(pairs, &interrupted())) {
      score.log_probability += each.log_probability;
      tokens += each.ids.size();
    }
    if (interrupted()) return std::nullopt;
    result.tokens = tokens;
    score.log_probability /= static_cast<double>(tokens);
    if (!options.bleu) return score;
    std::optional<Lines> lines = translations(translator, set);
    if (!lines) return std::nullopt;
    const std::vector<SystemOutput> outputs{{.system = "", .lines = std::move(*lines)}};
    score.bleu = measure(metrics, measured, set, outputs).at(0).results.at(0).score;
    return score;
  };

  const std::vector<nn::HeadScale> heads = models::heads_of(model.loaded.seq2seq());
  const auto whole = score_without({});
  if (!whole) return std::nullopt;
  result.whole = *whole;
  for (const nn::HeadScale& head : heads) {
    if (options.progress) options.progress(result.heads.size(), heads.size());
    const auto score = score_without(nn::HeadScales({head}));
    if (!score) return std::nullopt;
    result.heads.push_back({head, *score});
  }
  return result;
}

Picture head_importance_picture(const HeadImportance& importance) {
  const auto map_of = [&](const std::string& title, const std::string& scale, int decimals,
                          const std::function<double(const SetScore&)>& value) {
    MatrixPictureOptions options{.title = title, .scale = scale, .x_name = "head"};
    options.decimals = decimals;
    double most = 0;
    std::vector<MatrixPlot> plots;
    for (const Stack stack : {Stack::kEncoder, Stack::kCross, Stack::kDecoder}) {
      MatrixPlot plot = plot_of(importance, stack, value);
      if (plot.matrix.empty()) continue;
      for (const float loss : plot.matrix.weights) most = std::max(most, static_cast<double>(loss));
      plots.push_back(std::move(plot));
    }
    if (most > 0) options.most = most;
    return matrix_picture(plots, options);
  };
  Picture picture = map_of("Loss of log-probability per token when a head is switched off, in 1/1000 nat",
                           "loss of log P", 0, [&](const SetScore& score) {
                             return 1000 * (importance.whole.log_probability - score.log_probability);
                           });
  if (!importance.whole.bleu) return picture;
  picture.add_below(map_of("Loss of BLEU", "loss of BLEU", 1,
                           [&](const SetScore& score) { return *importance.whole.bleu - *score.bleu; }));
  return picture;
}

}  // namespace heed::cli
