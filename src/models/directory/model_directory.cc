#include "models/directory/model_directory.h"

#include <algorithm>
#include <utility>

#include "models/directory/model_weights.h"
#include "models/formats/ctranslate2_model.h"

namespace heed::models {
namespace {

bool names_a_classifier(const JsonObject& config) {
  const auto names = config.strings("architectures", std::vector<std::string>{});
  return std::ranges::any_of(
      names, [](const std::string& name) { return name.ends_with("ForSequenceClassification"); });
}

}  // namespace

ModelDirectory::ModelDirectory(ModelInventory files, JsonObject config)
    : files_(std::move(files)), config_(std::move(config)) {}

ModelDirectory ModelDirectory::open(ModelInventory files) {
  JsonObject config = JsonObject::read(files.path(model_file::kConfig));
  ModelDirectory opened(std::move(files), std::move(config));
  if (is_ctranslate2_directory(opened.files_, opened.config_)) opened.adapt_ctranslate2();
  opened.complete_config();
  return opened;
}

void refuse_task(std::string_view directory, std::string_view model_type, Task task) {
  switch (task) {
    case Task::kTranslation:
      fail(ErrorKind::kUsage, "'{}' is a translation model ({}): use heed translate or heed attend",
           directory, model_type);
    case Task::kLanguageModel:
      fail(ErrorKind::kUsage, "'{}' is a language model ({}): use heed generate, heed score or heed attend",
           directory, model_type);
    case Task::kClassification:
      fail(ErrorKind::kUsage, "'{}' is a classifier ({}): use heed classify, heed embed or heed attend",
           directory, model_type);
    case Task::kMaskedLanguageModel:
      fail(ErrorKind::kUsage,
           "'{}' is a masked language model ({}): use heed fill, heed embed or heed attend", directory,
           model_type);
    case Task::kEmbedding:
      fail(ErrorKind::kUsage, "'{}' is an encoder without a head ({}): use heed embed or heed attend",
           directory, model_type);
  }
  HEED_CHECK(false);
}

void ModelDirectory::adapt_ctranslate2() {
  Ctranslate2Model model = open_ctranslate2(files_, config_);
  ctranslate2_ = true;
  config_ = JsonObject::parse(model.config, config_.origin());
  weights_ = std::make_shared<const WeightFiles>(WeightFiles::of(path(), std::move(model.weights)));
}

void ModelDirectory::complete_config() {
  const Architecture* architecture = architecture_of_type(config_.string("model_type", ""));
  if (architecture == nullptr || architecture->complete == nullptr) return;
  config_ = architecture->complete(config_, [this]() -> const WeightFiles& { return *weights(); });
}

std::string ModelDirectory::format() const {
  if (ctranslate2_) return "CTranslate2";
  return WeightFiles::are_safetensors(files_) ? "safetensors" : "PyTorch";
}

int ModelDirectory::quantized_bits() const {
  return models::quantized_bits(config_);
}

const std::shared_ptr<const WeightFiles>& ModelDirectory::weights() const {
  if (weights_ == nullptr) weights_ = std::make_shared<const WeightFiles>(WeightFiles::open(files_));
  return weights_;
}

std::unique_ptr<Model> ModelDirectory::create_encoder() const {
  if (architecture().read_encoder == nullptr) {
    refuse_task(path(), config_.string("model_type", ""), task());
  }
  return architecture().read_encoder(config_);
}

std::unique_ptr<Model> ModelDirectory::create_model() const {
  if (files_.has(model_file::kModules) && !names_a_classifier(config_)) {
    if (architecture().read_encoder == nullptr) {
      config_.reject("model_type", "the type of an encoder, such as bert: other models have no embeddings");
    }
    return create_encoder();
  }
  return architecture().read(config_);
}

GenerationDefaults ModelDirectory::generation() const {
  return read_generation_defaults(files_, config_, task());
}

}  // namespace heed::models
