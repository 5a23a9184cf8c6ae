#include "data/corpus_builder.h"

#include <fmt/format.h>

#include "base/files/file.h"
#include "test_folder.h"

namespace heed {
namespace {

using Ids = std::vector<int32_t>;
using Cuts = std::vector<Ids>;

/// One id per byte, and 0 as the end token.
Cuts bytes_and_end(std::string_view text, uint64_t = 0) {
  Ids ids;
  for (const char byte : text) ids.push_back(static_cast<unsigned char>(byte));
  ids.push_back(0);
  return {ids};
}

Cuts letters(std::string_view text, uint64_t) {
  Ids ids;
  for (const char byte : text) {
    if (byte >= 'a' && byte <= 'z') ids.push_back(byte);
  }
  return {ids};
}

CorpusBuildOptions options() {
  return {.vocabulary_size = 256, .max_length = 5, .tokenizer_fingerprint = 7};
}

TEST(BuildPairCorpus, SkipsAndCounts) {
  const TestFolder folder;
  const PairsInput input{.pairs =
                             folder.write("p.tsv", "abcd\tx\nabcde\tx\nx\tabcde\n\nx\t\nab\tcd\nab\t123\n")};
  PairsReader reader(input);
  const CorpusCounts counts = build_pair_corpus(reader, bytes_and_end, letters, folder.path("c"), options());
  EXPECT_EQ(counts.written, 3u);
  EXPECT_EQ(counts.too_long, 1u);  // "abcde" with its end token; without one, on the other side, it fits
  EXPECT_EQ(counts.empty, 3u);     // two without text, one whose target has no letters
  const Corpus corpus(folder.path("c"));
  corpus.verify();
  EXPECT_EQ(corpus.info().counts.written, 3u);
  EXPECT_EQ(corpus.info().counts.too_long, 1u);
  EXPECT_EQ(corpus.info().origin, (CorpusOrigin{identify_pairs(input).fingerprint, 7, 5}));
  EXPECT_EQ(corpus.sentence(0, 0), (Ids{'a', 'b', 'c', 'd', 0}));
  EXPECT_EQ(corpus.sentence(1, 1), (Ids{'a', 'b', 'c', 'd', 'e'}));
  EXPECT_EQ(corpus.sentence(1, 2), (Ids{'c', 'd'}));
}

TEST(BuildPairCorpus, SkipsAHugeLineAsTooLong) {
  const TestFolder folder;
  std::string text(1 << 20, 'x');
  text += "\tx\nab\tcd\n";
  PairsReader reader({.pairs = folder.write("p.tsv", text)});
  const CorpusCounts counts = build_pair_corpus(reader, bytes_and_end, letters, folder.path("c"), options());
  EXPECT_EQ(counts.written, 1u);
  EXPECT_EQ(counts.too_long, 1u);
}

TEST(BuildPairCorpus, IsTheSameForAnyNumberOfThreads) {
  const TestFolder folder;
  std::string text;
  for (int n = 0; n < 20000; ++n) text += fmt::format("{}\t{}\n", n % 1000, n % 777);
  const std::string tsv = folder.write("p.tsv", text);
  const auto build = [&](ThreadPool* pool) {
    PairsReader reader({.pairs = tsv});
    CorpusBuildOptions with_pool = options();
    with_pool.pool = pool;
    build_pair_corpus(reader, bytes_and_end, bytes_and_end, folder.path("c"), with_pool);
    return read_file(folder.path("c"));
  };
  const std::string alone = build(nullptr);
  ThreadPool pool(3);
  EXPECT_EQ(build(&pool), alone);
  EXPECT_EQ(Corpus(folder.path("c")).sentence(0, 19999), bytes_and_end("999")[0]);
}

TEST(BuildPairCorpus, WritesEachSegmentation) {
  const TestFolder folder;
  std::string text;
  for (int n = 0; n < 9000; ++n) text += "a\tb\n";  // more than are encoded together
  PairsReader reader({.pairs = folder.write("p.tsv", text)});
  const auto cut = [](std::string_view letter, uint64_t number) {
    const auto low = static_cast<int32_t>(number % 256), high = static_cast<int32_t>(number / 256);
    return Cuts{{letter[0], low, high}, {letter[0], low, high, 1, 2}, {1, 2}};
  };
  CorpusBuildOptions with = options();
  with.max_length = 4;
  const CorpusCounts counts = build_pair_corpus(reader, cut, cut, folder.path("c"), with);
  EXPECT_EQ(counts.too_long, 9000u);  // the second cut of each
  const Corpus corpus(folder.path("c"));
  ASSERT_EQ(corpus.sentences(), 18000u);
  for (const int32_t n : {0, 1, 8999}) {
    EXPECT_EQ(corpus.sentence(0, 2 * n), (Ids{'a', n % 256, n / 256}));
    EXPECT_EQ(corpus.sentence(1, 2 * n), (Ids{'b', n % 256, n / 256}));
    EXPECT_EQ(corpus.sentence(1, 2 * n + 1), (Ids{1, 2}));
  }
}

TEST(BuildPairCorpus, LeavesNoFileOnFailure) {
  const TestFolder folder;
  const auto build = [&](const std::string& text, const Encoder& encode, const CorpusBuildOptions& with) {
    PairsReader reader({.pairs = folder.write("p.tsv", text)});
    build_pair_corpus(reader, encode, encode, folder.path("c"), with);
  };
  expect_error(ErrorKind::kFormat, "1 have more than 5 tokens",
               [&] { build("abcdef\tx\n", bytes_and_end, options()); });
  expect_error(ErrorKind::kFormat, "has no tab", [&] { build("a\tb\nab\n", bytes_and_end, options()); });
  expect_error(ErrorKind::kFormat, "the id 999", [&] {
    build(
        "a\tb\n", [](std::string_view, uint64_t) { return Cuts{{999}}; }, options());
  });
  expect_error(ErrorKind::kUsage, "the vocabulary size must not be 0",
               [&] { build("a\tb\n", bytes_and_end, {}); });
  EXPECT_EQ(folder.entries(), 1u);  // the text alone
}

TEST(BuildRunningCorpus, ContainsTextAndDocumentEnds) {
  const TestFolder folder;
  const std::string path = folder.write("t", "ab\ncd\n\nef\n");
  CorpusBuildOptions with = options();
  with.max_length = kNoLimit;
  const auto letters_of = [&](const RunningTextOptions& how) {
    RunningText text(path, how);
    build_running_corpus(text, letters, 7, folder.path("c"), with);
    const Corpus corpus(folder.path("c"));
    EXPECT_EQ(corpus.info().origin.input, running_text_facts(path, how).fingerprint);
    Ids ids;
    corpus.append_run(0, corpus.stream_ids(0), ids);
    return ids;
  };
  EXPECT_EQ(letters_of({}), (Ids{'a', 'b', 'c', 'd', 'e', 'f'}));
  EXPECT_EQ(letters_of({.chunk_bytes = 1}), (Ids{'a', 'b', 'c', 'd', 'e', 'f'}));
  EXPECT_EQ(letters_of({.documents = true, .chunk_bytes = 1}), (Ids{'a', 'b', 'c', 'd', 7, 'e', 'f', 7}));
  Ids part;
  Corpus(folder.path("c")).append_run(3, 3, part);
  EXPECT_EQ(part, (Ids{'d', 7, 'e'}));
}

}  // namespace
}  // namespace heed
