#include "data/corpus/corpus.h"

#include <cstring>

#include "base/rng.h"
#include "data/corpus/corpus_format.h"
#include "test_folder.h"

namespace heed {
namespace {

using Ids = std::vector<int32_t>;
using corpus_format::Footer;
using corpus_format::Front;

/// Sentences of 1 to 9 random ids; sentence n has stream s at [n][s].
std::vector<std::vector<Ids>> random_sentences(size_t count, size_t streams, uint32_t vocabulary_size) {
  Random random(RandomKey::from_seed(count));
  std::vector<std::vector<Ids>> sentences(count, std::vector<Ids>(streams));
  for (auto& sentence : sentences) {
    for (Ids& ids : sentence) {
      ids.resize(1 + random.below(9));
      for (int32_t& id : ids) id = static_cast<int32_t>(random.below(vocabulary_size));
    }
  }
  sentences[0][0][0] = static_cast<int32_t>(vocabulary_size - 1);  // the widest id there is
  return sentences;
}

constexpr CorpusOrigin kOrigin{.input = 0x1122334455667788, .tokenizer = 42, .max_length = 9};

std::string write_corpus(const TestFolder& folder, const std::vector<std::vector<Ids>>& sentences,
                         uint32_t vocabulary_size) {
  std::string path = folder.path("corpus");
  const size_t streams = sentences[0].size();
  CorpusWriter writer(path, static_cast<uint32_t>(streams), vocabulary_size);
  for (const auto& sentence : sentences) {
    writer.add(std::vector<std::span<const int32_t>>(sentence.begin(), sentence.end()));
  }
  writer.commit(kOrigin, {.written = sentences.size(), .empty = 3, .too_long = 4});
  return path;
}

TEST(Corpus, RoundTrip) {
  for (const uint32_t vocabulary_size : {1u, 300u, 65536u, 65537u, 2147483647u}) {
    for (const size_t streams : {1, 2, 4}) {
      const TestFolder folder;
      const auto sentences = random_sentences(57, streams, vocabulary_size);
      const Corpus corpus(write_corpus(folder, sentences, vocabulary_size));
      corpus.verify();
      ASSERT_EQ(corpus.sentences(), sentences.size());
      EXPECT_EQ(corpus.info().streams, streams);
      EXPECT_EQ(corpus.info().vocabulary_size, vocabulary_size);
      EXPECT_EQ(corpus.info().origin, kOrigin);
      EXPECT_EQ(corpus.info().counts.empty, 3u);
      EXPECT_EQ(corpus.info().counts.too_long, 4u);
      for (size_t stream = 0; stream < streams; ++stream) {
        uint64_t total = 0;
        for (size_t n = 0; n < sentences.size(); ++n) {
          ASSERT_EQ(corpus.sentence(stream, n), sentences[n][stream]);
          ASSERT_EQ(corpus.length(stream, n), sentences[n][stream].size());
          total += sentences[n][stream].size();
        }
        EXPECT_EQ(corpus.stream_ids(stream), total);
      }
    }
  }
}

TEST(Corpus, UsesTwoBytesPerIdForSmallVocabularies) {
  const TestFolder folder;
  const auto sentences = random_sentences(100, 2, 65536);
  const auto narrow = std::filesystem::file_size(write_corpus(folder, sentences, 65536));
  const auto wide = std::filesystem::file_size(write_corpus(folder, sentences, 65537));
  uint64_t ids = 0;
  for (const auto& sentence : sentences) ids += sentence[0].size() + sentence[1].size();
  EXPECT_NEAR(static_cast<double>(wide - narrow), static_cast<double>(2 * ids), 8);  // both are padded to 8
}

TEST(CorpusWriter, WithoutCommitLeavesNoFile) {
  const TestFolder folder;
  folder.write("corpus", "what was there before");
  {
    CorpusWriter writer(folder.path("corpus"), 1, 10);
    writer.add(std::vector<std::span<const int32_t>>{Ids{1, 2}});
    expect_error(ErrorKind::kFormat, "the id 10, but the vocabulary size is 10",
                 [&] { writer.add(std::vector<std::span<const int32_t>>{Ids{10}}); });
    expect_error(ErrorKind::kFormat, "the id -1,",
                 [&] { writer.add(std::vector<std::span<const int32_t>>{Ids{-1}}); });
  }
  EXPECT_EQ(read_file(folder.path("corpus")), "what was there before");
  EXPECT_EQ(folder.entries(), 1u);
  expect_error(ErrorKind::kFile, "cannot write", [&] { CorpusWriter(folder.path("no/such/folder"), 1, 10); });
}

/// Opens a file and reads everything in it.
void use_all(const std::string& path) {
  const Corpus corpus(path);
  Ids ids;
  for (size_t stream = 0; stream < corpus.info().streams; ++stream) {
    for (uint64_t n = 0; n < corpus.sentences(); ++n) corpus.append(stream, n, ids);
  }
  for (const int32_t id : ids) ASSERT_LT(static_cast<uint32_t>(id), corpus.info().vocabulary_size);
}

TEST(Corpus, RefusesOtherFiles) {
  const TestFolder folder;
  expect_error(ErrorKind::kNotFound, "cannot open", [&] { use_all(folder.path("no")); });
  expect_error(ErrorKind::kFormat, "is not a corpus", [&] { use_all(folder.write("a", "")); });
  expect_error(ErrorKind::kFormat, "is not a corpus",
               [&] { use_all(folder.write("a", std::string(500, 'x'))); });
}

TEST(Corpus, RefusesEveryTruncationAndExtension) {
  const TestFolder folder;
  const std::string good = read_file(write_corpus(folder, random_sentences(5, 2, 300), 300));
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_THROW(use_all(folder.write("a", good.substr(0, size))), Error) << size;
  }
  EXPECT_THROW(use_all(folder.write("a", good + '\0')), Error);
  EXPECT_THROW(use_all(folder.write("a", good + std::string(8, '\0'))), Error);
  // A hole in the middle keeps both ends intact.
  EXPECT_THROW(use_all(folder.write("a", good.substr(0, 24) + good.substr(32))), Error);
}

TEST(Corpus, VerifyFindsEveryAlteredByte) {
  const TestFolder folder;
  const std::string good = read_file(write_corpus(folder, random_sentences(5, 2, 300), 300));
  for (size_t n = 0; n < good.size(); ++n) {
    std::string bad = good;
    bad[n] = static_cast<char>(bad[n] ^ 1);
    const std::string path = folder.write("a", bad);
    EXPECT_THROW(Corpus(path).verify(), Error) << n;
  }
}

/// Replaces the footer, with the fingerprint that a forger would give it.
std::string with_footer(std::string file, Footer footer) {
  footer.footer_fingerprint = footer.expected_fingerprint();
  std::memcpy(file.data() + file.size() - sizeof footer, &footer, sizeof footer);
  return file;
}

Footer footer_of(const std::string& file) {
  Footer footer;
  std::memcpy(&footer, file.data() + file.size() - sizeof footer, sizeof footer);
  return footer;
}

TEST(Corpus, ChecksEveryNumberOfAForgedFooter) {
  const TestFolder folder;
  const std::string good = read_file(write_corpus(folder, random_sentences(5, 2, 300), 300));
  use_all(folder.write("a", with_footer(good, footer_of(good))));  // the control: nothing changed
  const uint64_t extremes[] = {
      0, 1, 3, 5, 1u << 31, uint64_t{1} << 32, uint64_t{1} << 61, uint64_t{1} << 63, UINT64_MAX};
  uint64_t Footer::*const members[] = {&Footer::streams, &Footer::vocabulary_size, &Footer::id_bytes,
                                       &Footer::sentences};
  for (const auto member : members) {
    for (const uint64_t value : extremes) {
      Footer footer = footer_of(good);
      if (footer.*member == value) continue;
      footer.*member = value;
      EXPECT_THROW(use_all(folder.write("a", with_footer(good, footer))), Error) << value;
    }
  }
  for (size_t stream = 0; stream < kMaxStreams; ++stream) {
    for (const uint64_t value : extremes) {
      Footer footer = footer_of(good);
      if (footer.stream_ids[stream] == value) continue;
      footer.stream_ids[stream] = value;
      EXPECT_THROW(use_all(folder.write("a", with_footer(good, footer))), Error) << stream << ' ' << value;
    }
  }
  std::string newer = good;
  newer[offsetof(Front, version)] = 2;
  expect_error(ErrorKind::kFormat, "version 2", [&] { use_all(folder.write("a", newer)); });
}

// Random bytes at random offsets, with a footer that fits: whatever comes out, it is an Error or ids in
// bounds.
TEST(Corpus, SurvivesFuzzing) {
  const TestFolder folder;
  const std::string good = read_file(write_corpus(folder, random_sentences(8, 2, 300), 300));
  Random random(RandomKey::from_seed(1));
  int refused = 0;
  const int rounds = 3000;
  for (int round = 0; round < rounds; ++round) {
    std::string bad = good;
    for (uint64_t changes = 1 + random.below(4); changes > 0; --changes) {
      const size_t offset = random.below(bad.size());
      if (random.below(2) == 0) {
        bad[offset] = static_cast<char>(random.below(256));
      } else {
        const uint64_t number = random.below(2) == 0 ? UINT64_MAX >> random.below(64) : random.below(100);
        std::memcpy(bad.data() + offset / 8 * 8, &number,
                    std::min(sizeof number, bad.size() - offset / 8 * 8));
      }
    }
    if (random.below(4) > 0) bad = with_footer(bad, footer_of(bad));
    if (random.below(8) == 0) bad.resize(random.below(bad.size()));
    const std::string path = folder.write("a", bad);
    try {
      use_all(path);
    } catch (const Error& error) {
      EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(ErrorKind::kFormat));
      ++refused;
    }
  }
  EXPECT_GT(refused, rounds / 2);
  EXPECT_LT(refused, rounds);  // the fuzzing reaches past the footer
}

}  // namespace
}  // namespace heed
