#include "io/safetensors/safetensors_header.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "test_folder.h"

namespace heed {
namespace {

SafetensorsHeader parse(std::string_view text, uint64_t data_size) {
  return parse_safetensors_header(text, data_size, "model.safetensors");
}

/// Expects an error whose message contains `part` and the file name.
void expect_header_refused(std::string_view text, uint64_t data_size, std::string_view part) {
  expect_error(ErrorKind::kFormat, part, [&] { parse(text, data_size); });
  expect_error(ErrorKind::kFormat, "model.safetensors", [&] { parse(text, data_size); });
}

TEST(SafetensorsHeader, ListsTensorsInTheOrderOfTheirData) {
  const auto header = parse(
      R"({"z":{"dtype":"F32","shape":[2],"data_offsets":[4,12]},"__metadata__":{"k":"v","":"empty"},)"
      R"("e":{"shape":[3,0,5],"data_offsets":[4,4],"dtype":"F32"},"s":{"dtype":"I32","shape":[],"data_offsets":[0,4]}})"
      "   \n",
      12);
  ASSERT_EQ(header.tensors.size(), 3u);
  EXPECT_EQ(header.tensors[0].name, "s");
  EXPECT_EQ(header.tensors[0].dtype, DType::kInt32);
  EXPECT_EQ(header.tensors[0].shape, Shape());
  EXPECT_EQ(header.tensors[1].name, "e");
  EXPECT_EQ(header.tensors[1].shape, Shape({3, 0, 5}));
  EXPECT_EQ(header.tensors[2].name, "z");
  EXPECT_EQ(header.metadata, (std::map<std::string, std::string>{{"", "empty"}, {"k", "v"}}));
  EXPECT_TRUE(parse("{}", 0).tensors.empty());
}

TEST(SafetensorsHeader, RefusesWhatIsNotAnObjectOfEntries) {
  expect_header_refused("", 0, "does not begin with '{'");
  expect_header_refused(" {}", 0, "does not begin with '{'");
  expect_header_refused("[]", 0, "does not begin with '{'");
  expect_header_refused("{", 0, "not valid JSON");
  expect_header_refused("{} x", 0, "not valid JSON");
  expect_header_refused("{\"\xff\":1}", 0, "UTF-8");
  expect_header_refused(R"({"a":[]})", 0, "'a' is an array, expected an object");
  expect_header_refused(R"({"a":null})", 0, "'a' is null");
  expect_header_refused(R"({"__metadata__":[]})", 0, "expected an object");
  expect_header_refused(R"({"__metadata__":{"k":1}})", 0,
                        "'k' in its metadata is a number, expected a string");
  expect_header_refused(R"({"__metadata__":{"k":{}}})", 0, "'k' in its metadata is an object");
}

TEST(SafetensorsHeader, RefusesEntriesWithWrongFields) {
  expect_header_refused(R"({"a":{}})", 0, "tensor 'a' has no dtype");
  expect_header_refused(R"({"a":{"dtype":"U8","data_offsets":[0,0]}})", 0, "has no shape");
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[0]}})", 0, "has no data_offsets");
  expect_header_refused(R"({"a":{"dtype":8,"shape":[0],"data_offsets":[0,0]}})", 0,
                        "dtype of tensor 'a' is a number");
  expect_header_refused(R"({"a":{"dtype":["U8"],"shape":[0],"data_offsets":[0,0]}})", 0, "expected a string");
  expect_header_refused(R"({"a":{"dtype":"","shape":[0],"data_offsets":[0,0]}})", 0, "empty dtype");
  expect_header_refused(R"({"a":{"dtype":"U8","shape":0,"data_offsets":[0,0]}})", 0,
                        "expected a list of integers");
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,0]}})", 0,
                        "contains a negative number");
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}})", 1, "a fraction");
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[[1]],"data_offsets":[0,1]}})", 1, "contains an array");
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[{}],"data_offsets":[0,1]}})", 1, "contains an object");
  expect_header_refused(R"({"a":{"dtype":"U8","shape":["1"],"data_offsets":[0,1]}})", 1, "contains a string");
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[true],"data_offsets":[0,1]}})", 1,
                        "contains a boolean");
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0]}})", 0, "must be two numbers");
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0,0]}})", 0,
                        "must be two numbers");
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":1}})", 0,
                        "unknown field 'x'");
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1],"data_offsets":[0,1]}})", 1,
                        "more than 6 axes");
}

