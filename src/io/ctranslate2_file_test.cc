#include "io/ctranslate2_file.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "mutated_bytes.h"
#include "test_folder.h"

namespace heed {
namespace {

template <typename Number>
std::string bytes_of(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}
template <typename Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}
std::string string_bytes(const std::string& text) {
  return bytes_of(static_cast<uint16_t>(text.size() + 1)) + text + '\0';
}

std::string variable(const std::string& name, const std::vector<uint32_t>& shape, uint8_t type,
                     const std::string& data) {
  return string_bytes(name) + bytes_of(static_cast<uint8_t>(shape.size())) + bytes_of(shape) +
         bytes_of(type) + bytes_of(static_cast<uint32_t>(data.size())) + data;
}

std::string file_of(const std::vector<std::string>& variables,
                    const std::vector<std::pair<std::string, std::string>>& aliases = {},
                    uint32_t version = 6) {
  std::string bytes = bytes_of(version) + string_bytes("TransformerSpec") + bytes_of<uint32_t>(7) +
                      bytes_of(static_cast<uint32_t>(variables.size()));
  for (const std::string& each : variables) bytes += each;
  bytes += bytes_of(static_cast<uint32_t>(aliases.size()));
  for (const auto& [alias, name] : aliases) bytes += string_bytes(alias) + string_bytes(name);
  return bytes;
}

std::string good_file() {
  return file_of(
      {variable("float", {2, 2}, 0, bytes_of<float>({1, 2, 3, 4})),
       variable("int8", {2, 2}, 1, bytes_of<int8_t>({10, -20, 30, 127})),
       variable("int8_scale", {2}, 0, bytes_of<float>({10, 100})),
       variable("int16", {3}, 2, bytes_of<int16_t>({-1024, 0, 512})),
       variable("int16_scale", {}, 0, bytes_of(1024.0F)), variable("heads", {}, 2, bytes_of<int16_t>(8)),
       variable("flag", {}, 1, std::string(1, '\1'))},
      {{"tied", "int8"}, {"tied_scale", "int8_scale"}});
}

void expect_refused(const std::string& bytes, std::string_view part) {
  const TestFolder folder;
  expect_error(ErrorKind::kFormat, part, [&] { Ctranslate2File::open(folder.write("model.bin", bytes)); });
}

TEST(Ctranslate2File, ReadsVariablesAndScales) {
  const TestFolder folder;
  const Ctranslate2File file = Ctranslate2File::open(folder.write("model.bin", good_file()));
  EXPECT_EQ(file.specification(), "TransformerSpec");
  EXPECT_EQ(file.revision(), 7U);
  EXPECT_FALSE(file.has("int8_scale"));
  EXPECT_EQ(file.read("float").to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(file.read("int8").to_vector<float>(), (std::vector<float>{1, -2, 0.3F, 1.27F}));
  EXPECT_EQ(file.read("tied").to_vector<float>(), (std::vector<float>{1, -2, 0.3F, 1.27F}));
  EXPECT_EQ(file.read_rows("int8", 1, 1).to_vector<float>(), (std::vector<float>{0.3F, 1.27F}));
  EXPECT_EQ(file.read("int16").to_vector<float>(), (std::vector<float>{-1, 0, 0.5F}));
  EXPECT_EQ(file.variable("tied"), "int8");
  EXPECT_EQ(file.variable("float"), "float");
  EXPECT_EQ(file.number("heads"), 8);
  EXPECT_EQ(file.number("flag"), 1);
  EXPECT_EQ(file.number("float"), std::nullopt);
  EXPECT_EQ(file.number("none"), std::nullopt);
}

TEST(Ctranslate2File, RefusesDamage) {
  const std::string data = bytes_of<float>({1, 2});
  expect_refused(file_of({}, {}, 3), "its version is 3");
  expect_refused(file_of({variable("x", {2}, 9, data)}), "unknown type 9");
  expect_refused(file_of({variable("x", {3}, 0, data)}), "has 8 bytes");
  expect_refused(file_of({variable("x", {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, 0, data)}), "has 8 bytes");
  expect_refused(file_of({variable("x", {1, 1, 1, 1, 1, 1, 2}, 0, data)}), "7 axes");
  expect_refused(file_of({variable("x", {2}, 0, data), variable("x", {2}, 0, data)}),
                 "two variables named 'x'");
  expect_refused(file_of({variable("x", {2}, 0, data)}, {{"y", "z"}}),
                 "'y' stands for 'z', which is missing");
  expect_refused(file_of({variable("x", {2}, 1, "ab"), variable("x_scale", {1}, 0, bytes_of(1.0F))}),
                 "but its scale F32 of shape (1)");
  expect_refused(file_of({variable("x", {1}, 1, "a"), variable("x_scale", {1}, 0, bytes_of(0.0F))}),
                 "a scale of 'x' is 0");
  expect_refused(good_file() + "x", "1 bytes follow its end");
  const std::string whole = good_file();
  for (size_t length = 0; length < whole.size(); ++length)
    expect_refused(whole.substr(0, length), "ends too early");
}

TEST(Ctranslate2File, MutatedFilesAreRefusedOrRead) {
  constexpr std::string_view kHazards[] = {"\xff", "\xff\xff\xff\xff"};
  const TestFolder folder;
  Random random(RandomKey::from_seed(23));
  int read = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    try {
      const std::string bytes = mutated_bytes(good_file(), random, kHazards);
      const Ctranslate2File file = Ctranslate2File::open(folder.write("x", bytes));
      for (const TensorInfo& tensor : file.infos()) {
        if (!tensor.readable) continue;
        EXPECT_EQ(file.read(tensor.name).shape(), tensor.shape);
      }
      ++read;
    } catch (const Error& error) {
      EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(ErrorKind::kFormat)) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace heed
