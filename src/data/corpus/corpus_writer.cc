#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/check.h"
#include "base/files/errno_reason.h"
#include "base/files/part_files.h"
#include "base/files/unfinished_files.h"
#include "data/corpus/corpus.h"
#include "data/corpus/corpus_format.h"

namespace heed {
namespace {

/// Opens an unlinked temporary file, which the system removes in any case. It is in the corpus directory,
/// since the index of a large corpus may fit neither into memory nor into /tmp.
std::FILE* open_unlinked(const std::string& beside) {
  int descriptor = -1;
  const std::string path = create_part(beside + ".index", [&](const std::string& name) {
    descriptor = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return descriptor >= 0;
  });
  std::FILE* file = descriptor < 0 ? nullptr : ::fdopen(descriptor, "w+b");
  const int number = errno;
  if (descriptor >= 0) {
    ::unlink(path.c_str());
    forget_unfinished(path);
  }
  if (file == nullptr) {
    if (descriptor >= 0) ::close(descriptor);
    fail(ErrorKind::kFile, "cannot write '{}.index': {}", beside, reason(number));
  }
  return file;
}

}  // namespace

CorpusWriter::CorpusWriter(const std::string& path, uint32_t streams, uint32_t vocabulary_size)
    : file_(path),
      index_(open_unlinked(path), std::fclose),
      path_(path),
      streams_(streams),
      vocabulary_size_(vocabulary_size) {
  HEED_CHECK(streams >= 1 && streams <= kMaxStreams);
  HEED_CHECK(vocabulary_size >= 1 && vocabulary_size <= uint32_t{INT32_MAX});
  const corpus_format::Front front;
  write(&front, sizeof front);
}

void CorpusWriter::write(const void* data, size_t size) {
  content_.add(data, size);
  file_.write(data, size);
}

void CorpusWriter::add(std::span<const int32_t> source, std::span<const int32_t> target) {
  const std::span<const int32_t> pair[] = {source, target};
  add(pair);
}

void CorpusWriter::add(std::span<const std::span<const int32_t>> sentence) {
  HEED_CHECK(sentence.size() == streams_);
  for (size_t stream = 0; stream < streams_; ++stream) {
    const std::span<const int32_t> ids = sentence[stream];
    HEED_CHECK(!ids.empty());
    for (const int32_t id : ids) {
      if (id < 0 || static_cast<uint32_t>(id) >= vocabulary_size_) {
        fail(ErrorKind::kFormat,
             "the tokenizer produced the id {}, but the vocabulary size is {}: use the tokenizer of this "
             "model",
             id, vocabulary_size_);
      }
    }
    if (corpus_format::id_bytes(vocabulary_size_) == 2) {
      narrow_.clear();
      for (const int32_t id : ids) narrow_.push_back(static_cast<uint16_t>(id));
      write(narrow_.data(), narrow_.size() * sizeof(uint16_t));
    } else {
      write(ids.data(), ids.size_bytes());
    }
    ids_ += ids.size();
    stream_ids_[stream] += ids.size();
    if (std::fwrite(&ids_, sizeof ids_, 1, index_.get()) != 1) {
      fail(ErrorKind::kFile, "cannot write '{}': {}", path_, reason(errno));
    }
  }
  ++sentences_;
}

void CorpusWriter::commit(const CorpusOrigin& origin, const CorpusCounts& counts) {
  HEED_CHECK(counts.written == sentences_);
  corpus_format::Footer footer;
  footer.streams = streams_;
  footer.vocabulary_size = vocabulary_size_;
  footer.id_bytes = corpus_format::id_bytes(vocabulary_size_);
  footer.sentences = sentences_;
  for (size_t stream = 0; stream < kMaxStreams; ++stream) footer.stream_ids[stream] = stream_ids_[stream];
  footer.empty = counts.empty;
  footer.too_long = counts.too_long;
  footer.input = origin.input;
  footer.tokenizer = origin.tokenizer;
  footer.max_length = origin.max_length;

  const uint64_t zeros = 0;
  write(&zeros, corpus_format::padding(ids_ * footer.id_bytes));
  std::rewind(index_.get());
  std::vector<char> buffer(1 << 20);
  uint64_t copied = 0;
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), index_.get())) {
    write(buffer.data(), count);
    copied += count;
  }
  if (copied != sentences_ * streams_ * sizeof(uint64_t)) {
    fail(ErrorKind::kFile, "cannot write '{}': its index could not be read back; check for a full disk",
         path_);
  }
  footer.content_fingerprint = content_.value();
  footer.footer_fingerprint = footer.expected_fingerprint();
  file_.write(&footer, sizeof footer);
  file_.commit();
}

}  // namespace heed
