#include "cli/jobs/resumable/job_manifest.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/files/file.h"
#include "base/files/fingerprint.h"
#include "base/text/json_file.h"
#include "base/text/printable.h"

namespace heed::cli {
namespace {

/// Version 1, of Heed 1.0 and 1.1, had no ranges of the input, and joined the values of a repeated option.
constexpr int kVersion = 2;
// What the output was made from, beside "command".
constexpr const char* kObjects[] = {"input", "model", "options", "build"};
// Of the input, numbers for each file.
constexpr const char* kRanges[] = {"sizes", "begins", "ends"};

uint64_t parse_hexadecimal(const JsonObject& json, const std::string& key) {
  const std::string text = json.string(key);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) json.reject(key, "a hexadecimal number");
  return value;
}

using Leaves = std::map<std::string, nlohmann::ordered_json>;

/// Every leaf by its path: "options --beam" -> "6".
void flatten(const nlohmann::ordered_json& json, const std::string& path, Leaves& leaves) {
  if (!json.is_object()) {
    leaves[path] = json;
    return;
  }
  const std::string before = path.empty() ? "" : path + " ";
  for (const auto& [key, value] : json.items()) flatten(value, std::string(before).append(key), leaves);
}

std::string shown_leaf(const Leaves& leaves, const std::string& path) {
  const auto found = leaves.find(path);
  if (found == leaves.end()) return "not given";
  return shown(found->second.is_string() ? found->second.get<std::string>() : found->second.dump());
}

std::vector<FileRange> ranges_of(const JsonObject& input) {
  const auto numbers = [&input](const std::string& key) { return input.integers(key, {.minimum = 0}); };
  const std::vector<int64_t> sizes = numbers("sizes"), begins = numbers("begins"), ends = numbers("ends");
  if (sizes.empty() || begins.size() != sizes.size() || ends.size() != sizes.size()) {
    input.reject("sizes", "a number for each file, as in 'begins' and 'ends'");
  }
  std::vector<FileRange> ranges;
  for (size_t file = 0; file < sizes.size(); ++file) {
    ranges.push_back({static_cast<uint64_t>(sizes[file]), static_cast<uint64_t>(begins[file]),
                      static_cast<uint64_t>(ends[file])});
  }
  return ranges;
}

}  // namespace

std::string manifest_path(const std::string& output) {
  return output + ".manifest.json";
}

JobManifest new_manifest(nlohmann::ordered_json job, const std::vector<FileRange>& input_ranges) {
  auto& input = job.at("input");
  for (const char* key : kRanges) input.erase(key);
  for (const FileRange& range : input_ranges) {
    input["sizes"].push_back(range.size);
    input["begins"].push_back(range.begin);
    input["ends"].push_back(range.end);
  }
  std::vector<std::string> names;
  for (const auto& file : input.at("files")) names.push_back(fmt::format("'{}'", file.get<std::string>()));
  return {.job = job.dump(),
          .part = input.at("part").get<int>(),
          .parts = input.at("parts").get<int>(),
          .lines = input.at("lines").get<uint64_t>(),
          .input_name = fmt::format("{}", fmt::join(names, " and ")),
          .input_checksum = input.at("checksum").get<std::string>(),
          .input_ranges = input_ranges};
}

JobManifest manifest_of(const JsonObject& json) {
  const int64_t version = json.integer("heed_manifest", {}, 0);
  if (version < 1 || version > kVersion) {
    json.reject("heed_manifest",
                fmt::format("at most {}, as in the manifests that this version reads", kVersion));
  }
  nlohmann::ordered_json job = {{"command", json.string("command")}};
  for (const char* part : kObjects) job[part] = json.object(part).json();
  const JsonObject input = json.object("input"), output_state = json.object("output");
  const auto parts = input.integer("parts", {.minimum = 1, .maximum = kMaxParts});
  input.integer("part", {.minimum = 1, .maximum = parts});
  const int64_t lines = input.integer("lines", {.minimum = 0});
  // These are only compared and shown, but must have their types.
  (void)input.strings("files");
  (void)input.string("checksum");
  (void)json.object("model").strings("directories");
  (void)json.object("model").string("checksum");
  const JsonObject options = json.object("options"), build = json.object("build");
  for (const std::string& key : options.keys()) (void)options.strings(key);
  for (const std::string& key : build.keys()) (void)build.string(key);
  JobManifest manifest =
      new_manifest(std::move(job), version == 1 ? std::vector<FileRange>() : ranges_of(input));
  manifest.complete = output_state.boolean("complete");
  manifest.input_changed = output_state.boolean("input_changed", false);
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
  if (manifest.input_changed) json["output"]["input_changed"] = true;
  write_json(manifest_path(output), json);
}

std::string difference(const JobManifest& before, const JobManifest& now, bool other_part) {
  const bool have_ranges = !before.input_ranges.empty() && !now.input_ranges.empty();
  const auto leaves_of = [=](const JobManifest& manifest) {
    auto job = nlohmann::ordered_json::parse(manifest.job);
    // Names differ between machines; checksums tell whether it is the same.
    job.at("input").erase("files");
    job.at("model").erase("directories");
    if (other_part) {
      for (const char* key : {"part", "lines", "checksum", "begins", "ends"}) job.at("input").erase(key);
    }
    if (!have_ranges) {
      for (const char* key : kRanges) job.at("input").erase(key);
    }
    Leaves leaves;
    flatten(job, "", leaves);
    return leaves;
  };
  const Leaves old_leaves = leaves_of(before), new_leaves = leaves_of(now);
  std::set<std::string> changed;
  for (const auto& [path, value] : old_leaves) {
    const auto found = new_leaves.find(path);
    if (found == new_leaves.end() || found->second != value) changed.insert(path);
  }
  for (const auto& [path, value] : new_leaves) {
    if (!old_leaves.contains(path)) changed.insert(path);
  }
  std::vector<std::string> said;
  for (const std::string& path : changed) {
    said.push_back(fmt::format("{} ({}, now {})", shown(path), shown_leaf(old_leaves, path),
                               shown_leaf(new_leaves, path)));
  }
  return fmt::format("{}", fmt::join(said, ", "));
}

std::string gap(const JobManifest& part, const JobManifest& next) {
  for (size_t file = 0; file < std::min(part.input_ranges.size(), next.input_ranges.size()); ++file) {
    const uint64_t end = part.input_ranges[file].end, begin = next.input_ranges[file].begin;
    if (begin == end) continue;
    return fmt::format("part {} ends at byte {}, and part {} begins at byte {}", part.part, end, next.part,
                       begin);
  }
  return "";
}

}  // namespace heed::cli
