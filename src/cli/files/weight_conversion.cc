#include "cli/files/weight_conversion.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/text/json_file.h"
#include "cli/options/interrupts.h"
#include "io/safetensors/safetensors.h"
#include "models/directory/model_weights.h"

namespace heed::cli {
namespace {

bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16 ||
         dtype == DType::kBFloat16;
}

/// Throws kNumeric if a number overflows in the type (the maximum of float16 is 65504). Both tensors are
/// contiguous.
void require_no_overflow(const std::string& name, const Tensor& before, const Tensor& after) {
  constexpr int64_t kTogether = int64_t{1} << 16;  // so that no tensor is in memory in float64
  const auto part = [](const Tensor& tensor, int64_t begin, int64_t count) {
    return tensor.reshape({tensor.size()}).narrow(0, begin, count).to_vector<double>();
  };
  for (int64_t begin = 0; begin < before.size(); begin += kTogether) {
    const int64_t count = std::min(kTogether, before.size() - begin);
    const std::vector<double> numbers = part(before, begin, count), converted = part(after, begin, count);
    for (size_t n = 0; n < numbers.size(); ++n) {
      if (!std::isfinite(numbers[n]) || std::isfinite(converted[n])) continue;
      const bool fits_bfloat16 =
          after.dtype() == DType::kFloat16 && std::isfinite(static_cast<float>(numbers[n]));
      fail(ErrorKind::kNumeric, "'{}' contains {}, which overflows in {}; {}", name, numbers[n],
           name_of(after.dtype()),
           fits_bfloat16 ? "use --weights bfloat16"
                         : "so large a number fits no type of --weights: check the model");
    }
  }
}

/// The tensor as it is written under this name.
Tensor converted(const std::string& name, const Tensor& tensor, DType dtype) {
  const Shape shape = models::shape_in_files(name, tensor.shape());
  if (!is_float(tensor.dtype()) || tensor.dtype() == dtype) return tensor.reshape(shape);
  Tensor result = tensor.to(dtype);
  require_no_overflow(name, tensor, result);
  return result.reshape(shape);
}

/// A tensor that is written, and its name in the files.
struct WrittenTensor {
  std::string name, from;
};

/// All of them, sorted by name.
std::vector<WrittenTensor> all_written(const WeightFiles& files, const WeightConversion& conversion) {
  std::vector<WrittenTensor> all;
  for (const std::string& name : files.names()) {
    if (!conversion.left_out.contains(name)) all.push_back({name, name});
  }
  for (const auto& [name, from] : conversion.copies) all.push_back({name, from});
  std::ranges::sort(all, {}, &WrittenTensor::name);
  return all;
}

uint64_t converted_bytes(const TensorInfo& tensor, DType dtype) {
  if (!tensor.readable) return tensor.end - tensor.begin;  // refused when it is read
  return static_cast<uint64_t>(tensor.shape.size()) * size_of(is_float(tensor.dtype) ? dtype : tensor.dtype);
}

/// The tensors of each shard, in order. There is always one shard.
std::vector<std::vector<WrittenTensor>> shards_of(const WeightFiles& files,
                                                  const WeightConversion& conversion) {
  std::vector<std::vector<WrittenTensor>> shards(1);
  uint64_t size = 0;
  for (const WrittenTensor& tensor : all_written(files, conversion)) {
    const uint64_t bytes = converted_bytes(files.info(tensor.from), conversion.dtype);
    if (size + bytes > conversion.max_shard_bytes && !shards.back().empty()) {
      shards.emplace_back();
      size = 0;
    }
    shards.back().push_back(tensor);
    size += bytes;
  }
  return shards;
}

}  // namespace

void convert_weights(const WeightFiles& files, const std::string& output,
                     const WeightConversion& conversion) {
  const std::vector<std::vector<WrittenTensor>> shards = shards_of(files, conversion);
  nlohmann::ordered_json index{{"metadata", {{"total_size", 0}}},
                               {"weight_map", nlohmann::ordered_json::object()}};
  uint64_t total = 0;
  for (size_t n = 0; n < shards.size(); ++n) {
    const std::string file = shards.size() == 1
                                 ? std::string("model.safetensors")
                                 : fmt::format("model-{:05}-of-{:05}.safetensors", n + 1, shards.size());
    std::vector<std::pair<std::string, Tensor>> tensors;
    for (const auto& [name, from] : shards[n]) {
      if (interrupted()) fail(ErrorKind::kFile, "interrupted at '{}'", name);
      tensors.emplace_back(name, converted(name, files.read(from), conversion.dtype));
      total += converted_bytes(files.info(from), conversion.dtype);
      index["weight_map"][name] = file;
    }
    write_safetensors_with_hashes(output + "/" + file, tensors, {{"format", "pt"}});
  }
  if (shards.size() == 1) return;
  index["metadata"]["total_size"] = total;
  write_json(output + "/model.safetensors.index.json", index);
}

}  // namespace heed::cli
