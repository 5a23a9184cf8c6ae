#include "train/checkpoint.h"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "io/json_file.h"
#include "io/safetensors.h"

namespace heed::train {
namespace {

/// Names and shapes of all parameters, in order: says whether a checkpoint is of this model.
std::string layout_of(const nn::ParameterTable& table) {
  std::string text;
  for (int row = 0; row < table.size(); ++row) text += table[row].name + table[row].shape.to_string() + ";";
  return text;
}

nlohmann::ordered_json to_json(const TrainingState& s) {
  return {{"step", s.step},
          {"epoch", s.cursor.epoch},
          {"window", s.cursor.window},
          {"batch", s.cursor.batch},
          {"seconds", s.seconds},
          {"target_tokens", s.target_tokens},
          {"best", s.best},
          {"has_best", s.has_best},
          {"validations_since_best", s.validations_since_best},
          {"snapshots", s.snapshots}};
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
  s.validations_since_best = static_cast<int>(json.integer("validations_since_best", natural));
  s.snapshots = json.integers("snapshots", natural);
  return s;
}

}  // namespace

void write_checkpoint(const std::string& path, const nn::ParameterTable& table,
                      const Checkpoint& checkpoint) {
  std::vector<std::pair<std::string, Tensor>> tensors{{"values", checkpoint.values.flat()},
                                                      {"first_moment", checkpoint.first_moment.flat()},
                                                      {"second_moment", checkpoint.second_moment.flat()}};
  if (checkpoint.average.defined()) tensors.emplace_back("average", checkpoint.average.flat());
  write_safetensors(path, tensors,
                    {{"format", "heed training checkpoint 1"},
                     {"layout", layout_of(table)},
                     {"state", to_json(checkpoint.state).dump()}});
}

std::optional<Checkpoint> read_checkpoint(const std::string& path, const nn::ParameterTable& table) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  const SafetensorsReader reader = SafetensorsReader::open(path);
  const auto entry = [&](const std::string& key) {
    const auto found = reader.metadata().find(key);
    if (found == reader.metadata().end())
      fail(ErrorKind::kFormat, "'{}' is not a checkpoint: it has no '{}'", path, key);
    return found->second;
  };
  if (entry("layout") != layout_of(table)) {
    fail(ErrorKind::kFormat,
         "'{}' is a checkpoint of another model than the recipe asks for; train into another directory",
         path);
  }
  Checkpoint checkpoint;
  checkpoint.state = from_json(JsonObject::parse(entry("state"), path));
  const auto read = [&](const char* name) {
    nn::ParameterArray array(table, DType::kFloat32);
    reader.read_into(name, array.flat().data<float>(), array.flat().shape());
    return array;
  };
  checkpoint.values = read("values");
  checkpoint.first_moment = read("first_moment");
  checkpoint.second_moment = read("second_moment");
  if (reader.has("average")) checkpoint.average = read("average");
  return checkpoint;
}

}  // namespace heed::train
