#include "models/alignment_heads.h"

#include <nlohmann/json.hpp>

namespace heed::models {
namespace {

constexpr const char* kKey = "alignment_heads";
constexpr int64_t kMost = 1000;  // layers, and heads of a layer

}  // namespace

std::vector<AlignmentHead> alignment_heads_of(const JsonObject& file) {
  std::vector<AlignmentHead> heads;
  if (!file.has(kKey)) return heads;
  const auto& list = file.json().at(kKey);
  const char* needed = "a list of [layer, head], both counted from 0";
  if (!list.is_array()) file.reject(kKey, needed);
  for (const auto& pair : list) {
    const bool integers =
        pair.is_array() && pair.size() == 2 && pair[0].is_number_integer() && pair[1].is_number_integer();
    if (!integers) file.reject(kKey, needed);
    const auto layer = pair[0].get<int64_t>(), head = pair[1].get<int64_t>();
    if (layer < 0 || layer > kMost || head < 0 || head > kMost) file.reject(kKey, needed);
    heads.push_back({static_cast<int>(layer), static_cast<int>(head)});
  }
  return heads;
}

void write_alignment_heads(const std::string& directory, const std::vector<AlignmentHead>& heads) {
  const std::string path = directory + "/" + model_file::kGenerationConfig;
  nlohmann::json json = JsonObject::read(path).json();
  json.erase(kKey);
  for (const auto& [layer, head] : heads) json[kKey].push_back({layer, head});
  write_json(path, json);
}

}  // namespace heed::models