TEST(SafetensorsHeader, RefusesRepeatedKeys) {
  const std::string entry = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  expect_header_refused("{\"a\":" + entry + ",\"a\":" + entry + "}", 0, "'a' appears twice");
  expect_header_refused("{\"a\":" + entry + ",\"\\u0061\":" + entry + "}", 0, "'a' appears twice");
  expect_header_refused(R"({"__metadata__":{"k":"1","k":"2"}})", 0, "'k' appears twice in its metadata");
  expect_header_refused(R"({"__metadata__":{},"__metadata__":{}})", 0, "appears twice");
  expect_header_refused(R"({"a":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}})", 0,
                        "has a duplicate dtype");
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[0],"shape":[0],"data_offsets":[0,0]}})", 0,
                        "has a duplicate shape");
}

TEST(SafetensorsHeader, RefusesMismatchedSizes) {
  expect_header_refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4,
                        "needs 8 bytes but has 4");
  expect_header_refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8, "are 8 to 0");
  expect_header_refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 7,
                        "lists 8 bytes of data, of which it has 7");
  expect_header_refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 0, "download or copy");
  for (const char* type : {"U8", "NEW"}) {
    expect_header_refused(
        fmt::format(R"({{"a":{{"dtype":"{}","shape":[0],"data_offsets":[0,18446744073709551615]}}}})", type),
        7, type == std::string_view("U8") ? "needs 0 bytes" : "of which it has 7");
  }
  // 2^32 x 2^32 elements wrap around to none, 2^62 doubles to none as well; an empty axis excuses nothing.
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
                        "too large");
  expect_header_refused(R"({"a":{"dtype":"F64","shape":[4611686018427387904],"data_offsets":[0,0]}})", 0,
                        "too large");
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[0,4294967296,4294967296],"data_offsets":[0,0]}})", 0,
                        "too large");
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[0,4611686018427387904],"data_offsets":[0,0]}})", 0,
                        "too large");
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,0]}})", 0,
                        "too large");
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[18446744073709551616],"data_offsets":[0,0]}})", 0,
                        "a number that is too large");
}

TEST(SafetensorsHeader, RefusesOverlapHolesAndTrailingBytes) {
  const auto two = [](int begin1, int end1, int begin2, int end2) {
    return R"({"a":{"dtype":"U8","shape":[)" + std::to_string(end1 - begin1) + R"(],"data_offsets":[)" +
           std::to_string(begin1) + "," + std::to_string(end1) + R"(]},"b":{"dtype":"U8","shape":[)" +
           std::to_string(end2 - begin2) + R"(],"data_offsets":[)" + std::to_string(begin2) + "," +
           std::to_string(end2) + "]}}";
  };
  EXPECT_EQ(parse(two(0, 4, 4, 8), 8).tensors.size(), 2u);
  EXPECT_EQ(parse(two(4, 8, 0, 4), 8).tensors.size(), 2u);
  expect_header_refused(two(0, 4, 3, 7), 7, "overlaps the data of tensor 'b'");
  expect_header_refused(two(0, 4, 0, 4), 4, "overlaps");
  expect_header_refused(two(0, 4, 2, 2), 4, "overlaps the data of tensor 'b'");
  expect_header_refused(two(0, 4, 5, 8), 8, "a gap from byte 4 precedes");
  expect_header_refused(two(1, 4, 4, 8), 8, "a gap from byte 0 precedes");
  expect_header_refused(two(0, 4, 4, 8), 9, "end at byte 8 of 9");
  expect_header_refused("{}", 1, "end at byte 0 of 1");
}

TEST(SafetensorsHeader, BoundsTheDepthAndItsMessages) {
  expect_header_refused("{\"a\":" + std::string(1'000'000, '['), 0, "'a' is an array");
  const std::string name(1'000'000, 'x');
  try {
    parse("{\"" + name + "\":1}", 0);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_LT(std::string_view(error.what()).size(), 300u);
  }
}

}  // namespace
}  // namespace heed
