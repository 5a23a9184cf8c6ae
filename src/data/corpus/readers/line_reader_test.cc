#include "data/corpus/readers/line_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "data/corpus/readers/compression.h"
#include "test_folder.h"

namespace heed {
namespace {

std::vector<std::string> lines_of(const std::string& path, LineReaderOptions options = {}) {
  LineReader reader(path, options);
  std::vector<std::string> lines;
  std::string_view line;
  while (reader.next(line)) {
    lines.emplace_back(line);
    EXPECT_EQ(reader.line_number(), lines.size());
  }
  EXPECT_FALSE(reader.next(line));
  return lines;
}

using Lines = std::vector<std::string>;

TEST(LineReader, LineEnds) {
  const TestFolder folder;
  EXPECT_EQ(lines_of(folder.write("a", "")), Lines{});
  EXPECT_EQ(lines_of(folder.write("a", "\n")), Lines{""});
  EXPECT_EQ(lines_of(folder.write("a", "one")), Lines{"one"});
  EXPECT_EQ(lines_of(folder.write("a", "one\ntwo\n")), (Lines{"one", "two"}));
  EXPECT_EQ(lines_of(folder.write("a", "one\r\n\r\ntwo\r\r\nth\rree\r")),
            (Lines{"one", "", "two\r", "th\rree"}));
  EXPECT_EQ(lines_of(folder.write("a", "\xEF\xBB\xBFone\n\xEF\xBB\xBFtwo\n")),
            (Lines{"one", "\xEF\xBB\xBFtwo"}));
}

TEST(LineReader, ReadsLinesLongerThanItsBuffer) {
  const TestFolder folder;
  const Lines lines{std::string(3'000'000, 'x'), "short", std::string((1 << 20) - 1, 'y'),
                    std::string(1 << 20, 'z'), "end"};
  std::string content;
  for (const std::string& line : lines) content += line + "\n";
  EXPECT_EQ(lines_of(folder.write("a", content)), lines);
}

TEST(LineReader, LimitsTheLineLength) {
  const TestFolder folder;
  const std::string path = folder.write("a", "one\n" + std::string(5'000'000, 'x'));
  expect_error(ErrorKind::kFormat, "line 2 of '" + path + "' has more than 1000000 bytes",
               [&] { lines_of(path, {.max_line_bytes = 1'000'000}); });
  EXPECT_EQ(lines_of(path).size(), 2u);
  for (const char* end : {"", "\n", "\nthree\n"}) {
    folder.write("a", "one\n" + std::string(5'000'001, 'x') + end);
    expect_error(ErrorKind::kFormat, "line 2 of '" + path + "' has more than 5000000 bytes",
                 [&] { lines_of(path, {.max_line_bytes = 5'000'000}); });
  }
}

TEST(LineReader, RefusesInvalidUtf8UnlessLossy) {
  const TestFolder folder;
  const std::string path = folder.write("a", "one\ncaf\xE9 noir\n");
  expect_error(ErrorKind::kText, "line 2 of '" + path + "' is not UTF-8: byte 4 of the line is 0xE9",
               [&] { lines_of(path); });
  EXPECT_EQ(lines_of(path, {.lossy = true}), (Lines{"one", "caf\xEF\xBF\xBD noir"}));
}

TEST(LineReader, RefusesNulBytesUnlessLossy) {
  const TestFolder folder;
  const std::string path = folder.write("a", std::string_view("one\ntw\0o\n", 9));
  expect_error(ErrorKind::kFormat, "line 2 of '" + path + "' has a NUL byte", [&] { lines_of(path); });
  EXPECT_EQ(lines_of(path, {.lossy = true}), (Lines{"one", "tw\xEF\xBF\xBDo"}));
}

TEST(LineReader, ErrorsNameTheFile) {
  const TestFolder folder;
  expect_error(ErrorKind::kNotFound, "cannot open '" + folder.path("no") + "'",
               [&] { lines_of(folder.path("no")); });
  expect_error(ErrorKind::kFile, "cannot read '" + folder.path("") + "'", [&] { lines_of(folder.path("")); });
}

TEST(LineReader, DoesNotBlockOnPipes) {
  const TestFolder folder;
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  const int writer =
      ::open(folder.path("pipe").c_str(), O_RDWR);  // so that opening it does not wait for a reader
  ASSERT_GE(writer, 0);
  const auto send = [&](std::string_view text) {
    return ::write(writer, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  };
  LineReader reader(folder.path("pipe"));
  EXPECT_FALSE(reader.ready());
  ASSERT_TRUE(send("one\ntwo\n"));
  EXPECT_TRUE(reader.ready());
  std::string_view line;
  ASSERT_TRUE(reader.next(line));  // the pipe is still open: no end of the file to wait for
  EXPECT_EQ(line, "one");
  EXPECT_TRUE(reader.ready());  // of what was read with the first line
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "two");
  EXPECT_FALSE(reader.ready());
  ::close(writer);
}

TEST(LineReader, FingerprintCoversTheWholeFile) {
  const TestFolder folder;
  const std::string content = "one\r\ntwo\nthree";
  LineReader reader(folder.write("a", content));
  EXPECT_EQ(reader.count_lines(), 3u);
  Fingerprint expected;
  expected.add(content);
  EXPECT_EQ(reader.fingerprint().value(), expected.value());
}

TEST(LineReader, ReadsCompressedFiles) {
  const TestFolder folder;
  for (const Compression compression : {Compression::kGzip, Compression::kZstd}) {
    const std::string path = folder.write("a", compress("one\ntwo", compression));
    EXPECT_EQ(lines_of(path), (Lines{"one", "two"}));
  }
}

TEST(LineReader, PartsAreTheWhole) {
  const TestFolder folder;
  const std::vector<std::string> contents{"",
                                          "\n",
                                          "one",
                                          "one\ntwo\nthree\n",
                                          "one\n\n\nfour\nfive",
                                          std::string(1000, 'x') + "\nshort\n",
                                          "\xEF\xBB\xBFone\r\ntwo\r\n"};
  for (const std::string& content : contents) {
    for (const Compression compression : {Compression::kNone, Compression::kGzip, Compression::kZstd}) {
      const std::string path = folder.write("a", compress(content, compression));
      const Lines whole = lines_of(path);
      for (int count = 1; count <= 9; ++count) {
        Lines together;
        uint64_t end = 0;
        for (int number = 1; number <= count; ++number) {
          LineReader reader(path, {.part = {number, count}});
          for (std::string_view line; reader.next(line);) {
            together.emplace_back(line);
            EXPECT_EQ(reader.line_number(), together.size());  // of the file
          }
          EXPECT_EQ(reader.range(), (FileRange{content.size(), end, reader.range().end}));
          end = reader.range().end;
        }
        EXPECT_EQ(end, content.size());
        EXPECT_EQ(together, whole) << count;
      }
    }
  }
}

TEST(LineReader, PartsHaveSimilarSizes) {
  const TestFolder folder;
  std::string content;
  for (int n = 0; n < 1000; ++n) content += "line " + std::to_string(1000 + n) + "\n";
  const std::string path = folder.write("a", content);
  for (int number = 1; number <= 7; ++number) {
    const uint64_t lines = LineReader(path, {.part = {number, 7}}).count_lines();
    EXPECT_GE(lines, 142u);
    EXPECT_LE(lines, 143u);
  }
}

TEST(LineReader, PartsNeedAFile) {
  const TestFolder folder;
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  const int writer = ::open(folder.path("pipe").c_str(), O_RDWR);
  expect_error(ErrorKind::kUsage, "has no known size", [&] {
    LineReader(folder.path("pipe"), {.part = {1, 2}});
  });
  ::close(writer);
}

TEST(LineReader, SkipsLines) {
  const TestFolder folder;
  LineReader reader(folder.write("a", "one\n\xFF\nthree\nfour"));
  EXPECT_EQ(reader.skip(2), 2u);  // also text that is not UTF-8
  std::string_view line;
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "three");
  EXPECT_EQ(reader.line_number(), 3u);
  EXPECT_EQ(reader.skip(5), 1u);
  EXPECT_FALSE(reader.next(line));
}

}  // namespace
}  // namespace heed
