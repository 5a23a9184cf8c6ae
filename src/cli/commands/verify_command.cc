// heed verify: checks output files that were written with --resume against their manifests.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/counted.h"
#include "base/files/file.h"
#include "base/files/input_file.h"
#include "cli/jobs/resumable/job_manifest.h"
#include "cli/jobs/resumable/line_output.h"
#include "cli/jobs/resumable/resumable_file.h"
#include "cli/options/command.h"

namespace heed::cli {
namespace {

struct VerifyOptions {
  std::vector<std::string> files;
  bool json = false, incomplete = false;
};

enum class OutputState { kComplete, kIncomplete, kDamaged, kMissing };

struct VerifiedOutput {
  std::string file;
  OutputState state = OutputState::kComplete;
  std::string message{};  ///< what is wrong
  std::optional<JobManifest> manifest{};
};

std::string name_of(OutputState state) {
  switch (state) {
    case OutputState::kComplete:
      return "complete";
    case OutputState::kIncomplete:
      return "incomplete";
    case OutputState::kDamaged:
      return "damaged";
    default:
      return "missing";
  }
}

/// Throws kFormat and kFile for a manifest or an output that cannot be read.
VerifiedOutput verify_readable(const std::string& file) {
  VerifiedOutput result{.file = file};
  const auto wrong = [&result](OutputState state, std::string message) {
    result.state = state;
    result.message = std::move(message);
    return result;
  };
  result.manifest = read_manifest(file);
  if (!result.manifest) {
    return wrong(OutputState::kMissing, "it has no manifest, which --resume writes");
  }
  const JobManifest& manifest = *result.manifest;
  if (!is_present(file)) return wrong(OutputState::kMissing, "there is only its manifest");
  const InputFile output(file);
  if (output.size() < manifest.bytes) {
    return wrong(OutputState::kDamaged, fmt::format("it has {} bytes, and {} according to its manifest",
                                                    output.size(), manifest.bytes));
  }
  if (checksum_of(file, manifest.bytes).value() != manifest.checksum) {
    return wrong(OutputState::kDamaged, "its checksum differs from the manifest's");
  }
  if (manifest.input_changed) {
    return wrong(OutputState::kDamaged,
                 fmt::format("its input changed while it was written: remove it and '{}' to begin again",
                             manifest_path(file)));
  }
  if (!manifest.complete) {
    return wrong(OutputState::kIncomplete, fmt::format("{} of {}; repeat its command", manifest.input_lines,
                                                       counted(manifest.lines, "line")));
  }
  if (output.size() > manifest.bytes) {
    return wrong(OutputState::kDamaged,
                 fmt::format("{} follow its end", counted(output.size() - manifest.bytes, "byte")));
  }
  return result;
}

VerifiedOutput verify(const std::string& file) {
  try {
    return verify_readable(file);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kFormat && error.kind() != ErrorKind::kFile) throw;
    return {.file = file, .state = OutputState::kDamaged, .message = error.what()};
  }
}

/// Why the parts are not one whole: other settings, parts that occur twice, or that do not adjoin. Empty if
/// they are.
std::vector<std::string> mismatches(const std::vector<VerifiedOutput>& outputs) {
  std::vector<std::string> messages;
  const VerifiedOutput* first = nullptr;
  std::map<int, const VerifiedOutput*> parts;
  for (const VerifiedOutput& output : outputs) {
    if (!output.manifest) continue;
    const JobManifest& manifest = *output.manifest;
    const auto [same, is_new] = parts.emplace(manifest.part, &output);
    if (!is_new) {
      messages.push_back(
          fmt::format("'{}' and '{}' are both part {}", same->second->file, output.file, manifest.part));
    }
    if (first == nullptr) {
      first = &output;
      continue;
    }
    const std::string changed = difference(*first->manifest, manifest, /*other_part=*/true);
    if (!changed.empty()) {
      messages.push_back(
          fmt::format("'{}' and '{}' are from different jobs: {}", first->file, output.file, changed));
    }
  }
  for (const auto& [number, output] : parts) {
    const auto next = parts.find(number + 1);
    if (next == parts.end()) continue;
    const std::string between = gap(*output->manifest, *next->second->manifest);
    if (!between.empty()) {
      messages.push_back(fmt::format("'{}' and '{}' are of different inputs: {}", output->file,
                                     next->second->file, between));
    }
  }
  return messages;
}

/// The parts that no complete file holds.
std::vector<int> parts_to_do(const std::vector<VerifiedOutput>& outputs) {
  int parts = 0;
  std::vector<int> done;
  for (const VerifiedOutput& output : outputs) {
    if (!output.manifest) continue;
    parts = std::max(parts, output.manifest->parts);
    if (output.state == OutputState::kComplete) done.push_back(output.manifest->part);
  }
  std::vector<int> left;
  for (int part = 1; part <= parts; ++part) {
    if (std::find(done.begin(), done.end(), part) == done.end()) left.push_back(part);
  }
  return left;
}

nlohmann::ordered_json to_json(const VerifiedOutput& output) {
  nlohmann::ordered_json json{{"file", output.file}, {"state", name_of(output.state)}};
  if (output.manifest) {
    json["part"] = output.manifest->part;
    json["parts"] = output.manifest->parts;
    json["input_lines"] = output.manifest->input_lines;
    json["lines"] = output.manifest->lines;
  }
  if (!output.message.empty()) json["message"] = output.message;
  return json;
}

std::string to_text(const VerifiedOutput& output) {
  std::string text = output.file + ": ";
  if (output.manifest) {
    text += fmt::format("part {} of {}, ", output.manifest->part, output.manifest->parts);
  }
  text += name_of(output.state);
  if (!output.message.empty()) return text + ": " + output.message;
  return text + fmt::format(", {}", counted(output.manifest->lines, "line"));
}

int run_verify(const VerifyOptions& o) {
  std::vector<VerifiedOutput> outputs;
  for (const std::string& file : o.files) {
    outputs.push_back(verify(file));
    stop_on_interrupt().check();
  }
  const std::vector<std::string> wrong = mismatches(outputs);
  const std::vector<int> left = parts_to_do(outputs);
  const bool all = std::all_of(outputs.begin(), outputs.end(), [](const VerifiedOutput& output) {
    return output.state == OutputState::kComplete;
  });
  LineOutput output("-");
  if (o.json) {
    nlohmann::ordered_json json{{"complete", all && wrong.empty() && left.empty()},
                                {"incomplete_parts", left}};
    for (const VerifiedOutput& each : outputs) json["files"].push_back(to_json(each));
    json["mismatches"] = wrong;
    output.write_line(json.dump());
  } else if (o.incomplete) {
    output.write_line(fmt::format("{}", fmt::join(left, ",")));
  } else {
    for (const VerifiedOutput& each : outputs) output.write_line(to_text(each));
    for (const std::string& message : wrong) output.write_line(message);
    if (!left.empty()) {
      output.write_line(fmt::format("not complete: part {}", fmt::join(left, ", ")));
    }
  }
  output.commit();
  return all && wrong.empty() && left.empty() ? kExitDone : kExitFailed;
}

}  // namespace

void add_verify(Command& app, Work& work) {
  auto [command, o] =
      add_command(app, work, "verify", "Check outputs written with --resume, and their parts", run_verify);
  command->footer(R"(Examples:
  heed verify out/part-*.txt && cat out/part-*.txt > out.txt
  sbatch --array=$(heed verify --incomplete out/part-*.txt) job.sh

Compares each file with its manifest (length, checksum, lines), and the manifests with each other: the parts
must be of the same input, by the same model, options and build, and none may be missing. The exit status is
0 if everything is complete, else 1.)");
  command->add_option("FILE", o->files, "Output files")->take_all()->required();
  Option* json =
      command->add_switch("--json", o->json, "One JSON object: files with their states, parts to do");
  command
      ->add_switch("--incomplete", o->incomplete,
                   "Print only the numbers of the parts that are not complete, separated by commas")
      ->excludes(json);
}

}  // namespace heed::cli
