#include "cli/files/weight_conversion.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/text/json_file.h"
#include "cli/options/interrupts.h"
#include "io/safetensors/safetensors.h"

namespace heed::cli {
namespace {

bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16 ||
         dtype == DType::kBFloat16;
}

/// Throws kNumeric if a number overflows in the type (the maximum of float16 is 65504).
Tensor converted(const std::string& name, const Tensor& tensor, DType dtype) {
  if (!is_float(tensor.dtype()) || tensor.dtype() == dtype) return tensor;
  Tensor result = tensor.to(dtype);
  const std::vector<float> before = tensor.to_vector<float>(), after = result.to_vector<float>();
  for (size_t n = 0; n < after.size(); ++n) {
    if (std::isfinite(before[n]) && !std::isfinite(after[n])) {
      fail(ErrorKind::kNumeric, "'{}' contains {}, which overflows in {}; use --weights bfloat16", name,
           before[n], name_of(dtype));
    }
  }
  return result;
}

uint64_t converted_bytes(const TensorInfo& tensor, DType dtype) {
  if (!tensor.readable) return tensor.end - tensor.begin;  // refused when it is read
  return static_cast<uint64_t>(tensor.shape.size()) * size_of(is_float(tensor.dtype) ? dtype : tensor.dtype);
}

/// The names of the tensors of each shard, in order. There is always one shard.
std::vector<std::vector<std::string>> shards_of(const WeightFiles& files,
                                                const WeightConversion& conversion) {
  std::vector<std::vector<std::string>> shards(1);
  uint64_t size = 0;
  for (const std::string& name : files.names()) {
    const uint64_t bytes = converted_bytes(files.info(name), conversion.dtype);
    if (size + bytes > conversion.max_shard_bytes && !shards.back().empty()) {
      shards.emplace_back();
      size = 0;
    }
    shards.back().push_back(name);
    size += bytes;
  }
  return shards;
}

}  // namespace

void convert_weights(const WeightFiles& files, const std::string& output,
                     const WeightConversion& conversion) {
  const std::vector<std::vector<std::string>> shards = shards_of(files, conversion);
  nlohmann::ordered_json index{{"metadata", {{"total_size", 0}}},
                               {"weight_map", nlohmann::ordered_json::object()}};
  uint64_t total = 0;
  for (size_t n = 0; n < shards.size(); ++n) {
    const std::string file = shards.size() == 1
                                 ? std::string("model.safetensors")
                                 : fmt::format("model-{:05}-of-{:05}.safetensors", n + 1, shards.size());
    std::vector<std::pair<std::string, Tensor>> tensors;
    for (const std::string& name : shards[n]) {
      if (interrupted()) fail(ErrorKind::kFile, "interrupted at '{}'", name);
      tensors.emplace_back(name, converted(name, files.read(name), conversion.dtype));
      total += converted_bytes(files.info(name), conversion.dtype);
      index["weight_map"][name] = file;
    }
    write_safetensors_with_hashes(output + "/" + file, tensors, {{"format", "pt"}});
  }
  if (shards.size() == 1) return;
  index["metadata"]["total_size"] = total;
  write_json(output + "/model.safetensors.index.json", index);
}

}  // namespace heed::cli
