#include "cli/jobs/resumable/job_manifest.h"

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/check.h"
#include "base/files/file.h"
#include "base/files/fingerprint.h"
#include "base/text/json_file.h"
#include "base/text/printable.h"

namespace heed::cli {
namespace {

constexpr int kVersion = 1;
// What the output was made from, beside "command".
constexpr const char* kObjects[] = {"input", "model", "options", "build"};

uint64_t parse_hexadecimal(const JsonObject& json, const std::string& key) {
  const std::string text = json.string(key);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) json.reject(key, "a hexadecimal number");
  return value;
}

/// Every leaf by its path: "options --beam" -> "6".
void flatten(const nlohmann::ordered_json& json, const std::string& path,
             std::map<std::string, std::string>& leaves) {
  if (!json.is_object()) {
    leaves[path] = json.is_string() ? json.get<std::string>() : json.dump();
    return;
  }
  const std::string before = path.empty() ? "" : path + " ";
  for (const auto& [key, value] : json.items()) flatten(value, std::string(before).append(key), leaves);
}

}  // namespace

std::string manifest_path(const std::string& output) {
  return output + ".manifest.json";
}

JobManifest new_manifest(const nlohmann::ordered_json& job) {
  const auto& input = job.at("input");
  return {.job = job.dump(),
          .part = input.at("part").get<int>(),
          .parts = input.at("parts").get<int>(),
          .lines = input.at("lines").get<uint64_t>()};
}

JobManifest manifest_of(const JsonObject& json) {
  if (json.integer("heed_manifest", {}, 0) != kVersion) {
    json.reject("heed_manifest", fmt::format("{}, as in the manifests of this version", kVersion));
  }
  nlohmann::ordered_json job = {{"command", json.string("command")}};
  for (const char* part : kObjects) job[part] = json.object(part).json();
  const JsonObject input = json.object("input"), output_state = json.object("output");
  const auto parts = input.integer("parts", {.minimum = 1, .maximum = kMaxParts});
  input.integer("part", {.minimum = 1, .maximum = parts});
  const int64_t lines = input.integer("lines", {.minimum = 0});
  // These are only compared and shown, but must have their types.
  (void)input.strings("files");
  (void)json.object("model").strings("directories");
  (void)json.object("model").string("checksum");
  for (const JsonObject& all_texts : {json.object("options"), json.object("build")}) {
    for (const std::string& key : all_texts.keys()) (void)all_texts.string(key);
  }
  JobManifest manifest = new_manifest(job);
  manifest.complete = output_state.boolean("complete");
  const IntegerRange done{manifest.complete ? lines : 0, lines};
  manifest.input_lines = static_cast<uint64_t>(output_state.integer("input_lines", done));
  manifest.bytes = static_cast<uint64_t>(output_state.integer("bytes", {.minimum = 0}));
  manifest.checksum = parse_hexadecimal(output_state, "checksum");
  return manifest;
}

std::optional<JobManifest> read_manifest(const std::string& output) {
  const std::string path = manifest_path(output);
  if (!is_present(path)) return {};
  return manifest_of(JsonObject::read(path));
}

void write_manifest(const std::string& output, const JobManifest& manifest) {
  nlohmann::ordered_json json{{"heed_manifest", kVersion}};
  json.update(nlohmann::ordered_json::parse(manifest.job));
  json["output"] = {{"input_lines", manifest.input_lines},
                    {"bytes", manifest.bytes},
                    {"checksum", hexadecimal(manifest.checksum)},
                    {"complete", manifest.complete}};
  write_json(manifest_path(output), json);
}

std::string difference(const JobManifest& before, const JobManifest& now, bool other_part) {
  const auto leaves_of = [other_part](const JobManifest& manifest) {
    auto job = nlohmann::ordered_json::parse(manifest.job);
    // Names differ between machines; checksums tell whether it is the same.
    job.at("input").erase("files");
    job.at("model").erase("directories");
    if (other_part) {
      for (const char* key : {"part", "lines", "checksum"}) job.at("input").erase(key);
    }
    std::map<std::string, std::string> leaves;
    flatten(job, "", leaves);
    return leaves;
  };
  const std::map<std::string, std::string> old_leaves = leaves_of(before), new_leaves = leaves_of(now);
  std::map<std::string, std::pair<std::string, std::string>> changed;
  for (const auto& [key, value] : old_leaves) {
    const auto found = new_leaves.find(key);
    if (found == new_leaves.end() || found->second != value) {
      changed[key] = {value, found == new_leaves.end() ? "not given" : found->second};
    }
  }
  for (const auto& [key, value] : new_leaves) {
    if (!old_leaves.contains(key)) changed[key] = {"not given", value};
  }
  std::vector<std::string> said;
  for (const auto& [key, values] : changed) {
    said.push_back(fmt::format("{} ({}, now {})", shown(key), shown(values.first), shown(values.second)));
  }
  return fmt::format("{}", fmt::join(said, ", "));
}

}  // namespace heed::cli
