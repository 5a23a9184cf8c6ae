// Tokenized sentences on disk, memory-mapped, so that a corpus may be larger than memory.
//
// A corpus has one stream (text) or several (source and target) with the same number of sentences. The file:
//
//   front   8 bytes magic, 8 bytes version
//   ids     2 bytes each if the vocabulary allows, else 4: stream 0 of sentence 0, stream 1 of sentence 0
//           and so on, then zeros up to a multiple of 8 bytes
//   index   8 bytes for each sentence and stream, in the order of the ids: where its ids end, counted in ids
//   footer  CorpusInfo, the sizes, and fingerprints of the content and of the footer
//
// All numbers are little-endian. The footer is at the end so that the file is written in one pass, with
// memory for one sentence. Files are untrusted input: everything is validated before use.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/files/fingerprint.h"
#include "base/stop.h"

namespace heed {

constexpr size_t kMaxStreams = 4;

/// The inputs of a corpus. If any of them changes, the corpus may change, and training on it cannot resume.
struct CorpusOrigin {
  uint64_t input = 0;       ///< hash of the text, such as that of identify_pairs()
  uint64_t tokenizer = 0;   ///< hash of tokenizer and vocabulary
  uint64_t max_length = 0;  ///< sentences with more ids on any side were skipped
  bool operator==(const CorpusOrigin&) const = default;
};

/// Counts of sentences (for translation, of pairs).
struct CorpusCounts {
  uint64_t written = 0;
  uint64_t empty = 0;     ///< skipped: no text or no ids on a side
  uint64_t too_long = 0;  ///< skipped: more than max_length ids on a side
};

struct CorpusInfo {
  uint32_t streams = 2;          ///< 1 .. kMaxStreams
  uint32_t vocabulary_size = 0;  ///< all ids are less than this
  CorpusOrigin origin;
  CorpusCounts counts;
};

/// Writes a corpus file atomically.
class CorpusWriter {
 public:
  /// `streams` and `vocabulary_size` as in CorpusInfo. Throws kFile.
  CorpusWriter(const std::string& path, uint32_t streams, uint32_t vocabulary_size);

  /// Adds a sentence: its ids in each stream, none empty. Throws kFormat for an id outside the vocabulary.
  void add(std::span<const std::span<const int32_t>> sentence);
  void add(std::span<const int32_t> source, std::span<const int32_t> target);

  uint64_t sentences() const { return sentences_; }

  /// Completes the file; `counts.written` must be the number of sentences added. Throws kFile.
  void commit(const CorpusOrigin& origin, const CorpusCounts& counts);

 private:
  void write(const void* data, size_t size);

  AtomicFile file_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> index_;  // an unnamed temporary file until commit()
  std::string path_;
  uint32_t streams_, vocabulary_size_;
  uint64_t sentences_ = 0, ids_ = 0;
  std::array<uint64_t, kMaxStreams> stream_ids_{};
  std::vector<uint16_t> narrow_;
  Fingerprint content_;
};

/// Reads a corpus file; thread-safe. The file stays mapped: replacing it (as CorpusWriter does) is safe,
/// truncating it in place is not.
class Corpus {
 public:
  /// Checks everything except the sentences, in constant time. Throws kNotFound, kFile or kFormat.
  explicit Corpus(const std::string& path);

  const CorpusInfo& info() const { return info_; }
  uint64_t sentences() const { return info_.counts.written; }
  /// The total number of ids of a stream.
  uint64_t stream_ids(size_t stream) const;
  /// The number of ids of a sentence, including a stored end token. Throws kFormat for a damaged file.
  uint32_t length(size_t stream, uint64_t sentence) const;
  /// Appends the ids of a sentence to `ids`. Throws kFormat if the file is damaged.
  void append(size_t stream, uint64_t sentence, std::vector<int32_t>& ids) const;
  std::vector<int32_t> sentence(size_t stream, uint64_t sentence) const;
  /// Appends ids [begin, begin + count) of a corpus of one stream, whose sentences are one continuous text.
  void append_run(uint64_t begin, uint64_t count, std::vector<int32_t>& ids) const;

  /// Reads the whole file and verifies its hash. Throws kFormat, or Cancelled if `stop` is requested.
  void verify(const Stop& stop = {}) const;
  /// Hash of the content without the footer.
  uint64_t content_fingerprint() const { return content_fingerprint_; }

 private:
  struct Range {
    uint64_t begin, end;
  };
  Range range(size_t stream, uint64_t sentence) const;
  void append(Range range, std::vector<int32_t>& ids) const;
  [[noreturn]] void damaged(const char* what) const;

  std::string path_;
  MappedFile file_;
  CorpusInfo info_;
  std::array<uint64_t, kMaxStreams> stream_ids_{};
  uint64_t ids_ = 0, index_begin_ = 0, content_fingerprint_ = 0;
  size_t id_bytes_ = 4;
};

}  // namespace heed
