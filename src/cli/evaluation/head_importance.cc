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

HeadImportance head_importance(const TranslationModel& model, const TestSet& set, ThreadPool& pool,
                               const HeadImportanceOptions& options) {
  MeasureOptions measured;
  measured.metrics = "bleu";
  const std::vector<NamedMetric> metrics = make_metrics(measured, set.references.size());
  const auto pairs = pairs_of(set);
  HeadImportance result;
  const auto score_without = [&](nn::HeadScales off) {
    translate::TranslatorOptions ablated = options.translator;
    ablated.heads = std::move(off);
    const translate::Translator translator(model.loaded, model.tokenizer, pool, ablated);
    SetScore score;
    size_t tokens = 0;
    for (const translate::TargetScore& each : translator.score(pairs, stop_on_interrupt())) {
      score.log_probability += each.log_probability;
      tokens += each.ids.size();
    }
    result.tokens = tokens;
    score.log_probability /= static_cast<double>(tokens);
    if (!options.bleu) return score;
    std::vector<SystemOutput> outputs{{.system = "", .lines = {}}};
    const auto take = [&](const translate::Translation& done) {
      outputs[0].lines.push_back(done.best().text);
    };
    translator.translate(set.source, take, {.stop = stop_on_interrupt()});
    score.bleu = measure(metrics, measured, set, outputs).at(0).results.at(0).score;
    return score;
  };

  const std::vector<nn::HeadScale> heads = models::heads_of(model.loaded.seq2seq());
  result.whole = score_without({});
  for (const nn::HeadScale& head : heads) {
    if (options.progress) options.progress(result.heads.size(), heads.size());
    result.heads.push_back({head, score_without(nn::HeadScales({head}))});
  }
  return result;
}

Picture head_importance_picture(const HeadImportance& importance) {
  const auto map_of = [&](const std::string& title, const std::string& scale, int decimals,
                          const std::function<double(const SetScore&)>& value) {
    MatrixPictureOptions options{.title = title, .scale = scale, .x_name = "head"};
    options.decimals = decimals;
    float least = 0, most = 0;
    std::vector<MatrixPlot> plots;
    for (const Stack stack : {Stack::kEncoder, Stack::kCross, Stack::kDecoder}) {
      MatrixPlot plot = plot_of(importance, stack, value);
      if (plot.matrix.empty()) continue;
      for (const float loss : plot.matrix.weights) {
        least = std::min(least, loss);
        most = std::max(most, loss);
      }
      plots.push_back(std::move(plot));
    }
    set_colour_range(options, static_cast<double>(least), static_cast<double>(most));
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
