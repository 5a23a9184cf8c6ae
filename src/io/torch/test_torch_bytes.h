// Test helper: handmade files of torch.save, valid or not.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "zip_writer.h"

namespace heed {

/// A tensor as a pickle describes it.
struct PickledTensor {
  std::string name;
  std::string storage_type = "FloatStorage", key = "0";
  int64_t storage_size = 0;
  int64_t offset = 0;
  std::vector<int64_t> sizes = {}, strides = {};
  std::string metadata = {};  ///< a pickled seventh argument; empty: none
};

template <typename Number>
std::string number_bytes(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

template <typename Number>
std::string array_bytes(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

inline std::string pickled_string(const std::string& text) {
  return "X" + number_bytes(static_cast<uint32_t>(text.size())) + text;
}

/// LONG1 with eight bytes.
inline std::string pickled_integer(int64_t value) {
  return "\x8a\x08" + number_bytes(value);
}

inline std::string pickled_tuple(const std::vector<int64_t>& numbers) {
  std::string bytes = "(";
  for (const int64_t number : numbers) bytes += pickled_integer(number);
  return bytes + "t";
}

/// A call of torch._utils._rebuild_tensor_v2.
inline std::string pickled_tensor(const PickledTensor& tensor, bool legacy = false) {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + pickled_string("storage") + "ctorch\n" +
         tensor.storage_type + "\n" + pickled_string(tensor.key) + pickled_string("cpu") +
         pickled_integer(tensor.storage_size) + (legacy ? "N" : "") + "tQ" + pickled_integer(tensor.offset) +
         pickled_tuple(tensor.sizes) + pickled_tuple(tensor.strides) + "\x89" +
         "ccollections\nOrderedDict\n)R" + tensor.metadata + "tR";
}

/// The items of a dictionary in which every tensor has its name.
inline std::string pickled_items(const std::vector<PickledTensor>& tensors, bool legacy = false) {
  std::string bytes;
  for (const PickledTensor& tensor : tensors)
    bytes += pickled_string(tensor.name) + pickled_tensor(tensor, legacy);
  return bytes;
}

inline std::string pickle_of(const std::string& value) {
  return "\x80\x02" + value + ".";
}

using ZipContent = std::vector<std::pair<std::string, std::string>>;

inline std::string zip_bytes(const ZipContent& entries, bool with_checksums = true) {
  ZipWriter zip(with_checksums);
  for (const auto& [name, data] : entries) zip.add(name, data);
  return zip.finish();
}

/// Keys and data of storages.
using TorchStorages = std::vector<std::pair<std::string, std::string>>;

/// The zip layout, with this data.pkl.
inline std::string torch_zip(const std::string& pickle, const TorchStorages& storages,
                             bool with_checksums = true) {
  ZipContent entries{{"model/data.pkl", pickle}, {"model/byteorder", "little"}};
  for (const auto& [key, data] : storages) entries.emplace_back("model/data/" + key, data);
  return zip_bytes(entries, with_checksums);
}

/// The layout before torch 1.6; each storage has elements of `element_size` bytes.
inline std::string torch_legacy(const std::string& pickle, const TorchStorages& storages,
                                int64_t element_size = 4) {
  using std::string_literals::operator""s;
  std::string bytes = pickle_of("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19") + pickle_of("M\xe9\x03") +
                      pickle_of("}" + pickled_string("little_endian") + "\x88s") + pickle;
  std::string keys = "](", data;
  for (const auto& [key, content] : storages) {
    keys += pickled_string(key);
    data += number_bytes(static_cast<int64_t>(content.size()) / element_size) + content;
  }
  return bytes + pickle_of(keys + "e") + data;
}

}  // namespace heed
