// From text to a corpus of ids: reads, encodes on all threads, leaves out what cannot be used, and counts it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/stop.h"
#include "base/thread_pool.h"
#include "data/augmentation.h"
#include "data/corpus.h"
#include "data/labelled_reader.h"
#include "data/pairs_reader.h"
#include "data/running_text.h"

namespace heed {

/// The ids of a text, end token included if the model wants one; or of several ways to cut it, each of which
/// becomes a sentence of the corpus: as many for every text of every stream. `number` is the text's place in
/// its stream, for encoders that draw by chance. Called from several threads at once.
using Encoder = std::function<std::vector<std::vector<int32_t>>(std::string_view text, uint64_t number)>;

/// Of the length of a sentence.
constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

struct CorpusBuildOptions {
  /// All ids are less than this; required.
  uint32_t vocabulary_size = 0;
  /// Sentences with more ids than this, on any side, are left out and counted.
  uint64_t max_length = 256;
  /// Kept in the corpus, to notice on resume that another tokenizer would be used now.
  uint64_t tokenizer_fingerprint = 0;
  /// Encodes on these threads; without a pool, on the caller's. The corpus is the same either way.
  ThreadPool* pool = nullptr;
  /// Adds pairs to those of the text, if set; not used for a corpus of one stream.
  Augmentation* augmentation = nullptr;
  /// Building throws Stopped where this is requested, and leaves no file.
  Stop stop = {};
  /// Told now and then how far it is, if set.
  std::function<void(const CorpusCounts&)> progress = {};
};

/// Reads all pairs and writes a corpus of two streams, source and target, to `path`, whole or not at all.
/// A pair's tag stands before its source, with a space between them, and before that of pairs added to it.
/// Throws what `reader` and the encoders throw, kUsage for a vocabulary of no size, and kFormat if no pair is
/// left.
CorpusCounts build_pair_corpus(PairSource& reader, const Encoder& encode_source, const Encoder& encode_target,
                               const std::string& path, const CorpusBuildOptions& options);

/// Reads all lines and writes a corpus of two streams: what `encode_label` gives for the label, and
/// `encode_text` for the text; where there are two, they are given it with a tab between them. Nothing is
/// left out but for its length. Throws like build_pair_corpus.
CorpusCounts build_labelled_corpus(LabelledReader& reader, const Encoder& encode_label,
                                   const Encoder& encode_text, const std::string& path,
                                   const CorpusBuildOptions& options);

/// Reads a running text and writes a corpus of one stream, whose sentences are the stretches of the text.
/// `document_end` stands behind every document, if it is an id (and not -1). options.max_length must be
/// kNoLimit, as no part of a text can be left out. Throws like build_pair_corpus.
CorpusCounts build_running_corpus(RunningText& text, const Encoder& encode, int32_t document_end,
                                  const std::string& path, const CorpusBuildOptions& options);

}  // namespace heed
