#include "cli/choose_heads.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/counted.h"
#include "base/file.h"
#include "base/thread_pool.h"
#include "cli/line_output.h"
#include "cli/translation.h"
#include "models/alignment_heads.h"
#include "train/head_choice.h"

namespace heed::cli {
namespace {

// Pairs that the aligner learns from.
constexpr int kMostPairs = 200'000;
// Longer ones are left out.
constexpr size_t kMostTokens = 100;

train::TokenPairs encode_pairs(const PairsInput& input, const TranslationModel& model) {
  train::TokenPairs encoded;
  PairsReader reader(input);
  const auto longest = static_cast<size_t>(model.loaded.seq2seq().longest());
  const size_t most = longest > 0 ? std::min(kMostTokens, longest) : kMostTokens;
  for (Pair pair; !interrupted() && encoded.sources.count() < kMostPairs && reader.next(pair);) {
    const std::vector<int32_t> source = model.tokenizer.encode_source(std::string(pair.source)).ids,
                               target = model.tokenizer.encode_target(std::string(pair.target)).ids;
    if (source.size() > most || target.size() > most) continue;
    encoded.sources.append(source);
    encoded.targets.append(target);
  }
  if (encoded.sources.count() == 0 && !interrupted()) {
    fail(ErrorKind::kFormat, "{} has no pair of at most {} tokens on either side", reader.name(), most);
  }
  return encoded;
}

}  // namespace

int choose_heads(const HeadChoiceOptions& o) {
  require_one_input(o.pairs);
  const TranslationModel model = load_translation_model(o.model);
  const std::string path = model.loaded.directory + "/generation_config.json";
  if (!is_present(path)) {
    fail(ErrorKind::kUsage, "'{}' is not there, where alignment_heads are noted: write one, {{}} is enough",
         path);
  }
  const train::TokenPairs pairs = encode_pairs(o.pairs, model);
  ThreadPool pool(o.common.threads);
  if (interrupted()) return kExitInterrupted;
  const decode::HeadChoice choice =
      train::choose_heads(model.loaded.seq2seq(), model.loaded.context(), pairs, pool, Stop(&interrupted()));
  if (interrupted()) return kExitInterrupted;
  models::write_alignment_heads(model.loaded.directory, choice.heads);
  LineOutput output("-");
  for (const auto& [layer, head] : choice.heads)
    output.write_line(fmt::format("decoder layer {}, head {}", layer + 1, head + 1));
  if (choice.heads.empty()) output.write_line("no head: none agrees better than the last layer's mean");
  output.write_line(fmt::format("AER between tokens against alignments learnt from {}: {:.1f}, before {:.1f}",
                                counted(pairs.sources.count(), "pair"), 100 * choice.error_rate,
                                100 * choice.default_error_rate));
  output.commit();
  return kExitDone;
}

}  // namespace heed::cli
