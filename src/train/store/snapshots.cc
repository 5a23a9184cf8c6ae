#include "train/store/snapshots.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/check.h"
#include "base/files/directory_listing.h"
#include "kernels/pointwise/elementwise.h"
#include "train/store/checksummed_tensors.h"

namespace heed::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSnapshotFormat = "heed training snapshot 1";
constexpr std::string_view kPrefix = "snapshot-", kSuffix = ".safetensors";

/// The step of "snapshot-500.safetensors".
std::optional<int64_t> step_of(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(std::min(kSuffix.size(), name.size()));
  int64_t step = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return step;
}

}  // namespace

std::string Snapshots::path(int64_t step) const {
  return fmt::format("{}/{}{}{}", folder_, kPrefix, step, kSuffix);
}

void Snapshots::write(int64_t step, const nn::ParameterArray& values) const {
  ChecksummedTensors content;
  content.format = kSnapshotFormat;
  content.texts = {{"step", std::to_string(step)}};
  content.tensors = {{"values", values.flat()}};
  write_checksummed(path(step), content);
}

nn::ParameterArray Snapshots::mean(const std::vector<int64_t>& steps) const {
  nn::ParameterArray mean(table_, DType::kFloat32);
  for (const int64_t step : steps) {
    ChecksummedTensors content = read_checksummed(path(step), kSnapshotFormat);
    const Tensor* values = content.find("values");
    if (values == nullptr || values->dtype() != DType::kFloat32 ||
        !(values->shape() == mean.flat().shape()) || content.texts["step"] != std::to_string(step)) {
      fail(ErrorKind::kFormat, "'{}' does not hold the weights of step {} of this model", path(step), step);
    }
    add_scaled({.size = mean.flat().size(),
                .factor = 1.0f / static_cast<float>(steps.size()),
                .x = values->data<float>(),
                .y = mean.flat().data<float>()});
  }
  return mean;
}

void Snapshots::remove_all_but(const std::vector<int64_t>& steps) const {
  std::error_code error;
  for (const std::string& name : names_in(folder_, error)) {
    const auto step = step_of(name);
    if (step && std::ranges::count(steps, *step) == 0) fs::remove(fs::path(folder_) / name, error);
  }
}

}  // namespace heed::train
