#include "data/batch/batcher.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/rng.h"
#include "data/corpus/permutation.h"

namespace heed {
namespace {

struct Numbered {
  uint64_t sentence;
  SentenceSize size;
};

bool shorter(const Numbered& a, const Numbered& b) {
  return std::tie(a.size.target, a.size.source, a.sentence) <
         std::tie(b.size.target, b.size.source, b.sentence);
}

std::vector<Batch> make_batches(const std::vector<Numbered>& sentences, int64_t batch_tokens) {
  std::vector<Batch> batches;
  for (const auto& [sentence, size] : sentences) {
    if (batches.empty() || batches.back().source_tokens + size.source > batch_tokens ||
        batches.back().target_tokens + size.target > batch_tokens) {
      batches.emplace_back();
    }
    batches.back().add(sentence, size);
  }
  return batches;
}

void check_batch_tokens(int64_t batch_tokens) {
  if (batch_tokens < 1)
    fail(ErrorKind::kUsage, "the batch size must be at least 1 token, not {}", batch_tokens);
}

}  // namespace

SentenceSizes sizes_of(const Corpus& corpus) {
  const size_t streams = corpus.info().streams;
  HEED_CHECK(streams <= 2);
  const size_t target = streams - 1;
  const auto length = [&corpus](size_t stream, uint64_t n) {
    return static_cast<int32_t>(corpus.length(stream, n));
  };
  return {.count = corpus.sentences(),
          .source_tokens = streams == 2 ? corpus.stream_ids(0) : 0,
          .target_tokens = corpus.stream_ids(target),
          .at = [=](uint64_t n) {
            return SentenceSize{target == 1 ? length(0, n) : 0, length(target, n)};
          }};
}

SentenceSizes sizes_of(const std::vector<SentenceSize>& list) {
  SentenceSizes sizes{.count = list.size(), .at = [&list](uint64_t n) { return list[n]; }};
  for (const SentenceSize& size : list) {
    sizes.source_tokens += static_cast<uint64_t>(size.source);
    sizes.target_tokens += static_cast<uint64_t>(size.target);
  }
  return sizes;
}

void Batch::add(uint64_t sentence, SentenceSize size) {
  sentences.push_back(sentence);
  sizes.push_back(size);
  source_tokens += size.source;
  target_tokens += size.target;
}

Batcher::Batcher(SentenceSizes sizes, BatcherOptions options, BatchCursor start)
    : sizes_(std::move(sizes)), options_(options), cursor_(start) {
  check_batch_tokens(options.batch_tokens);
  if (options.window_batches < 1) {
    fail(ErrorKind::kUsage, "the window must have at least 1 batch, not {}", options.window_batches);
  }
  if (sizes_.count == 0) fail(ErrorKind::kUsage, "there are no sentences for batches");
  // The number of sentences that have, on average, window_batches * batch_tokens tokens on the longer side.
  const uint64_t tokens = std::max({sizes_.source_tokens, sizes_.target_tokens, uint64_t{1}});
  const double share = static_cast<double>(options.window_batches) *
                       static_cast<double>(options.batch_tokens) / static_cast<double>(tokens);
  window_sentences_ =
      share >= 1 ? sizes_.count
                 : std::max(uint64_t{1}, static_cast<uint64_t>(share * static_cast<double>(sizes_.count)));
  windows_ = (sizes_.count - 1) / window_sentences_ + 1;
  if (start.window < windows_) fill_window();
  if (start.window >= windows_ || start.batch >= window_.size()) {
    fail(ErrorKind::kFormat,
         "the saved position, batch {} of window {}, does not exist: the data or the batch size has changed",
         start.batch, start.window);
  }
}

void Batcher::fill_window() {
  const RandomKey epoch = RandomKey::from_seed(options_.seed).fold(cursor_.epoch);
  const Permutation order(epoch.fold(0), sizes_.count);
  const uint64_t begin = cursor_.window * window_sentences_;
  const uint64_t end = begin + std::min(window_sentences_, sizes_.count - begin);
  std::vector<Numbered> sentences;
  sentences.reserve(end - begin);
  for (uint64_t position = begin; position < end; ++position) {
    const uint64_t sentence = order(position);
    sentences.push_back({sentence, sizes_.at(sentence)});
  }
  std::ranges::sort(sentences, shorter);
  window_ = make_batches(sentences, options_.batch_tokens);
  Random random(epoch.fold(1).fold(cursor_.window));
  shuffle(window_, random);
}

double Batcher::epochs() const {
  const uint64_t begin = cursor_.window * window_sentences_;
  const auto sentences = static_cast<double>(std::min(window_sentences_, sizes_.count - begin));
  const double part = static_cast<double>(cursor_.batch) / static_cast<double>(window_.size());
  return static_cast<double>(cursor_.epoch) +
         (static_cast<double>(begin) + part * sentences) / static_cast<double>(sizes_.count);
}

Batch Batcher::next() {
  Batch batch = std::move(window_[cursor_.batch]);
  ++cursor_.batch;
  if (cursor_.batch == window_.size()) {
    cursor_ = cursor_.window + 1 < windows_ ? BatchCursor{cursor_.epoch, cursor_.window + 1, 0}
                                            : BatchCursor{cursor_.epoch + 1, 0, 0};
    fill_window();
  }
  return batch;
}

std::vector<Batch> length_sorted_batches(const SentenceSizes& sizes, int64_t batch_tokens) {
  check_batch_tokens(batch_tokens);
  std::vector<Numbered> sentences;
  sentences.reserve(sizes.count);
  for (uint64_t n = 0; n < sizes.count; ++n) sentences.push_back({n, sizes.at(n)});
  std::ranges::sort(sentences, [](const Numbered& a, const Numbered& b) { return shorter(b, a); });
  return make_batches(sentences, batch_tokens);
}

std::vector<Batch> split_into_shards(const Batch& batch, size_t shards, ShardWeights weights) {
  HEED_CHECK(shards >= 1);
  std::vector<double> cost;
  cost.reserve(batch.sizes.size());
  for (const SentenceSize& size : batch.sizes)
    cost.push_back(weights.source * size.source + weights.target * size.target);
  std::vector<size_t> order(cost.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return cost[a] > cost[b]; });

  std::vector<double> sum(shards, 0.0);
  std::vector<size_t> shard_of(cost.size());
  for (const size_t n : order) {
    const size_t shard = static_cast<size_t>(std::ranges::min_element(sum) - sum.begin());  // ties: the first
    shard_of[n] = shard;
    sum[shard] += cost[n];
  }
  std::vector<Batch> parts(shards);
  for (size_t n = 0; n < cost.size(); ++n) parts[shard_of[n]].add(batch.sentences[n], batch.sizes[n]);
  return parts;
}

}  // namespace heed
