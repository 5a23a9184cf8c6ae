#include "models/directory_files.h"

#include "models/ctranslate2_model.h"

namespace heed::models {

JsonObject read_config(const std::string& directory) {
  const std::string path = directory + "/config.json";
  if (is_ctranslate2_directory(directory)) return JsonObject::parse(open_ctranslate2(directory).config, path);
  return JsonObject::read(path);
}

WeightFiles open_weights(const std::string& directory) {
  if (is_ctranslate2_directory(directory))
    return WeightFiles::of(directory, open_ctranslate2(directory).weights);
  return WeightFiles::open(directory);
}

}  // namespace heed::models
