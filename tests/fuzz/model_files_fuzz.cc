// Files of a model directory, as they are read when a model is opened: the first line of the input says which
// one of which model, the rest is what it contains; all other files are there and whole.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "fuzz.h"
#include "json_mutator.h"
#include "models/directory/sentence_modules.h"
#include "serve/served_models.h"
#include "small_models.h"

namespace {

constexpr const char *kModels[] = {"translator", "writer", "classifier"},
                     *kFiles[] = {"config.json",
                                  "generation_config.json",
                                  "tokenizer_config.json",
                                  "vocab.json",
                                  "modules.json",
                                  "config_sentence_transformers.json",
                                  "sentence_bert_config.json",
                                  "1_Pooling/config.json",
                                  "model.safetensors.index.json",
                                  "shortlist.safetensors"};

bool is_one_of(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

/// Replaces a file of a directory, and puts back what was there.
class ReplacedFile {
 public:
  ReplacedFile(std::string path, std::string_view content) : path_(std::move(path)) {
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
    if (std::filesystem::exists(path_)) std::filesystem::rename(path_, path_ + ".whole");
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~ReplacedFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
    std::filesystem::rename(path_ + ".whole", path_, ignored);
  }
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;

 private:
  std::string path_;
};

void open_model(const heed::SmallModels& models, const std::string& name) {
  const heed::ModelInventory files(models.directory(name));
  heed::fuzz([&] { (void)heed::models::read_sentence_modules(files, 16); });
  const heed::serve::ServedModels opened({{.name = name, .files = files}}, {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static const heed::SmallModels models;
  static const bool whole = [] {  // else every input would be refused
    for (const char* each : kModels) open_model(models, each);
    return true;
  }();
  (void)whole;
  const std::string_view text = heed::text_of(bytes, size);
  const std::string_view name = text.substr(0, text.find('\n'));
  const std::string_view model = name.substr(0, name.find('/'));
  if (name.size() == text.size() || model.size() == name.size() || !is_one_of(kModels, model) ||
      !is_one_of(kFiles, name.substr(model.size() + 1))) {
    return 0;
  }
  const ReplacedFile file(models.directory(std::string(name)), text.substr(name.size() + 1));
  return heed::fuzz([&] { open_model(models, std::string(model)); });
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* bytes, size_t size, size_t room, unsigned seed) {
  return heed::mutate_json_behind_line(bytes, size, room, seed);
}
