#include "io/weight_files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/text/json_file.h"
#include "base/text/json_text.h"
#include "base/text/nearest_word.h"
#include "io/safetensors/safetensors.h"
#include "io/torch/torch_file.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWhole[] = {model_file::kSafetensors, model_file::kPyTorch};

std::string index_of(const char* whole) {
  return std::string(whole) + model_file::kIndexSuffix;
}

/// Advice for weights in other formats, recognized by the toolkits' file names.
std::string advice(const ModelInventory& files) {
  const auto resave = [&](const char* kind) {
    return fmt::format(
        "it contains weights of {}; load them in Python with the transformers library and save them with "
        "model.save_pretrained(..., safe_serialization=True)",
        kind);
  };
  if (files.has("tf_model.h5")) return resave("TensorFlow (tf_model.h5; load with from_tf=True)");
  if (files.has("flax_model.msgpack")) return resave("Flax (flax_model.msgpack; load with from_flax=True)");
  if (files.has(model_file::kCtranslate2)) {
    return "it contains a model.bin of CTranslate2; use the model that it was converted from";
  }
  std::vector<std::string> found = files.ending_in({".npz", ".pt", ".pth", ".ckpt", ".gguf", ".safetensors"});
  std::erase(found, model_file::kShortlist);
  if (!found.empty())
    return fmt::format("it contains '{}', which is not a supported name or format", shown(found.front()));
  return "it contains no weights; check the path and the download";
}

/// Whether a shard is a file of the directory itself: an index must not refer to other directories.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

void require_shard(const std::string& path, const std::string& index_path) {
  std::error_code ignored;
  if (fs::exists(path, ignored)) return;
  fail(ErrorKind::kNotFound,
       "'{}' is missing, one of the files with weights that {} lists: complete the download of the model",
       path, index_path);
}

}  // namespace

std::unique_ptr<TensorReader> open_weight_file(const std::string& path) {
  if (path.ends_with(".safetensors"))
    return std::make_unique<SafetensorsReader>(SafetensorsReader::open(path));
  return std::make_unique<TorchFile>(TorchFile::open(path));
}

bool WeightFiles::are_safetensors(const ModelInventory& inventory) {
  return inventory.has_any({model_file::kSafetensors, index_of(model_file::kSafetensors)});
}

WeightFiles WeightFiles::open(const ModelInventory& inventory) {
  const std::string& directory = inventory.directory();
  if (!inventory.is_directory()) {
    fail(inventory.exists() ? ErrorKind::kFile : ErrorKind::kNotFound, "'{}' {}; give a model directory",
         directory, inventory.exists() ? "is a file" : "does not exist");
  }
  WeightFiles files;
  files.directory_ = directory;
  for (const char* whole : kWhole) {
    if (inventory.has(whole)) {
      files.add_all_of(open_weight_file(inventory.path(whole)));
    } else if (inventory.has(index_of(whole))) {
      files.add_shards(inventory.path(index_of(whole)));
    } else {
      continue;
    }
    break;
  }
  if (files.shards_.empty()) {
    fail(ErrorKind::kNotFound,
         "the directory '{}' has neither model.safetensors nor pytorch_model.bin, in one file "
         "or shards: {}",
         directory, advice(inventory));
  }
  std::sort(files.names_.begin(), files.names_.end());
  return files;
}

WeightFiles WeightFiles::of(const std::string& directory, std::unique_ptr<TensorReader> reader) {
  WeightFiles files;
  files.directory_ = directory;
  files.add_all_of(std::move(reader));
  std::sort(files.names_.begin(), files.names_.end());
  return files;
}

void WeightFiles::add_all_of(std::unique_ptr<TensorReader> reader) {
  shards_.push_back(std::move(reader));
  for (const TensorInfo& tensor : shards_.back()->infos()) {
    shard_of_.emplace(tensor.name, 0);
    names_.push_back(tensor.name);
  }
}

void WeightFiles::add_shards(const std::string& index_path) {
  const JsonObject weight_map = JsonObject::read(index_path).object("weight_map");
  std::map<std::string, size_t> opened;
  for (const std::string& name : weight_map.keys()) {
    const std::string file = weight_map.string(name);
    if (!is_plain_name(file)) {
      fail(ErrorKind::kFormat, "{}: the file '{}' of tensor '{}' must be in the same directory", index_path,
           shown(file), shown(name));
    }
    const auto [shard, is_new] = opened.emplace(file, shards_.size());
    const std::string path = (fs::path(directory_) / file).string();
    if (is_new) require_shard(path, index_path);
    if (is_new) shards_.push_back(open_weight_file(path));
    if (!shards_[shard->second]->has(name)) {
      fail(ErrorKind::kFormat, "{}: tensor '{}' is missing in its file '{}'", index_path, shown(name), file);
    }
    shard_of_.emplace(name, shard->second);
    names_.push_back(name);
  }
}

const TensorReader& WeightFiles::shard_with(const std::string& name) const {
  const auto found = shard_of_.find(name);
  if (found == shard_of_.end()) {
    fail(ErrorKind::kNotFound, "the weights in '{}' have no tensor '{}'{}", directory_, shown(name),
         did_you_mean(name, names_));
  }
  return *shards_[found->second];
}

bool WeightFiles::are_same_view(const std::string& one, const std::string& other) const {
  if (!has(one) || !has(other) || shard_of_.at(one) != shard_of_.at(other)) return false;
  const TensorInfo &left = info(one), &right = info(other);
  return left.begin == right.begin && left.end == right.end && left.type == right.type &&
         left.shape == right.shape;
}

std::vector<std::string> WeightFiles::names_without_views() const {
  std::vector<std::string> names;
  std::set<std::tuple<size_t, uint64_t, uint64_t>> seen;
  for (const std::string& name : names_) {
    const TensorInfo& tensor = info(name);
    if (seen.emplace(shard_of_.at(name), tensor.begin, tensor.end).second) names.push_back(name);
  }
  return names;
}

uint64_t WeightFiles::bytes() const {
  uint64_t sum = 0;
  for (const std::string& name : names_without_views()) sum += info(name).end - info(name).begin;
  return sum;
}

}  // namespace heed
