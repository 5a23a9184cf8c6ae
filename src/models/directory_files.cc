#include "models/directory_files.h"

#include <utility>

#include "models/ctranslate2_model.h"

namespace heed::models {

ModelFiles::ModelFiles(std::string directory) : directory_(std::move(directory)) {
  const std::string path = directory_ + "/config.json";
  if (is_ctranslate2_directory(directory_)) {
    Ctranslate2Model model = open_ctranslate2(directory_);
    config_ = JsonObject::parse(model.config, path);
    weights_ = WeightFiles::of(directory_, std::move(model.weights));
  } else {
    config_ = JsonObject::read(path);
  }
}

WeightFiles ModelFiles::take_weights() {
  if (!weights_) return WeightFiles::open(directory_);
  return *std::exchange(weights_, std::nullopt);
}

JsonObject read_config(const std::string& directory) {
  return ModelFiles(directory).config();
}

WeightFiles open_weights(const std::string& directory) {
  if (is_ctranslate2_directory(directory)) return ModelFiles(directory).take_weights();
  return WeightFiles::open(directory);
}

}  // namespace heed::models
