#include "data/corpus_builder.h"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <utility>

#include "base/check.h"

namespace heed {
namespace {

// Sentences are read, tokenized in parallel and written in order, in chunks of this many.
constexpr size_t kChunk = 8192;
constexpr size_t kChunkBytes = 16 << 20;
constexpr size_t kBlock = 64;      // sentences per work item, at most
constexpr size_t kMinBlocks = 64;  // work items if the sentences, being long, are few

class CorpusBuilder {
 public:
  CorpusBuilder(std::vector<Encoder> encoders, const std::string& path, const CorpusBuildOptions& options)
      : encoders_(std::move(encoders)), options_(options), writer_(path, streams(), checked(options)) {}

  /// `last`, if not -1, is appended to the ids of each text.
  void add(std::initializer_list<std::string_view> texts, int32_t last = -1) {
    last_.push_back(last);
    for (const std::string_view text : texts) {
      texts_.emplace_back(text);
      bytes_ += text.size();
    }
    if (texts_.size() >= kChunk * encoders_.size() || bytes_ >= kChunkBytes) flush();
  }

  void skip_empty(uint64_t count) { counts_.empty += count; }

  CorpusCounts finish(const std::string& name, uint64_t input_fingerprint) {
    flush();
    if (counts_.written == 0) {
      fail(ErrorKind::kFormat, "{} has no usable sentences: {} have more than {} tokens, {} are empty", name,
           counts_.too_long, options_.max_length, counts_.empty);
    }
    writer_.commit({input_fingerprint, options_.tokenizer_fingerprint, options_.max_length}, counts_);
    return counts_;
  }

 private:
  static uint32_t checked(const CorpusBuildOptions& options) {
    if (options.vocabulary_size < 1 || options.vocabulary_size > uint32_t{INT32_MAX}) {
      fail(ErrorKind::kUsage, "the vocabulary size must not be {}", options.vocabulary_size);
    }
    return options.vocabulary_size;
  }

  uint32_t streams() const { return static_cast<uint32_t>(encoders_.size()); }

  void encode() {
    segmentations_.assign(texts_.size(), {});
    const size_t size = std::clamp<size_t>(texts_.size() / kMinBlocks, 1, kBlock);
    const auto encode_block = [this, size](size_t block) {
      const size_t end = std::min((block + 1) * size, texts_.size());
      for (size_t n = block * size; n < end; ++n) {
        options_.stop.check();
        segmentations_[n] = encoders_[n % streams()](texts_[n], encoded_ + n / streams());
        const int32_t last = last_[n / streams()];
        for (std::vector<int32_t>& ids : segmentations_[n]) {
          if (last >= 0) ids.push_back(last);
        }
      }
    };
    const size_t blocks = (texts_.size() + size - 1) / size;
    if (options_.pool != nullptr) {
      options_.pool->run(blocks, encode_block);
    } else {
      for (size_t block = 0; block < blocks; ++block) encode_block(block);
    }
  }

  /// Writes the segmentations of one sentence, in each stream.
  void write_segmentations(std::span<const std::vector<std::vector<int32_t>>> segmentations) {
    std::vector<std::span<const int32_t>> sentence(streams());
    for (size_t n = 0; n < segmentations[0].size(); ++n) {
      for (size_t stream = 0; stream < streams(); ++stream) {
        HEED_CHECK(segmentations[stream].size() == segmentations[0].size());
        sentence[stream] = segmentations[stream][n];
      }
      const auto is_empty = [](const auto& ids) { return ids.empty(); };
      const auto is_long = [this](const auto& ids) { return ids.size() > options_.max_length; };
      if (std::ranges::any_of(sentence, is_empty)) {
        ++counts_.empty;
      } else if (std::ranges::any_of(sentence, is_long)) {
        ++counts_.too_long;
      } else {
        writer_.add(sentence);
        ++counts_.written;
      }
    }
  }

  void flush() {
    encode();
    for (size_t first = 0; first < segmentations_.size(); first += streams())
      write_segmentations({&segmentations_[first], streams()});
    encoded_ += texts_.size() / streams();
    texts_.clear();
    last_.clear();
    bytes_ = 0;
    if (options_.progress) options_.progress(counts_);
  }

  std::vector<Encoder> encoders_;  // one per stream
  const CorpusBuildOptions& options_;
  CorpusWriter writer_;
  std::vector<std::string> texts_;                                // of all streams, in corpus order
  std::vector<int32_t> last_;                                     // id to append, for each sentence
  std::vector<std::vector<std::vector<int32_t>>> segmentations_;  // of each text
  uint64_t encoded_ = 0;                                          // number of sentences before these
  size_t bytes_ = 0;
  CorpusCounts counts_;
};

}  // namespace

CorpusCounts build_pair_corpus(PairSource& reader, const Encoder& encode_source, const Encoder& encode_target,
                               const std::string& path, const CorpusBuildOptions& options) {
  CorpusBuilder builder({encode_source, encode_target}, path, options);
  Pair pair;
  const auto add = [&](std::string_view source, std::string_view target) {
    if (pair.tag.empty()) {
      builder.add({source, target});
    } else {
      builder.add({fmt::format("{} {}", pair.tag, source), target});
    }
  };
  while (reader.next(pair)) {
    add(pair.source, pair.target);
    if (options.augmentation != nullptr) options.augmentation->extend(pair, add);
  }
  builder.skip_empty(reader.counts().empty);
  return builder.finish(reader.name(), reader.fingerprint());
}

CorpusCounts build_labelled_corpus(LabelledReader& reader, const Encoder& encode_label,
                                   const Encoder& encode_text, const std::string& path,
                                   const CorpusBuildOptions& options) {
  CorpusBuilder builder({encode_label, encode_text}, path, options);
  LabelledText each;
  while (reader.next(each)) {
    std::string text(each.first);
    if (each.second) text.append("\t").append(*each.second);
    builder.add({each.label, text});
  }
  return builder.finish(reader.name(), reader.fingerprint().value());
}

CorpusCounts build_running_corpus(RunningText& text, const Encoder& encode, int32_t document_end,
                                  const std::string& path, const CorpusBuildOptions& options) {
  HEED_CHECK(options.max_length == kNoLimit);
  CorpusBuilder builder({encode}, path, options);
  TextChunk chunk;
  while (text.next(chunk)) builder.add({chunk.text}, chunk.ends_document ? document_end : -1);
  return builder.finish(text.reader().name(), text.fingerprint());
}

}  // namespace heed
