#include "train/tasks/guided_alignment.h"

#include <algorithm>

#include "base/check.h"
#include "base/counted.h"
#include "data/align/hmm_aligner.h"
#include "metrics/symmetrization.h"
#include "train/loop/trainer.h"
#include "train/tasks/prepared_corpus.h"

namespace heed::train {
namespace {

// Version of the alignment procedure; another version invalidates stored links.
constexpr uint64_t kVersion = 2;
// Maximum number of pairs for training the aligner, which makes nine passes over them. More change little.
constexpr uint64_t kMostPairs = 200'000;
// Number of pairs that are aligned in parallel and then written.
constexpr uint64_t kChunkPairs = 16384;
constexpr size_t kBlock = 64;  // pairs per work item

/// Trains the aligner on the corpus, or on evenly spaced pairs of it.
TwoWayAligner train_aligner(const TaskInput& task, const Corpus& corpus,
                            const std::function<void(double)>& progress) {
  Sequences sources, targets;
  const uint64_t stride = (corpus.sentences() + kMostPairs - 1) / kMostPairs;
  for (uint64_t n = 0; n < corpus.sentences(); n += stride) {
    task.stop.check();
    sources.append(corpus.sentence(0, n));
    targets.append(corpus.sentence(1, n));
  }
  HmmAlignerOptions options;
  options.stop = task.stop;
  options.progress = progress;
  return {sources, targets, corpus.info().vocabulary_size, task.pool, options};
}

void make_links(const TaskInput& task, const Corpus& corpus, const std::string& path,
                const CorpusOrigin& origin) {
  task.begin_work(fmt::format("aligning the tokens of {}", counted(corpus.sentences(), "pair")));
  // Training the aligner makes nine passes over its sample, aligning one over all pairs.
  const double all = static_cast<double>(corpus.sentences());
  const double training = 9 * std::min<double>(all, kMostPairs);
  const auto report = [&](double passes) { task.report_progress(passes / (training + all)); };
  const TwoWayAligner aligner =
      train_aligner(task, corpus, [&](double fraction) { report(fraction * training); });
  CorpusWriter writer(path, 2, static_cast<uint32_t>(origin.max_length + 1));
  for (uint64_t begin = 0; begin < corpus.sentences(); begin += kChunkPairs) {
    const uint64_t count = std::min(kChunkPairs, corpus.sentences() - begin);
    std::vector<std::vector<int32_t>> sources(count), targets(count);
    task.pool.run((count + kBlock - 1) / kBlock, [&](size_t block) {
      task.stop.check();
      for (size_t n = block * kBlock; n < std::min<size_t>(count, (block + 1) * kBlock); ++n) {
        const std::vector<int32_t> source = corpus.sentence(0, begin + n),
                                   target = corpus.sentence(1, begin + n);
        sources[n] = {static_cast<int32_t>(source.size())};
        targets[n] = {static_cast<int32_t>(target.size())};
        const TwoWayAligner::Links found = aligner.align(source, target);
        for (const auto& [s, t] :
             symmetrize(found.forward, found.backward, Symmetrization::kGrowDiagFinalAnd)) {
          sources[n].push_back(s);
          targets[n].push_back(t);
        }
      }
    });
    for (size_t n = 0; n < count; ++n) writer.add(sources[n], targets[n]);
    report(training + static_cast<double>(begin + count));
  }
  writer.commit(origin, {.written = corpus.sentences()});
}

}  // namespace

Corpus prepare_links(const TaskInput& task, const Corpus& corpus, const std::string& path) {
  const CorpusOrigin origin{corpus.content_fingerprint(), kVersion, corpus.info().origin.max_length};
  return prepared_corpus(task, {path, "the training text", origin},
                         [&] { make_links(task, corpus, path, origin); });
}

models::AlignmentHead guided_head(const Recipe& recipe, const models::Model& model) {
  const auto [layers, heads] = model.attention_heads(Stack::kCross);
  if (layers == 0) {
    fail(ErrorKind::kUsage,
         "training.guided_alignment needs a Transformer, but model.arch is '{}': leave it out", recipe.arch);
  }
  if (recipe.guided_alignment_layer > layers) {
    fail(ErrorKind::kUsage, "training.guided_alignment_layer is {}, but the decoder has {}",
         recipe.guided_alignment_layer, counted(layers, "layer"));
  }
  if (recipe.guided_alignment_head > heads) {
    fail(ErrorKind::kUsage, "training.guided_alignment_head is {}, but a decoder layer has {}",
         recipe.guided_alignment_head, counted(heads, "head"));
  }
  return {recipe.guided_alignment_layer > 0 ? recipe.guided_alignment_layer - 1 : std::max(layers - 2, 0),
          recipe.guided_alignment_head - 1};
}

std::vector<ops::AttentionLink> guided_links(const Corpus& links, std::span<const uint64_t> sentences,
                                             const TranslationBatch& batch) {
  std::vector<ops::AttentionLink> all;
  for (size_t n = 0; n < sentences.size(); ++n) {
    const auto pair = static_cast<int>(n);
    const std::vector<int32_t> sources = links.sentence(0, sentences[n]),
                               targets = links.sentence(1, sentences[n]);
    const auto source_length = static_cast<int32_t>(batch.source[pair].size()),
               target_length = static_cast<int32_t>(batch.decoder_input[pair].size());
    if (sources.size() != targets.size() || sources[0] != source_length || targets[0] != target_length) {
      fail(ErrorKind::kFormat,
           "the alignments do not match the training corpus: remove train.links and resume");
    }
    std::vector<float> counts(static_cast<size_t>(target_length));
    for (size_t k = 1; k < targets.size(); ++k) {
      if (targets[k] + 1 >= target_length || sources[k] >= source_length) {
        fail(ErrorKind::kFormat,
             "the alignments of the training corpus are damaged: remove train.links and resume");
      }
      ++counts[static_cast<size_t>(targets[k])];
    }
    // Target token t is the decoder's input at position t + 1.
    for (size_t k = 1; k < targets.size(); ++k)
      all.push_back({pair, targets[k] + 1, sources[k], 1 / counts[static_cast<size_t>(targets[k])]});
  }
  return all;
}

}  // namespace heed::train
