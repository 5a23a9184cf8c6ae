#include "data/corpus/readers/running_text.h"

#include <vector>

#include "test_folder.h"
#include "text/unicode/whitespace.h"

namespace heed {
namespace {

std::vector<TextChunk> all_of(const std::string& path, const RunningTextOptions& options) {
  RunningText text(path, options);
  std::vector<TextChunk> chunks;
  for (TextChunk chunk; text.next(chunk);) chunks.push_back(chunk);
  return chunks;
}

std::string joined(const std::vector<TextChunk>& chunks) {
  std::string text;
  for (const TextChunk& chunk : chunks) text += chunk.text;
  return text;
}

TEST(RunningText, ChunksJoinToTheWholeText) {
  const TestFolder folder;
  const std::string text = "\n  one\ntwo\n\n\nthree\n four\nfive \nsix\nseven\n\n";
  const std::string path = folder.write("text", text);
  for (size_t bytes : {size_t{1}, size_t{4}, size_t{10}, size_t{1000}}) {
    const auto chunks = all_of(path, {.chunk_bytes = bytes});
    EXPECT_EQ(joined(chunks), text) << bytes;
    // Cut between letters, before a line end, and nowhere else.
    for (size_t n = 1; n < chunks.size(); ++n) {
      EXPECT_EQ(chunks[n].text.substr(0, 1), "\n");
      EXPECT_EQ(std::string(" \n").find(chunks[n].text[1]), std::string::npos);
      EXPECT_EQ(std::string(" \n").find(chunks[n - 1].text.back()), std::string::npos);
    }
    EXPECT_EQ(chunks.size() > 1, bytes < 20);
  }
}

// Llama 3 and Qwen join punctuation and the line ends behind it.
TEST(RunningText, ChunksDoNotEndBehindPunctuation) {
  const TestFolder folder;
  const auto chunks = all_of(folder.write("text", "one.\ntwo\n(three)\nfour!\n5\nfünfé\n\u0915\u093F\nend\n"),
                             {.chunk_bytes = 1});
  std::vector<std::string> texts;
  for (const TextChunk& chunk : chunks) texts.push_back(chunk.text);
  EXPECT_EQ(texts, (std::vector<std::string>{"one.\ntwo", "\n(three)\nfour!\n5", "\nfünfé",
                                             "\n\u0915\u093F\nend\n"}));
}

TEST(RunningText, TextWithoutGoodLineEndsHasBoundedChunks) {
  const TestFolder folder;
  const std::string ideographic_space = "\u3000";
  for (const std::string& line :
       {std::string("  indented\n"), std::string("\tmore \n"), std::string("spaced \n"),
        std::string("a\n\n\n"), std::string(" one\n  two \n"), " one" + ideographic_space + "\n"}) {
    std::string text;
    while (text.size() < 10'000) text += line;
    const std::string path = folder.write("text", text);
    const auto chunks = all_of(path, {.chunk_bytes = 4});
    EXPECT_EQ(joined(chunks), text);
    EXPECT_GE(chunks.size(), 35u) << line;
    // White space in a row stays together, at the beginning of a chunk.
    for (size_t n = 0; n < chunks.size(); ++n) {
      EXPECT_LT(chunks[n].text.size(), 4 * 64 + 2 * line.size()) << line;
      EXPECT_TRUE(n + 1 == chunks.size() || strip_right(chunks[n].text) == chunks[n].text) << line;
    }
    // The control: below the limit nothing changes.
    EXPECT_EQ(all_of(path, {.chunk_bytes = 200}).size(), 1u) << line;
  }
}

TEST(RunningText, WhiteSpaceInARowIsBounded) {
  const TestFolder folder;
  const std::string path = folder.write("text", "one\n" + std::string(1000, '\n') + " two\n");
  EXPECT_EQ(all_of(path, {.chunk_bytes = 1}).size(), 2u);
  expect_error(ErrorKind::kFormat, "more than 400 bytes of white space in a row",
               [&] { all_of(path, {.lines = {.max_line_bytes = 400}, .chunk_bytes = 1}); });
  EXPECT_EQ(all_of(path, {.lines = {.max_line_bytes = 400}, .documents = true, .chunk_bytes = 1}).size(), 2u);
}

TEST(RunningText, EndsTheLastLineAndDropsCarriageReturns) {
  const TestFolder folder;
  EXPECT_EQ(joined(all_of(folder.write("text", "one\r\ntwo"), {})), "one\ntwo\n");
}

TEST(RunningText, BlankLinesEndDocumentsIfEnabled) {
  const TestFolder folder;
  const std::string path = folder.write("text", "\none\nmore\n\n \ntwo\n");
  const auto documents = all_of(path, {.documents = true});
  ASSERT_EQ(documents.size(), 2u);
  EXPECT_EQ(documents[0].text, "one\nmore\n");
  EXPECT_EQ(documents[1].text, "two\n");
  EXPECT_TRUE(documents[0].ends_document && documents[1].ends_document);
  // The control: else they are text.
  EXPECT_EQ(joined(all_of(path, {})), "\none\nmore\n\n \ntwo\n");
}

TEST(RunningText, FactsDependOnTextAndOptions) {
  const TestFolder folder;
  const std::string path = folder.write("a", "ärger\nx\n"), same = folder.write("b", "ärger\nx\n");
  EXPECT_EQ(running_text_facts(path).characters, 8u);
  EXPECT_EQ(running_text_facts(path).fingerprint, running_text_facts(same).fingerprint);
  EXPECT_NE(running_text_facts(path).fingerprint, running_text_facts(path, {.documents = true}).fingerprint);
  EXPECT_NE(running_text_facts(path).fingerprint,
            running_text_facts(folder.write("c", "ärger\ny\n")).fingerprint);
}

TEST(RunningText, RefusesInvalidText) {
  const TestFolder folder;
  expect_error(ErrorKind::kFormat, "has no text", [&] { all_of(folder.write("e", ""), {}); });
  expect_error(ErrorKind::kFormat, "has no text", [&] { all_of(folder.write("b", "\n \n"), {}); });
  expect_error(ErrorKind::kText, "line 2", [&] { all_of(folder.write("l", "a\n\xF6\n"), {}); });
  expect_error(ErrorKind::kUsage, "standard input", [&] { running_text_facts("-"); });
}

}  // namespace
}  // namespace heed
