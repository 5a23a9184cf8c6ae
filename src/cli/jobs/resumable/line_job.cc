#include "cli/jobs/resumable/line_job.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/files/model_inventory.h"
#include "cli/jobs/resumable/resumable_file.h"
#include "cli/options/command.h"
#include "heed/version.h"
#include "kernels/simd/isa.h"
#include "models/directory/sentence_modules.h"

namespace heed::cli {
namespace {

namespace fs = std::filesystem;

/// "3/8"
std::optional<FilePart> parse_part(const std::string& text) {
  FilePart part;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, part.number);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '/') return {};
  const auto second = std::from_chars(first.ptr + 1, end, part.count);
  if (second.ec != std::errc() || second.ptr != end) return {};
  if (part.number < 1 || part.number > part.count || part.count > kMaxParts) return {};
  return part;
}

/// Options that say where a job runs and what it reads and writes, but do not change its results.
bool is_neutral(const std::string& option) {
  static constexpr std::array kNeutral{"--threads", "--quiet",  "--batch-tokens", "--input", "--output",
                                       "--part",    "--resume", "--model",        "--pair",  "--pairs",
                                       "--source",  "--target", "--reverse"};
  return std::find(kNeutral.begin(), kNeutral.end(), option) != kNeutral.end();
}

std::string file_checksum(const std::string& path) {
  return hexadecimal(checksum_of(path, std::numeric_limits<uint64_t>::max()).value());
}

/// Throws kUsage for a pipe or a device.
void require_regular(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (!fs::exists(status) || fs::is_regular_file(status)) return;
  fail(ErrorKind::kUsage, "--resume needs a regular file as input, which '{}' is not: it is read repeatedly",
       path);
}

/// The options that were given: texts, or lists of texts for those that were repeated. Of a file, such as a
/// glossary, only the content counts, as of the input and the model.
nlohmann::ordered_json options_json(const Command& command) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (GivenOption& option : command.given_options()) {
    if (is_neutral(option.name)) continue;
    if (option.is_file) {
      for (std::string& value : option.values) value = "checksum " + file_checksum(value);
    }
    if (option.values.size() == 1) {
      json[option.name] = option.values[0];
    } else {
      json[option.name] = option.values;
    }
  }
  return json;
}

/// Whether a file in a model's directory is an output that --resume writes, or its manifest, or the part of a
/// manifest that another process is writing. `output`: this job's, which may have no manifest yet.
bool is_of_job(const ModelInventory& files, const std::string& name, const std::string& output) {
  return name.find(manifest_path("")) != name.npos || files.has(manifest_path(name)) ||
         is_input(output, {files.path(name)});
}

/// One checksum for the files of model directories that are read, by name and content. An output may lie
/// beside them.
nlohmann::ordered_json model_json(const std::vector<std::string>& directories, const std::string& output) {
  Fingerprint all;
  for (const std::string& directory : directories) {
    const ModelInventory files(directory);
    for (const std::string& name : models::model_files(files)) {
      const std::string extension = fs::path(name).extension();
      const bool read = extension != ".md" && extension != ".toml" && extension != ".jsonl";
      if (read && !is_of_job(files, name, output))
        all.add(name + ' ' + file_checksum(files.path(name)) + '\n');
    }
  }
  return {{"directories", directories}, {"checksum", hexadecimal(all.value())}};
}

/// A job with this input.
LineOutput resume(const LineJob& job, const std::vector<std::string>& files, const PairsIdentity& identity,
                  const std::string& output) {
  if (is_input(output, files)) {
    fail(ErrorKind::kUsage,
         "--resume: '{}' is both the input and the output, which is written while the input is read", output);
  }
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  json["command"] = job.options.command->name();
  json["input"] = {{"files", files},
                   {"part", job.options.part.number},
                   {"parts", job.options.part.count},
                   {"lines", identity.lines},
                   {"checksum", hexadecimal(identity.fingerprint)}};
  json["model"] = model_json(job.models, output);
  json["options"] = options_json(*job.options.command);
  json["build"] = {{"version", HEED_VERSION}, {"instruction_set", isa_name()}};
  return LineOutput(std::make_unique<ResumableFile>(output, new_manifest(std::move(json), identity.ranges),
                                                    job.outputs_per_line));
}

/// `inputs`: the names of all files, "-" or none for standard input.
void require_files(const LineJob& job, const std::vector<std::string>& inputs, const std::string& output) {
  const bool input_is_file = !inputs.empty() && std::ranges::find(inputs, "-") == inputs.end();
  if (!job.options.part.is_whole() && !input_is_file) {
    fail(ErrorKind::kUsage, "--part takes a part of a file: name the input file");
  }
  if (job.options.resume && (!input_is_file || output.empty() || output == "-")) {
    fail(ErrorKind::kUsage, "--resume needs an input file and --output: both are read again when resuming");
  }
  if (!job.options.resume) return;
  for (const std::string& input : inputs) require_regular(input);
}

}  // namespace

void add_line_job_options(Command& command, LineJobOptions& options) {
  options.command = &command;
  command.group(kLargeFileOptions);
  command
      .add_option("--part I/N", options.part_text,
                  "Process only the I-th of N contiguous parts of the input file; the outputs of all parts, "
                  "concatenated, are the output of the whole")
      ->check([&options](std::string& text) -> std::string {
        const std::optional<FilePart> part = parse_part(text);
        if (!part) return fmt::format("takes a part such as 3/8, not '{}'", text);
        options.part = *part;
        return "";
      });
  command.add_switch(
      "--resume", options.resume,
      "Continue --output behind the lines that an interrupted run of the same command left in it");
}

LineOutput open_output(const LineJob& job, const std::string& input, const std::string& output) {
  require_files(job, input.empty() ? std::vector<std::string>() : std::vector{input}, output);
  if (!job.options.resume) return LineOutput(output);
  LineReader reader(input, {.part = job.options.part});
  const uint64_t lines = reader.count_lines();
  return resume(job, {input}, {lines, reader.fingerprint().value(), {reader.range()}}, output);
}

LineOutput open_output(const LineJob& job, const PairsInput& input, const std::string& output) {
  std::vector<std::string> files;
  for (const std::string& file : {input.pairs, input.source, input.target}) {
    if (!file.empty()) files.push_back(file);
  }
  require_files(job, files, output);
  if (!job.options.resume) return LineOutput(output);
  return resume(job, files, identify_pairs(input), output);
}

}  // namespace heed::cli
