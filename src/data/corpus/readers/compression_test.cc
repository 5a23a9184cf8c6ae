#include "data/corpus/readers/compression.h"

#include <fmt/format.h>

#include <string>

#include "data/corpus/readers/byte_source.h"
#include "test_folder.h"

namespace heed {
namespace {

constexpr Compression kBoth[] = {Compression::kGzip, Compression::kZstd};

/// Reads a file through ByteSource, `size` bytes at a time.
std::string content(const std::string& path, size_t size = 1000) {
  ByteSource source(path);
  std::string all, chunk(size, '\0');
  for (size_t count = 0; (count = source.read(chunk.data(), size)) > 0;) all.append(chunk, 0, count);
  EXPECT_EQ(source.read(chunk.data(), size), 0u);
  return all;
}

std::string numbers(int count) {
  std::string text;
  for (int64_t n = 0; n < count; ++n) text += fmt::format("{}\n", n * n);
  return text;
}

TEST(Compression, IsRecognizedByNameAndContent) {
  EXPECT_EQ(compression_of_name("a.gz"), Compression::kGzip);
  EXPECT_EQ(compression_of_name("a.txt.zst"), Compression::kZstd);
  EXPECT_EQ(compression_of_name("a.gz.txt"), Compression::kNone);
  for (const Compression compression : kBoth) {
    EXPECT_EQ(compression_of_content(compress("x", compression)), compression);
  }
  EXPECT_EQ(compression_of_content("(a"), Compression::kNone);
  EXPECT_TRUE(needs_more_to_recognize("("));
  EXPECT_TRUE(needs_more_to_recognize("\x1F"));
  EXPECT_FALSE(needs_more_to_recognize("(a"));
}

TEST(Compression, WhatIsCompressedComesBack) {
  const TestFolder folder;
  for (const Compression compression : kBoth) {
    for (const std::string& text : {std::string(), std::string("one"), numbers(200'000)}) {
      const std::string packed = compress(text, compression);
      EXPECT_EQ(packed, compress(text, compression));  // the same bytes each time
      for (const size_t size : {1, 1000, 10'000'000}) {
        if (size == 1 && text.size() > 10) continue;
        EXPECT_EQ(content(folder.write("packed", packed), size), text);
      }
    }
  }
}

TEST(Compression, ConcatenatedFilesAreOne) {
  const TestFolder folder;
  for (const Compression compression : kBoth) {
    const std::string packed =
        compress("one\n", compression) + compress("", compression) + compress("two\n", compression);
    EXPECT_EQ(content(folder.write("packed", packed)), "one\ntwo\n");
  }
}

// pzstd writes the size of each frame into a skippable frame before it.
TEST(Compression, SkippableFramesOfZstdAreLeftOut) {
  const TestFolder folder;
  const std::string one = compress("one\n", Compression::kZstd), two = compress("two\n", Compression::kZstd);
  for (const char type : {'\x50', '\x5F'}) {
    const std::string skippable = type + std::string("\x2A\x4D\x18\x04\0\0\0size", 11);
    EXPECT_EQ(compression_of_content(skippable), Compression::kZstd);
    EXPECT_TRUE(needs_more_to_recognize(skippable.substr(0, 3)));
    EXPECT_EQ(content(folder.write("pzstd", skippable + one + skippable + two)), "one\ntwo\n");
    EXPECT_EQ(content(folder.write("nothing", skippable)), "");
    const std::string cut = folder.write("cut", skippable.substr(0, skippable.size() - 1));
    expect_error(ErrorKind::kFormat, "'" + cut + "' is truncated", [&] { content(cut); });
  }
  EXPECT_EQ(compression_of_content("\x4F\x2A\x4D\x18"), Compression::kNone);
  EXPECT_EQ(compression_of_content("\x60\x2A\x4D\x18"), Compression::kNone);
  EXPECT_FALSE(needs_more_to_recognize("P*m"));
}

TEST(Compression, PlainFilesStayAsTheyAre) {
  const TestFolder folder;
  for (const std::string text : {"", "(", "(\xB5", "\x1F", "text (\x1F\x8B\n", "P", "P*M", "P\n"}) {
    EXPECT_EQ(content(folder.write("plain", text)), text);
  }
}

TEST(Compression, DamageIsAnError) {
  const TestFolder folder;
  for (const Compression compression : kBoth) {
    const std::string packed = compress(numbers(10'000), compression);
    for (const size_t length : {packed.size() - 1, packed.size() / 2, size_t{12}}) {
      const std::string path = folder.write("cut", packed.substr(0, length));
      expect_error(ErrorKind::kFormat, "'" + path + "' is truncated", [&] { content(path); });
    }
    std::string damaged = packed;
    for (size_t n = packed.size() / 2; n < packed.size() / 2 + 20; ++n)
      damaged[n] = static_cast<char>(~damaged[n]);
    const std::string path = folder.write("damaged", damaged);
    expect_error(ErrorKind::kFormat, "'" + path + "' is damaged", [&] { content(path); });
    const std::string followed = folder.write("followed", packed + "garbage that is no gzip or zstd");
    expect_error(ErrorKind::kFormat, "'" + followed + "' is damaged", [&] { content(followed); });
  }
}

TEST(Compression, ZerosBehindGzipAreNoData) {
  const TestFolder folder;
  const std::string one = compress("one\n", Compression::kGzip), two = compress("two\n", Compression::kGzip),
                    zeros(300'000, '\0');  // more than ByteSource reads at once
  EXPECT_EQ(content(folder.write("padded", one + zeros)), "one\n");
  EXPECT_EQ(content(folder.write("between", one + zeros + two + std::string(1, '\0'))), "one\ntwo\n");
  // The controls: other bytes are no padding, and a member that is not finished does not end in zeros.
  const std::string followed = folder.write("followed", one + std::string(9, '\0') + "tail" + zeros);
  expect_error(ErrorKind::kFormat, "its last 300004 bytes are not gzip data", [&] { content(followed); });
  expect_error(ErrorKind::kFormat, "is damaged: gzip incorrect data check",
               [&] { content(folder.write("cut", one.substr(0, one.size() - 8) + std::string(100, '\0'))); });
}

/// A frame without its content's size, of one block that is not compressed (RFC 8878, section 3.1.1).
std::string zstd_frame(int window_log, const std::string& text) {
  constexpr int kSmallestWindowLog = 10;
  std::string frame{'\x28', '\xB5', '\x2F', '\xFD', '\0'};
  frame += static_cast<char>((window_log - kSmallestWindowLog) << 3);
  const size_t block_header = text.size() << 3 | 1;  // the last block
  for (int byte = 0; byte < 3; ++byte) frame += static_cast<char>(block_header >> (8 * byte));
  return frame + text;
}

TEST(Compression, LargeWindowsOfZstdAreNoDamage) {
  const TestFolder folder;
  EXPECT_EQ(content(folder.write("default", zstd_frame(27, "text\n"))), "text\n");
  const std::string path = folder.write("long", zstd_frame(28, "text\n"));
  expect_error(ErrorKind::kFormat, "'" + path + "' needs a window of more than 128 MiB",
               [&] { content(path); });
}

TEST(Compression, SkipsBytes) {
  const TestFolder folder;
  const std::string text = numbers(100'000);
  for (const Compression compression : {Compression::kNone, Compression::kGzip, Compression::kZstd}) {
    const std::string path = folder.write("file", compress(text, compression));
    EXPECT_EQ(decompressed_size(path), text.size());
    ByteSource source(path);
    std::string chunk(5, '\0');
    ASSERT_GT(source.read(chunk.data(), 1), 0u);
    EXPECT_EQ(source.skip(300'000), 300'000u);
    ASSERT_GT(source.read(chunk.data(), 1), 0u);
    EXPECT_EQ(chunk[0], text[300'001]);
    EXPECT_EQ(source.skip(1 << 30), text.size() - 300'002);
    EXPECT_EQ(source.read(chunk.data(), 5), 0u);
  }
}

}  // namespace
}  // namespace heed
