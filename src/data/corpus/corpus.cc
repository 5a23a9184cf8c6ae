#include "data/corpus/corpus.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "data/corpus/corpus_format.h"

namespace heed {

void Corpus::damaged(const char* what) const {
  fail(ErrorKind::kFormat, "'{}' is damaged: {}; delete it, and it will be recreated from the text", path_,
       what);
}

Corpus::Corpus(const std::string& path) : path_(path), file_(path) {
  using corpus_format::Footer;
  using corpus_format::Front;
  Front front;
  Footer footer;
  const uint64_t size = file_.size();
  if (size >= sizeof front) std::memcpy(&front, file_.data(), sizeof front);
  if (size < sizeof front || front.magic != corpus_format::kMagic) {
    fail(ErrorKind::kFormat, "'{}' is not a corpus file of Heed", path_);
  }
  if (front.version != corpus_format::kVersion) {
    fail(ErrorKind::kFormat,
         "'{}' is a corpus of version {}, but this version of Heed reads version {}: delete it, and it will "
         "be recreated",
         path_, front.version, corpus_format::kVersion);
  }
  if (size < sizeof front + sizeof footer) damaged("it is truncated");
  std::memcpy(&footer, file_.data() + size - sizeof footer, sizeof footer);
  if (footer.magic != corpus_format::kMagic) damaged("its end is missing");
  if (footer.footer_fingerprint != footer.expected_fingerprint()) damaged("its footer was altered");

  // The fingerprint does not protect against a forged footer, so every number is checked before use.
  if (footer.streams < 1 || footer.streams > kMaxStreams) damaged("the number of streams is invalid");
  if (footer.vocabulary_size < 1 || footer.vocabulary_size > uint64_t{INT32_MAX}) {
    damaged("the vocabulary size is invalid");
  }
  if (footer.id_bytes != corpus_format::id_bytes(footer.vocabulary_size))
    damaged("the width of ids is invalid");
  uint64_t rest = size - sizeof front - sizeof footer;
  if (footer.sentences > rest / sizeof(uint64_t) / footer.streams) damaged("it is shorter than its index");
  rest -= footer.sentences * footer.streams * sizeof(uint64_t);
  for (size_t stream = 0; stream < kMaxStreams; ++stream) {
    const uint64_t count = footer.stream_ids[stream];
    if (stream >= footer.streams ? count > 0 : count > rest / footer.id_bytes - ids_) {
      damaged("it is shorter than its ids");
    }
    ids_ += count;
    stream_ids_[stream] = count;
  }
  const uint64_t bytes = ids_ * footer.id_bytes;
  if (rest != bytes + corpus_format::padding(bytes)) damaged("its size is invalid");

  info_.streams = static_cast<uint32_t>(footer.streams);
  info_.vocabulary_size = static_cast<uint32_t>(footer.vocabulary_size);
  info_.origin = {footer.input, footer.tokenizer, footer.max_length};
  info_.counts = {footer.sentences, footer.empty, footer.too_long};
  id_bytes_ = footer.id_bytes;
  index_begin_ = sizeof front + rest;
  content_fingerprint_ = footer.content_fingerprint;
}

uint64_t Corpus::stream_ids(size_t stream) const {
  HEED_CHECK(stream < info_.streams);
  return stream_ids_[stream];
}

Corpus::Range Corpus::range(size_t stream, uint64_t sentence) const {
  HEED_CHECK(stream < info_.streams && sentence < info_.counts.written);
  const uint64_t entry = sentence * info_.streams + stream;
  const char* address = file_.data() + index_begin_ + entry * sizeof(uint64_t);
  Range range{0, 0};
  if (entry > 0) std::memcpy(&range.begin, address - sizeof(uint64_t), sizeof(uint64_t));
  std::memcpy(&range.end, address, sizeof(uint64_t));
  if (range.begin >= range.end || range.end > ids_ || range.end - range.begin > uint64_t{INT32_MAX}) {
    damaged("its index was altered");
  }
  return range;
}

uint32_t Corpus::length(size_t stream, uint64_t sentence) const {
  const Range ids = range(stream, sentence);
  return static_cast<uint32_t>(ids.end - ids.begin);
}

void Corpus::append(size_t stream, uint64_t sentence, std::vector<int32_t>& ids) const {
  append(range(stream, sentence), ids);
}

void Corpus::append_run(uint64_t begin, uint64_t count, std::vector<int32_t>& ids) const {
  HEED_CHECK(info_.streams == 1 && begin <= ids_ && count <= ids_ - begin);
  append({begin, begin + count}, ids);
}

void Corpus::append(Range range, std::vector<int32_t>& ids) const {
  const auto [begin, end] = range;
  const size_t before = ids.size(), count = end - begin;
  ids.resize(before + count);
  int32_t* out = ids.data() + before;
  const char* from = file_.data() + sizeof(corpus_format::Front) + begin * id_bytes_;
  if (id_bytes_ == 4) {
    std::memcpy(out, from, count * sizeof(int32_t));
  } else {
    for (size_t n = 0; n < count; ++n) {
      uint16_t id;
      std::memcpy(&id, from + n * sizeof id, sizeof id);
      out[n] = id;
    }
  }
  bool inside = true;
  for (size_t n = 0; n < count; ++n) inside &= static_cast<uint32_t>(out[n]) < info_.vocabulary_size;
  if (!inside) damaged("it has ids outside of the vocabulary");
}

std::vector<int32_t> Corpus::sentence(size_t stream, uint64_t sentence) const {
  std::vector<int32_t> ids;
  append(stream, sentence, ids);
  return ids;
}

void Corpus::verify(const Stop& stop) const {
  constexpr size_t kChunk = size_t{16} << 20;
  Fingerprint content;
  const size_t size = file_.size() - sizeof(corpus_format::Footer);
  for (size_t begin = 0; begin < size; begin += kChunk) {
    stop.check();
    content.add(file_.data() + begin, std::min(kChunk, size - begin));
  }
  if (content.value() != content_fingerprint_) damaged("its content does not match its hash");
}

}  // namespace heed
