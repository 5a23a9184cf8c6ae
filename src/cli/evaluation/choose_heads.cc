#include "cli/evaluation/choose_heads.h"
#include "cli/files/model_lookup.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/counted.h"
#include "base/thread_pool.h"
#include "cli/jobs/resumable/line_output.h"
#include "cli/jobs/sentence_pairs.h"
#include "models/alignment_heads.h"
#include "train/tasks/head_choice.h"

namespace heed::cli {
namespace {

/// The aligner learns from at most this many pairs.
constexpr int kMaxPairs = 200'000;
/// Pairs with a longer side are skipped.
constexpr size_t kMaxTokens = 100;

train::TokenPairs encode_pairs(const PairsInput& input, const TranslationModel& model) {
  train::TokenPairs encoded;
  PairsReader reader(input);
  const auto longest = static_cast<size_t>(model.loaded.seq2seq().max_length());
  const size_t most = longest > 0 ? std::min(kMaxTokens, longest) : kMaxTokens;
  for (Pair pair; encoded.sources.count() < kMaxPairs && reader.next(pair);) {
    stop_on_interrupt().check();
    model.tokenizer.require_language_code(pair.source);
    const std::vector<int32_t> source = model.tokenizer.encode_source(std::string(pair.source)).ids,
                               target = model.tokenizer.encode_target(std::string(pair.target)).ids;
    if (source.size() > most || target.size() > most) continue;
    encoded.sources.append(source);
    encoded.targets.append(target);
  }
  if (encoded.sources.count() == 0) {
    fail(ErrorKind::kFormat, "{} has no pair with at most {} tokens on each side", reader.name(), most);
  }
  return encoded;
}

/// Adds the heads to generation_config.json. Where there is none, settings are in config.json, and no longer
/// hold once there is one: it has them, too.
void write_heads(const models::LoadedModel& loaded, const JsonObject& config,
                 const std::vector<models::AlignmentHead>& heads) {
  if (loaded.files.has(model_file::kGenerationConfig)) {
    return models::write_alignment_heads(loaded.directory(), heads);
  }
  models::GenerationDefaults generation = loaded.generation;
  generation.alignment_heads = heads;
  models::write_generation_defaults(loaded.directory(), generation,
                                    models::special_ids_of(*loaded.model, config));
}

}  // namespace

int choose_heads(const HeadChoiceOptions& o) {
  require_one_input(o.pairs);
  if (!wanted_pair(o.model).empty()) {
    fail(ErrorKind::kUsage,
         "--choose-heads writes to the model directory, and bundled models have their heads: name a model "
         "with --model DIR");
  }
  const models::ModelDirectory directory = open_translation_model(o.model);
  const TranslationModel model = load_translation_model(o.model, directory);
  const train::TokenPairs pairs = encode_pairs(o.pairs, model);
  ThreadPool pool(o.common.threads);
  const translate::HeadChoice choice =
      train::choose_heads(model.loaded.seq2seq(), model.loaded.context(), pairs, pool, stop_on_interrupt());
  if (!choice.heads.empty()) write_heads(model.loaded, directory.config(), choice.heads);
  LineOutput output("-");
  for (const auto& [layer, head] : choice.heads)
    output.write_line(fmt::format("decoder layer {}, head {}", layer + 1, head + 1));
  if (choice.heads.empty())
    output.write_line(
        "no head selected, and the model is left as it is: none agrees better than the mean of the last "
        "layer's heads");
  output.write_line(fmt::format(
      "AER between tokens, measured against alignments learnt from {}: {:.1f} (mean of the last layer's "
      "heads: {:.1f})",
      counted(pairs.sources.count(), "pair"), 100 * choice.error_rate, 100 * choice.default_error_rate));
  output.commit();
  return kExitDone;
}

}  // namespace heed::cli
