// The binary layout of a corpus file (see corpus.h), for writer, reader and tests.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/corpus/corpus.h"

namespace heed::corpus_format {

constexpr uint64_t kMagic = 0x315350524F434448;  // "HDCORPS1"
constexpr uint64_t kVersion = 1;

struct Front {
  uint64_t magic = kMagic;
  uint64_t version = kVersion;
};

struct Footer {
  uint64_t streams = 0;
  uint64_t vocabulary_size = 0;
  uint64_t id_bytes = 0;
  uint64_t sentences = 0;
  uint64_t stream_ids[kMaxStreams] = {};
  uint64_t empty = 0, too_long = 0;
  uint64_t input = 0, tokenizer = 0, max_length = 0;
  uint64_t content_fingerprint = 0;  // of all bytes before the footer
  uint64_t footer_fingerprint = 0;   // of the fields above
  uint64_t magic = kMagic;           // last, to detect truncated files

  uint64_t expected_fingerprint() const {
    Fingerprint fingerprint;
    fingerprint.add(this, offsetof(Footer, footer_fingerprint));
    return fingerprint.value();
  }
};
static_assert(sizeof(Front) == 16 && sizeof(Footer) == 8 * 16, "no padding");

/// Bytes per id: 2 if every id fits, else 4.
constexpr uint64_t id_bytes(uint64_t vocabulary_size) {
  return vocabulary_size <= 65536 ? 2 : 4;
}

/// Zeros after `bytes` bytes, up to a multiple of 8.
constexpr uint64_t padding(uint64_t bytes) {
  return (8 - bytes % 8) % 8;
}

}  // namespace heed::corpus_format
