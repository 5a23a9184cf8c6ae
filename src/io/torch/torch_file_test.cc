#include "io/torch/torch_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/rng.h"
#include "io/torch/test_torch_bytes.h"
#include "io/weight_files.h"
#include "io/zip_file.h"
#include "mutated_bytes.h"
#include "test_folder.h"

namespace heed {
namespace {

const std::vector<float> kNumbers{1, 2, 3, 4, 5, 6, 7, 8};

PickledTensor tensor_of(const std::string& name, int64_t offset, std::vector<int64_t> sizes,
                        std::vector<int64_t> strides) {
  return {name, "FloatStorage", "0", 8, offset, std::move(sizes), std::move(strides)};
}

const std::vector<PickledTensor>& good_tensors() {
  static const std::vector<PickledTensor> tensors{
      tensor_of("rows", 0, {2, 3}, {3, 1}),           tensor_of("transposed", 2, {2, 3}, {1, 2}),
      tensor_of("every second", 1, {3}, {2}),         tensor_of("one", 7, {}, {}),
      {"halves", "HalfStorage", "1", 2, 0, {2}, {1}}, {"ids", "LongStorage", "2", 2, 0, {1, 2}, {2, 1}}};
  return tensors;
}

TorchStorages good_storages() {
  return {{"0", array_bytes(kNumbers)},
          {"1", array_bytes<uint16_t>({0x3c00, 0xc000})},  // 1, -2
          {"2", array_bytes<int64_t>({-1, int64_t{1} << 40})}};
}

std::string good_pickle() {
  return pickle_of("}(" + pickled_items(good_tensors()) + "u");
}

/// All numbers of a storage, of which `tensors` is the dictionary.
std::string file_of(const std::string& dictionary) {
  return torch_zip(pickle_of(dictionary), good_storages());
}

void expect_torch_refused(const std::string& bytes, std::string_view part) {
  const TestFolder folder;
  expect_error(ErrorKind::kFormat, part, [&] { TorchFile::open(folder.write("pytorch_model.bin", bytes)); });
}

void expect_tensor_refused(PickledTensor tensor, std::string_view part) {
  tensor.name = "w";
  expect_torch_refused(file_of("}(" + pickled_items({tensor}) + "u"), part);
}

TEST(TorchFile, ReadsViewsOfSharedStorages) {
  const TestFolder folder;
  const TorchFile file = TorchFile::open(folder.write("x.bin", torch_zip(good_pickle(), good_storages())));
  EXPECT_EQ(file.infos().size(), good_tensors().size());
  EXPECT_EQ(file.read("rows").to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(file.read("transposed").to_vector<float>(), (std::vector<float>{3, 5, 7, 4, 6, 8}));
  EXPECT_EQ(file.read("every second").to_vector<float>(), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(file.read("one").to_vector<float>(), (std::vector<float>{8}));
  EXPECT_EQ(file.read("ids").to_vector<int64_t>(), (std::vector<int64_t>{-1, int64_t{1} << 40}));
  EXPECT_EQ(file.read("halves").dtype(), DType::kFloat16);
  std::vector<float> floats(2);
  file.read_into("halves", floats.data(), {2});
  EXPECT_EQ(floats, (std::vector<float>{1, -2}));
  EXPECT_EQ(file.read_rows("transposed", 1, 1).to_vector<float>(), (std::vector<float>{4, 6, 8}));
  EXPECT_EQ(file.read_rows("rows", 1, 1).to_vector<float>(), (std::vector<float>{4, 5, 6}));
  expect_error(ErrorKind::kShape, "has the shape (2, 3), expected (3, 2)", [&] {
    file.read_into("transposed", floats.data(), {3, 2});
  });
}

TEST(TorchFile, ReadsTheLegacyLayout) {
  const TestFolder folder;
  const PickledTensor tensor = tensor_of("w", 2, {2, 3}, {1, 2});
  const std::string pickle = pickle_of("}(" + pickled_items({tensor}, true) + "u");
  const std::string bytes = torch_legacy(pickle, {good_storages()[0]});
  EXPECT_EQ(TorchFile::open(folder.write("x.bin", bytes)).read("w").to_vector<float>(),
            (std::vector<float>{3, 5, 7, 4, 6, 8}));
  expect_torch_refused(torch_legacy(pickle, {good_storages()[0], {"9", ""}}),
                       "the storage '9', which no tensor uses");
  expect_torch_refused(torch_legacy(pickle, {}), "lacks the storage '0'");
  expect_torch_refused(torch_legacy(pickle, {{"0", std::string(28, '\0')}}), "has 7 elements, expected 8");
  for (size_t length = 1; length < bytes.size(); ++length) {
    expect_torch_refused(bytes.substr(0, length), length < 2 ? "" : "ends too early");
  }
}

TEST(TorchFile, ShardsAreReadAsOne) {
  const TestFolder folder;
  folder.write("pytorch_model-1.bin", torch_zip(good_pickle(), good_storages()));
  folder.write("pytorch_model-2.bin", file_of("}(" + pickled_items({tensor_of("more", 0, {8}, {1})}) + "u"));
  folder.write("pytorch_model.bin.index.json",
               R"({"weight_map": {"rows": "pytorch_model-1.bin", "more": "pytorch_model-2.bin"}})");
  const WeightFiles files = WeightFiles::open(folder.path());
  EXPECT_EQ(files.names(), (std::vector<std::string>{"more", "rows"}));
  EXPECT_EQ(files.bytes(), (8 + 6) * 4u);
  EXPECT_EQ(files.read("more").to_vector<float>(), kNumbers);
}

TEST(TorchFile, TiedTensorsAreOneView) {
  const TestFolder folder;
  folder.write("pytorch_model.bin",
               file_of("}(" +
                       pickled_items({tensor_of("w", 2, {2, 3}, {3, 1}), tensor_of("tied", 2, {2, 3}, {3, 1}),
                                      tensor_of("row", 2, {3}, {1}), tensor_of("other", 1, {2, 3}, {3, 1})}) +
                       "u"));
  const WeightFiles files = WeightFiles::open(folder.path());
  EXPECT_TRUE(files.are_same_view("w", "tied"));
  for (const char* name : {"row", "other", "none"}) EXPECT_FALSE(files.are_same_view("w", name)) << name;
  EXPECT_EQ(files.bytes(), (6 + 3 + 6) * 4u);
}

TEST(TorchFile, ViewsMustLieInTheirStorage) {
  const int64_t huge = int64_t{1} << 62;
  expect_tensor_refused(tensor_of("", 3, {2, 3}, {3, 1}), "lies outside its storage of 8 elements");
  expect_tensor_refused(tensor_of("", -1, {2}, {1}), "lies outside its storage");
  expect_tensor_refused(tensor_of("", huge, {3, 3}, {huge, 1}), "lies outside its storage");
  expect_tensor_refused(tensor_of("", 0, {huge, huge}, {0, 0}), "lies outside its storage");
  expect_tensor_refused(tensor_of("", 0, {9, 0, huge}, {0, 0, 4}), "lies outside its storage");
  expect_tensor_refused(tensor_of("", 0, {3, 3}, {0, 1}), "repeats the elements");
  expect_tensor_refused(tensor_of("", 0, {-2}, {1}), "negative size or stride -2");
  expect_tensor_refused(tensor_of("", 7, {2}, {-1}), "negative size or stride -1");
  expect_tensor_refused(tensor_of("", 0, {2, 2}, {1}), "has 2 sizes, but 1 strides");
  expect_tensor_refused(tensor_of("", 0, {1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1}), "has 7 axes");
  expect_tensor_refused({"", "FloatStorage", "0", 9, 0, {2}, {1}}, "has 32 bytes, expected 9 elements");
  expect_tensor_refused({"", "FloatStorage", "3", 8, 0, {2}, {1}}, "lacks the entry model/data/3");
  expect_tensor_refused({"", "FloatStorage", "../0", 8, 0, {2}, {1}}, "the key of a storage is '../0'");
  expect_tensor_refused({"", "FloatStorage", "0", int64_t{1} << 61, 0, {2}, {1}}, "would have");
  expect_tensor_refused({"", "QInt8Storage", "0", 8, 0, {2}, {1}}, "unsupported type torch.QInt8Storage");
}

TEST(TorchFile, TensorsWithFlagsAreRefused) {
  const TestFolder folder;
  PickledTensor tensor = tensor_of("w", 0, {8}, {1});
  for (const char* none : {"", "N", "}", "ccollections\nOrderedDict\n)R"}) {
    tensor.metadata = none;
    const std::string path = folder.write("x.bin", file_of("}(" + pickled_items({tensor}) + "u"));
    EXPECT_EQ(TorchFile::open(path).read("w").to_vector<float>(), kNumbers);
  }
  tensor.metadata = "}" + pickled_string("neg") + "\x88s";
  expect_tensor_refused(tensor, "(metadata 'neg'): save it as tensor.resolve_neg()");
  tensor.metadata =
      "ccollections\nOrderedDict\n)R(" + pickled_string("conj") + "\x88" + pickled_string("neg") + "\x88u";
  expect_tensor_refused(tensor, "(metadata 'conj', 'neg')");
  tensor.metadata = "\x88";
  expect_tensor_refused(tensor, "metadata of an unknown kind");
}

TEST(TorchFile, NothingIsCalled) {
  const std::string system = "cos\nsystem\n", argument = "(" + pickled_string("true") + "t";
  expect_torch_refused(file_of("}(" + pickled_string("w") + system + argument + "Ru"),
                       "refers to 'os.system'");
  expect_torch_refused(file_of("}(" + pickled_string("w") + system + "u"), "refers to 'os.system'");
  expect_torch_refused(file_of("}(" + pickled_string("w") + "ccollections\nOrderedDict.fromkeys\n)Ru"),
                       "refers to 'collections.OrderedDict.fromkeys'");
  expect_torch_refused(file_of("}(" + pickled_string("w") + "(" + pickled_string("x") + "ios\nsystem\nu"),
                       "unknown opcode 'i'");
  expect_torch_refused(file_of(pickled_string("os") + pickled_string("system") + "\x93" + argument + "R"),
                       "unknown opcode 0x93");
  expect_torch_refused(file_of("}(" + pickled_string("w") + pickled_string("x") + ")Ru"), "not a function");
  expect_torch_refused(file_of("ctorch\nFloatStorage\n)R"), "calls 'torch.FloatStorage' with arguments");
  expect_torch_refused(file_of("ccollections\nOrderedDict\n}b"), "not an OrderedDict");
}

TEST(TorchFile, TheStackMachineRefusesNonsense) {
  expect_torch_refused(file_of("R"), "takes a value from an empty stack");
  expect_torch_refused(file_of("N("), "left over");
  expect_torch_refused(file_of("NN"), "left over");
  expect_torch_refused(file_of("t"), "a mark that is missing");
  expect_torch_refused(file_of("h\x05"), "refers to the value 5");
  expect_torch_refused(file_of("]]q\x01h\x01"
                               "aa"),
                       "contains itself");
  expect_torch_refused(file_of("}(Nu"), "sets an item without a value");
  expect_torch_refused(file_of("NNa"), "not a list");
  expect_torch_refused(file_of("X\x02\0\0\0\xff\xff"
                               "a"),
                       "");
  expect_torch_refused(file_of("X" + number_bytes<uint32_t>(1 << 31)), "ends too early");
  expect_torch_refused(torch_zip("\x80\x04N.", {}), "its protocol is 4");
  expect_torch_refused(torch_zip("", {}), "ends too early");
  expect_torch_refused(file_of(pickled_integer(7)), "is not a dictionary of tensors");
  expect_torch_refused(file_of("}(" + pickled_integer(7) + "Nu"), "the name of a tensor is not a string");
  expect_torch_refused(file_of("}(" + pickled_string("epoch") + pickled_integer(7) + "u"),
                       "'epoch' is not a tensor");
  const std::string twice = pickled_items({tensor_of("w", 0, {8}, {1}), tensor_of("w", 0, {8}, {1})});
  expect_torch_refused(file_of("}(" + twice + "u"), "two tensors named 'w'");
  // Nested deeply: neither walked nor freed recursively.
  const std::string deep(200'000, ']');
  expect_torch_refused(file_of("}(" + pickled_string("w") + deep + std::string(199'999, 'a') + "u"),
                       "'w' is not a tensor");
}

TEST(TorchFile, TheZipDirectoryIsChecked) {
  const std::string pickle = good_pickle();
  const TorchStorages storages = good_storages();
  const std::string good = torch_zip(pickle, storages);
  expect_torch_refused(zip_bytes({{"a", "b"}}), "contains no data.pkl");
  expect_torch_refused(zip_bytes({{"a/data.pkl", pickle}, {"b/data.pkl", pickle}}), "in two folders");
  expect_torch_refused(zip_bytes({{"a/data.pkl", pickle}, {"a/data.pkl", pickle}}), "two entries named");
  expect_torch_refused(zip_bytes({{"a/data.pkl", pickle}, {"a/constants.pkl", pickle}}), "TorchScript");
  expect_torch_refused(zip_bytes({{"a/data.pkl", pickle}, {"a/../b", ""}}), "leaves the folder");
  expect_torch_refused(zip_bytes({{"a/data.pkl", pickle}, {"/b", ""}}), "leaves the folder");
  expect_torch_refused(zip_bytes({{"a/data.pkl", pickle}, {"a/byteorder", "big"}}), "not little-endian");
  const auto with = [&](size_t at, char value) {
    std::string changed = good;
    changed[changed.rfind("PK\x01\x02") + at] = value;
    return changed;
  };
  expect_torch_refused(with(8, 1), "is encrypted");
  expect_torch_refused(with(10, 8), "is compressed");
  expect_torch_refused(with(24, 99), "is compressed");
  expect_torch_refused(with(42, 1), "has no header");
  expect_torch_refused(good.substr(0, good.size() - 1), "the end of its directory is missing");
  expect_torch_refused("", "is empty");
  expect_torch_refused("version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "Git LFS");
  expect_torch_refused("<!doctype html>", "neither a zip file nor a pickle");
}

// The bytes of a zip file are those of its entries and what says where they are. Any damage is found, or
// leaves all numbers as they are: in a date, for example.
TEST(TorchFile, DamagedNumbersAreNotRead) {
  const TestFolder folder;
  const std::string whole = torch_zip(good_pickle(), good_storages());
  const auto numbers = [&](const std::string& bytes) {
    const TorchFile file = TorchFile::open(folder.write("x.bin", bytes));
    std::vector<std::vector<double>> all;
    for (const PickledTensor& each : good_tensors()) all.push_back(file.read(each.name).to_vector<double>());
    return all;
  };
  const std::vector<std::vector<double>> right = numbers(whole);
  int refused = 0;
  for (size_t position = 0; position < whole.size(); ++position) {
    std::string damaged = whole;
    damaged[position] = static_cast<char>(damaged[position] ^ 0x11);
    try {
      EXPECT_EQ(numbers(damaged), right) << position;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, static_cast<int>(whole.size() / 2));
}

TEST(TorchFile, ComparesStoragesWithTheirChecksums) {
  const TestFolder folder;
  std::string bytes = torch_zip(good_pickle(), good_storages());
  bytes[bytes.find(array_bytes(kNumbers))] ^= 1;
  const TorchFile damaged = TorchFile::open(folder.write("x.bin", bytes));
  EXPECT_TRUE(damaged.has_hashes());
  const std::string message = "the data of 'model/data/0' do not match their checksum";
  expect_error(ErrorKind::kFormat, message, [&] { (void)damaged.read("rows"); });
  expect_error(ErrorKind::kFormat, message, [&] { (void)damaged.read_rows("rows", 1, 1); });
  expect_error(ErrorKind::kFormat, message, [&] { damaged.verify(); });
  EXPECT_EQ(damaged.read("ids").to_vector<int64_t>().front(), -1);

  bytes = torch_zip(good_pickle(), good_storages(), false);
  const TorchFile without = TorchFile::open(folder.write("y.bin", bytes));
  EXPECT_FALSE(without.has_hashes());
  without.verify();
  EXPECT_EQ(without.read("rows").to_vector<float>().front(), 1);
}

long peak_kilobytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(TorchFile, MutatedFilesAreRefusedOrRead) {
  constexpr std::string_view kHazards[] = {"\xff", "\xff\xff\xff\xff", "\xff\xff\xff\xff\xff\xff\xff\xff"};
  const TestFolder folder;
  const std::string legacy = torch_legacy(
      pickle_of("}(" + pickled_items({tensor_of("w", 2, {2, 3}, {1, 2})}, true) + "u"), {good_storages()[0]});
  Random random(RandomKey::from_seed(22));
  const long before = peak_kilobytes();
  int read = 0, refused = 0;
  for (const std::string& whole : {torch_zip(good_pickle(), good_storages(), false), legacy}) {
    for (int round = 0; round < 4000; ++round) {
      const std::string path = folder.write("x.bin", mutated_bytes(whole, random, kHazards));
      try {
        const TorchFile file = TorchFile::open(path);
        for (const TensorInfo& tensor : file.infos()) {
          if (!tensor.readable) continue;
          EXPECT_EQ(file.read(tensor.name).shape(), tensor.shape);
          ++read;
        }
      } catch (const Error& error) {
        EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(ErrorKind::kFormat)) << error.what();
        ++refused;
      }
    }
  }
  EXPECT_GT(read, 500);
  EXPECT_GT(refused, 3000);
  EXPECT_LT(peak_kilobytes() - before, 256 * 1024) << "a damaged size must not allocate memory";
}

}  // namespace
}  // namespace heed
