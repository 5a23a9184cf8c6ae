// The manifest of an output file that is written in blocks: what it was made from and how much of it is
// complete. It lies beside the output as NAME.manifest.json and is replaced after every block, so that after
// a kill or a power failure everything before the manifest's end is known to be complete.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/text/json_file.h"
#include "data/corpus/readers/line_reader.h"

namespace heed::cli {

constexpr int kMaxParts = 1'000'000;

struct JobManifest {
  /// What the output depends on: JSON with "command", "input", "model", "options" and "build".
  std::string job;
  int part = 1, parts = 1;                   ///< of the input
  uint64_t lines = 0;                        ///< of the part of the input
  std::string input_name, input_checksum;    ///< the quoted files, and the checksum of the part
  std::vector<FileRange> input_ranges = {};  ///< the part of each file; none in manifests of 1.0 and 1.1
  uint64_t input_lines = 0;                  ///< done
  uint64_t bytes = 0;                        ///< of the output
  uint64_t checksum = 0;                     ///< XXH64 of these bytes
  bool complete = false;
  bool input_changed = false;  ///< while the output was written, which cannot be continued
};

/// The manifest of an output that is not begun. `job` as above, with "files", "part", "parts", "lines" and
/// "checksum" in "input".
JobManifest new_manifest(nlohmann::ordered_json job, const std::vector<FileRange>& input_ranges);

/// "out.txt.manifest.json"
std::string manifest_path(const std::string& output);
/// Throws kFormat for JSON that is no manifest.
JobManifest manifest_of(const JsonObject& json);
/// None if there is no such file. Throws kFormat for another file than a manifest.
std::optional<JobManifest> read_manifest(const std::string& output);
/// Replaces the manifest atomically.
void write_manifest(const std::string& output, const JobManifest& manifest);

/// What differs between the jobs of two manifests, for messages: "options --beam (4, now 6)"; "" if nothing
/// does. `other_part`: the part of the input may differ.
std::string difference(const JobManifest& before, const JobManifest& now, bool other_part = false);

/// Why `next`, the next part, does not begin where `part` ends, for messages; "" if it does.
std::string gap(const JobManifest& part, const JobManifest& next);

}  // namespace heed::cli
