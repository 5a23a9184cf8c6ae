// Builds a corpus from text: reads, tokenizes on all threads, and skips and counts unusable sentences.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/stop.h"
#include "base/thread_pool.h"
#include "data/augment/augmentation.h"
#include "data/corpus/corpus.h"
#include "data/corpus/readers/labelled_reader.h"
#include "data/corpus/readers/pairs_reader.h"
#include "data/corpus/readers/running_text.h"

namespace heed {

/// Tokenizes a text into one or several segmentations, with end token if the model needs one. Each
/// segmentation becomes a sentence of the corpus; all texts of all streams must have the same number.
/// `number` is the index of the text in its stream, for random segmentations. Must be thread-safe.
using Encoder = std::function<std::vector<std::vector<int32_t>>(std::string_view text, uint64_t number)>;

/// No maximum length.
constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

struct CorpusBuildOptions {
  /// All ids are below this; required.
  uint32_t vocabulary_size = 0;
  /// Sentences with more ids on any side are skipped and counted.
  uint64_t max_length = 256;
  /// Stored in the corpus, to detect another tokenizer on resume.
  uint64_t tokenizer_fingerprint = 0;
  /// Threads for tokenization; null: the calling thread. Does not affect the corpus.
  ThreadPool* pool = nullptr;
  /// Adds pairs if set; unused for a corpus of one stream.
  Augmentation* augmentation = nullptr;
  /// Throws Cancelled if requested, and leaves no file.
  Stop stop = {};
  /// Called from time to time if set.
  std::function<void(const CorpusCounts&)> progress = {};
};

/// Reads all pairs and writes a corpus of two streams, source and target, atomically to `path`. The tag of a
/// pair is prepended to its source, separated by a space, also for pairs added by augmentation. Throws the
/// errors of `reader` and the encoders, kUsage for a vocabulary size of 0, and kFormat if no pair is left.
CorpusCounts build_pair_corpus(PairSource& reader, const Encoder& encode_source, const Encoder& encode_target,
                               const std::string& path, const CorpusBuildOptions& options);

/// Reads all lines and writes a corpus of two streams: labels, encoded by `encode_label`, and texts, encoded
/// by `encode_text`; text pairs are passed with a tab between them. Only texts that are too long are skipped.
/// Throws like build_pair_corpus.
CorpusCounts build_labelled_corpus(LabelledReader& reader, const Encoder& encode_label,
                                   const Encoder& encode_text, const std::string& path,
                                   const CorpusBuildOptions& options);

/// Reads a continuous text and writes a corpus of one stream, whose sentences are the chunks of the text.
/// Appends `document_end` to every document unless it is -1. options.max_length must be kNoLimit, since no
/// part may be skipped. Throws like build_pair_corpus.
CorpusCounts build_running_corpus(RunningText& text, const Encoder& encode, int32_t document_end,
                                  const std::string& path, const CorpusBuildOptions& options);

}  // namespace heed
