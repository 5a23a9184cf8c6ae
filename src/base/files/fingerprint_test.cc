#include "base/files/fingerprint.h"

#include <gtest/gtest.h>

#include <string>

namespace heed {
namespace {

std::string counting_bytes(size_t size) {
  std::string bytes(size, '\0');
  for (size_t n = 0; n < size; ++n) bytes[n] = static_cast<char>(n % 251);
  return bytes;
}

uint64_t fingerprint(std::string_view bytes) {
  Fingerprint result;
  result.add(bytes);
  return result.value();
}

// Expected values from the reference implementation, by Python's xxhash:
//   xxhash.xxh64(bytes(i % 251 for i in range(size))).hexdigest()
TEST(Fingerprint, AgreesWithTheReference) {
  const struct {
    size_t size;
    uint64_t expected;
  } cases[] = {{0, 0xef46db3751d8e999},   {1, 0xe934a84adb052768},   {3, 0xe5c7bb4533bc65dd},
               {4, 0xffced8604453cc1e},   {8, 0x884a173614b81b8d},   {31, 0xc346d2b59b4d8ee1},
               {32, 0xcbf59c5116ff32b4},  {33, 0x0c535d1acafb8ead},  {63, 0xe26aa9e2a95f8e4f},
               {100, 0x6ac1e58032166597}, {1000, 0xf306f04aa88b54d3}};
  for (const auto& [size, expected] : cases) EXPECT_EQ(fingerprint(counting_bytes(size)), expected) << size;
  EXPECT_EQ(fingerprint("abc"), 0x44bc2cf5ad770999);
}

TEST(Fingerprint, DoesNotDependOnTheChunks) {
  const std::string bytes = counting_bytes(300);
  for (size_t step = 1; step < 80; ++step) {
    Fingerprint pieces;
    for (size_t n = 0; n < bytes.size(); n += step) pieces.add(std::string_view(bytes).substr(n, step));
    ASSERT_EQ(pieces.value(), fingerprint(bytes)) << step;
  }
}

TEST(Fingerprint, ChangesWithEveryBit) {
  std::string bytes = counting_bytes(77);
  const uint64_t before = fingerprint(bytes);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(fingerprint(bytes), before) << bit;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  }
  EXPECT_EQ(fingerprint(bytes), before);
}

}  // namespace
}  // namespace heed
