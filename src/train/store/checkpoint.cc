#include "train/store/checkpoint.h"

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/files/fingerprint.h"
#include "base/text/json_file.h"
#include "train/loop/schedule_fit.h"
#include "train/store/checksummed_tensors.h"

namespace heed::train {
namespace {

constexpr const char* kCheckpointFormat = "heed training checkpoint 2";

/// Names and shapes of all parameters, in order, to detect a checkpoint of another model.
std::string layout_of(const nn::ParameterTable& table) {
  std::string text;
  for (int row = 0; row < table.size(); ++row) text += table[row].name + table[row].shape.to_string() + ";";
  return text;
}

uint64_t from_hexadecimal(const JsonObject& json, const std::string& key) {
  const std::string text = json.string(key);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc() || end != text.data() + text.size()) json.reject(key, "a hexadecimal number");
  return number;
}

nlohmann::ordered_json to_json(const TrainingState& s) {
  nlohmann::ordered_json json{{"step", s.step},
                              {"epoch", s.cursor.epoch},
                              {"window", s.cursor.window},
                              {"batch", s.cursor.batch},
                              {"seconds", s.seconds},
                              {"target_tokens", s.target_tokens},
                              {"best", s.best},
                              {"has_best", s.has_best},
                              {"validations_since_best", s.validations_since_best},
                              {"snapshots", s.snapshots},
                              {"text", hexadecimal(s.text)},
                              {"kept_step", s.kept_step},
                              {"kept_weights", hexadecimal(s.kept_weights)},
                              {"batch_tokens", s.batch_tokens},
                              {"fitted_steps", s.fitted_steps},
                              {"finished_step", s.finished_step}};
  if (s.best_loss) json["best_loss"] = *s.best_loss;
  if (s.unvalidated) json["unvalidated"] = to_line(*s.unvalidated);
  return json;
}

TrainingState from_json(const JsonObject& json) {
  const IntegerRange natural{0};
  TrainingState s;
  s.step = json.integer("step", natural);
  s.cursor = {static_cast<uint64_t>(json.integer("epoch", natural)),
              static_cast<uint64_t>(json.integer("window", natural)),
              static_cast<uint64_t>(json.integer("batch", natural))};
  s.seconds = json.number("seconds");
  s.target_tokens = json.integer("target_tokens", natural);
  s.best = json.number("best");
  s.has_best = json.boolean("has_best");
  if (json.has("best_loss")) s.best_loss = json.number("best_loss");
  s.validations_since_best = static_cast<int>(json.integer("validations_since_best", natural));
  s.snapshots = json.integers("snapshots", natural);
  s.text = from_hexadecimal(json, "text");
  s.kept_step = json.integer("kept_step", natural);
  s.kept_weights = from_hexadecimal(json, "kept_weights");
  s.batch_tokens = json.integer("batch_tokens", natural, 0);
  s.fitted_steps = json.integer("fitted_steps", {kNeverFitted}, kNeverFitted);  // earlier versions
  s.finished_step = json.integer("finished_step", {kNotFinished}, kNotFinished);
  if (json.has("unvalidated")) s.unvalidated = metrics_of_line(json.string("unvalidated"), json.origin());
  return s;
}

}  // namespace

std::string to_text(const TrainingState& state) {
  return to_json(state).dump();
}

TrainingState state_from_text(const std::string& text) {
  return from_json(JsonObject::parse(text, "the state of the training"));
}

void write_checkpoint(const std::string& path, const nn::ParameterTable& table,
                      const Checkpoint& checkpoint) {
  ChecksummedTensors content;
  content.format = kCheckpointFormat;
  content.texts = {{"layout", layout_of(table)}, {"state", to_text(checkpoint.state)}};
  content.tensors = {{"values", checkpoint.values.flat()},
                     {"first_moment", checkpoint.first_moment.flat()},
                     {"second_moment", checkpoint.second_moment.flat()}};
  if (checkpoint.average.defined()) content.tensors.emplace_back("average", checkpoint.average.flat());
  write_checksummed(path, content);
}

std::optional<Checkpoint> read_checkpoint(const std::string& path, const nn::ParameterTable& table,
                                          bool needs_average) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  ChecksummedTensors content = read_checksummed(path, kCheckpointFormat);
  if (content.texts["layout"] != layout_of(table)) {
    fail(ErrorKind::kFormat,
         "'{}' is a checkpoint of another model than the recipe asks for; train into another directory",
         path);
  }
  Checkpoint checkpoint;
  checkpoint.state = from_json(JsonObject::parse(content.texts["state"], path));
  const auto take = [&](const char* name, nn::ParameterArray& array) {
    const Shape wanted{table.elements()};
    const Tensor* tensor = content.find(name);
    if (tensor == nullptr) {
      fail(ErrorKind::kFormat, "'{}' has no '{}', which this training needs; train into another directory",
           path, name);
    }
    if (tensor->dtype() != DType::kFloat32 || !(tensor->shape() == wanted)) {
      fail(ErrorKind::kFormat, "'{}': '{}' has the shape {}, {} is needed", path, name,
           tensor->shape().to_string(), wanted.to_string());
    }
    array.flat() = *tensor;
  };
  take("values", checkpoint.values);
  take("first_moment", checkpoint.first_moment);
  take("second_moment", checkpoint.second_moment);
  if (needs_average) take("average", checkpoint.average);
  return checkpoint;
}

uint64_t fingerprint_of(const nn::ParameterArray& values) {
  Fingerprint all;
  all.add(values.flat().bytes(), static_cast<size_t>(values.flat().size()) * size_of(values.flat().dtype()));
  return all.value();
}

}  // namespace heed::train
