// --part, --resume and heed verify: large files in parts, continued after kills.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/files/file.h"
#include "base/files/fingerprint.h"
#include "cli/jobs/resumable/line_job.h"
#include "cli/jobs/sentence_pairs.h"
#include "cli/jobs/source_lines.h"
#include "data/corpus/readers/compression.h"
#include "data/corpus/readers/line_reader.h"
#include "tiny_model.h"

namespace heed {
namespace {

using Arguments = std::vector<std::string>;

class LineJobTest : public ::testing::Test {
 protected:
  void SetUp() override {
    model_ = tiny_model();
    std::string lines, pairs;
    for (const SentencePair& pair : tiny_pairs(3000, 11)) {
      lines += pair.source + "\n";
      pairs += pair.source + "\t" + pair.target + "\n";
      if (lines.size() % 7 == 0) {  // a blank line now and then
        lines += "\n";
        pairs += "\n";
      }
    }
    input_ = folder_.write("input", lines);
    pairs_ = folder_.write("pairs.tsv", pairs);
  }

  CommandResult run(Arguments arguments) const {
    arguments.insert(arguments.begin() + 1, {"--model", model_});
    return heed_command(arguments);
  }
  std::string output_of(const Arguments& arguments) const {
    const CommandResult result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  }
  Arguments translate(const std::string& output, const Arguments& more = {}) const {
    Arguments arguments{"translate", "--input", input_, "--beam", "1", "--output", output};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  /// The output of a command with --resume, which is begun in this process.
  template <typename Input>
  cli::LineOutput opened(const std::string& command, const Input& input, const std::string& output) const {
    cli::CommandLine line("heed", "", "");
    cli::LineJobOptions options;
    cli::add_line_job_options(*line.add_subcommand(command, ""), options);
    options.resume = true;
    return cli::open_output({.options = options, .models = {model_}}, input, output);
  }
  void change_manifest(const std::string& output,
                       const std::function<void(nlohmann::ordered_json& json)>& change) const {
    auto json = nlohmann::ordered_json::parse(read_file(folder_.path(output + ".manifest.json")));
    change(json);
    folder_.write(output + ".manifest.json", json.dump());
  }
  void remove_output(const std::string& output) const {
    std::filesystem::remove(folder_.path(output));
    std::filesystem::remove(folder_.path(output + ".manifest.json"));
  }

  TestFolder folder_;
  std::string model_, input_, pairs_;
};

/// Writes the lines that are left, as they are.
void copy(cli::SourceLines& lines, cli::LineOutput& output) {
  for (std::string line; lines.next(line);) {
    output.write_line(line);
    output.end_input_line();
  }
  output.commit(lines.fingerprint());
}

std::string decompressed(const std::string& path) {
  LineReader reader(path);
  std::string text;
  for (std::string_view line; reader.next(line);) text += std::string(line) + "\n";
  return text;
}

/// Input lines that the manifest of an output counts.
uint64_t lines_done(const std::string& output) {
  const std::string path = output + ".manifest.json";
  if (!std::filesystem::exists(path)) return 0;
  return nlohmann::json::parse(read_file(path))["output"]["input_lines"];
}

TEST_F(LineJobTest, TotalsOfAPartWithoutPairs) {
  const std::string one = folder_.write("one.tsv", "Ein Haus.\tA house.\n");
  const Arguments nothing{"score", "--pairs", one, "--part", "2/2", "--summary"};
  EXPECT_EQ(output_of(nothing), "0 pairs: nothing to score\n");
  Arguments as_json = nothing;
  as_json.push_back("--json");
  const auto totals = nlohmann::json::parse(output_of(as_json));
  EXPECT_EQ(totals["pairs"], 0);
  EXPECT_TRUE(totals["perplexity"].is_null());
}

TEST_F(LineJobTest, PartsOfEveryCommandAreTheWhole) {
  const std::vector<Arguments> commands{{"translate", "--input", input_, "--beam", "1", "--nbest", "1"},
                                        {"translate", "--input", input_, "--sample", "--seed", "3"},
                                        {"score", "--pairs", pairs_},
                                        {"align", "--pairs", pairs_}};
  for (const Arguments& command : commands) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(command, " ")));
    std::string together;
    for (int part = 1; part <= 3; ++part) {
      Arguments arguments = command;
      arguments.insert(arguments.end(), {"--part", fmt::format("{}/3", part)});
      together += output_of(arguments);
    }
    EXPECT_TRUE(together == output_of(command));
  }
}

TEST_F(LineJobTest, KilledRunsGiveTheSameBytes) {
  for (const std::string extension : {"", ".gz", ".zst"}) {
    SCOPED_TRACE(extension);
    const std::string whole = folder_.path("whole" + extension),
                      resumed = folder_.path("resumed" + extension);
    ASSERT_EQ(run(translate(whole, {"--resume"})).status, 0);
    int killed = 0;
    for (uint64_t done = 0; done < lines_done(whole);) {
      Command command(translate(resumed, {"--resume", "--threads", "1", "--model", model_}), {});
      int status = -1;
      while ((status = command.poll()) == -1 && lines_done(resumed) == done) ::usleep(1000);
      if (status == 0) break;
      command.send_signal(SIGKILL);
      const int end = command.wait().status;
      if (end == 0) break;  // it was faster
      ASSERT_EQ(end, 128 + SIGKILL);
      done = lines_done(resumed);
      ++killed;
      if (done == lines_done(whole)) break;
      std::FILE* file = std::fopen(resumed.c_str(), "ab");  // a block that was not finished
      std::fputs("torn", file);
      std::fclose(file);
    }
    EXPECT_GT(killed, 0);
    EXPECT_EQ(run(translate(resumed, {"--resume"})).status, 0);
    EXPECT_TRUE(read_file(resumed) == read_file(whole));
    EXPECT_TRUE(decompressed(whole) == output_of({"translate", "--input", input_, "--beam", "1"}));
  }
}

TEST_F(LineJobTest, AFileWithoutManifestIsContinued) {
  const std::string whole = output_of({"translate", "--input", input_, "--beam", "1"});
  size_t end = 0;
  for (int line = 0; line < 500; ++line) end = whole.find('\n', end) + 1;
  const std::string output = folder_.write("output", whole.substr(0, end) + "torn");
  const CommandResult result = run(translate(output, {"--resume"}));
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.err.find("first 500 lines, which are not checked"), std::string::npos) << result.err;
  EXPECT_TRUE(read_file(output) == whole);
  const CommandResult quiet = run(translate(folder_.write("quiet", whole), {"--resume", "--quiet"}));
  EXPECT_EQ(quiet.status, 0);
  EXPECT_EQ(quiet.err, "");
  const std::string longer = folder_.write("longer", whole + whole);
  expect_failure(run(translate(longer, {"--resume"})), 2, {"'" + longer + "' has more lines than the input"});
  EXPECT_TRUE(read_file(longer) == whole + whole);
}

// A run that was killed behind the last block, or before blank lines.
TEST_F(LineJobTest, ContinuesWhereNoPairsAreLeft) {
  std::string pairs;
  for (const SentencePair& pair : tiny_pairs(1024, 11)) pairs += pair.source + "\t" + pair.target + "\n";
  for (const std::string blank : {"", "\n\n\n\n\n\n"}) {
    const std::string file = folder_.write("file.tsv", pairs + blank), output = folder_.path("aligned");
    const Arguments align{"align", "--pairs", file, "--output", output, "--resume"};
    ASSERT_EQ(run(align).status, 0);
    const std::string whole = read_file(output);
    const std::string first_block = whole.substr(0, whole.size() - blank.size());
    Fingerprint fingerprint;
    fingerprint.add(first_block);
    change_manifest("aligned", [&](nlohmann::ordered_json& json) {
      json["output"] = {{"input_lines", 1024},
                        {"bytes", first_block.size()},
                        {"checksum", hexadecimal(fingerprint.value())},
                        {"complete", false}};
    });
    const CommandResult result = run(align);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_TRUE(read_file(output) == whole);
    EXPECT_EQ(heed_command({"verify", output}).status, 0);
    remove_output("aligned");
  }
}

// Without a manifest, a compressed file could not be continued, and other text would be continued unchecked.
TEST_F(LineJobTest, AKillInTheFirstBlockIsRecovered) {
  const std::string input = folder_.write("short", "Der alte Hund sieht den Baum.\n\n");
  for (const std::string name : {"first", "first.gz"}) {
    const std::string output = folder_.path(name);
    const Arguments arguments{"translate", "--input", input, "--output", output, "--resume"},
        other{"translate", "--input", input, "--output", output, "--resume", "--beam", "2"};
    (void)opened("translate", input, output);
    EXPECT_EQ(heed_command({"verify", output}).out,
              output + ": part 1 of 1, incomplete: 0 of 2 lines; repeat its command\nnot complete: part 1\n");
    folder_.write(name, "torn\nby a kill");
    expect_failure(run(other), 2, {"was begun by another job"});
    const CommandResult result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(decompressed(output), output_of({"translate", "--input", input}));
    EXPECT_EQ(heed_command({"verify", output}).status, 0);
    remove_output(name);
    // Where nothing was written, any job may begin.
    (void)opened("translate", input, output);
    EXPECT_EQ(run(other).status, 0);
    remove_output(name);
  }
}

// What grows, shrinks or is written anew after its lines were counted, and before they are read.
TEST_F(LineJobTest, InputThatChangesWhileItIsUsedIsAnError) {
  const std::string text = "eins\nzwei\ndrei\n", longer = text + std::string(3000, '\n'),
                    output = folder_.path("out");
  for (const std::string& changed : {longer, std::string("eins\nZWEI\ndrei\n"), std::string("eins\n")}) {
    const std::string input = folder_.write("changing", text);
    cli::LineOutput written = opened("translate", input, output);
    folder_.write("changing", changed);
    cli::SourceLines lines({}, input, {});
    expect_error(ErrorKind::kFile,
                 fmt::format("'{}' has changed while it was used: remove '{}'", input, output),
                 [&] { copy(lines, written); });
    written = cli::LineOutput("");  // closes the file
    EXPECT_EQ(heed_command({"verify", output}).status, 1);
    // The content of the blocks is unknown even where the input is what it was.
    folder_.write("changing", text);
    if (std::filesystem::file_size(output) > 0) {
      EXPECT_NE(heed_command({"verify", output}).out.find("damaged: its input changed while it was written"),
                std::string::npos);
      expect_error(ErrorKind::kFile, "'" + output + "' cannot be continued: its input changed",
                   [&] { (void)opened("translate", input, output); });
      remove_output("out");
    }
    written = opened("translate", input, output);
    cli::SourceLines same({}, input, {});
    copy(same, written);
    EXPECT_TRUE(written.complete());
    written = cli::LineOutput("");
    EXPECT_EQ(heed_command({"verify", output}).status, 0);
    remove_output("out");
  }
}

TEST_F(LineJobTest, PairsThatChangeWhileTheyAreUsedAreAnError) {
  const std::string source = folder_.write("source", "eins\nzwei\n"),
                    target = folder_.write("target", "one\ntwo\n"), output = folder_.path("out");
  const PairsInput input{.source = source, .target = target};
  for (const std::string changed : {"one\n2\n", "one\ntwo\n"}) {
    cli::LineOutput written = opened("align", input, output);
    folder_.write("target", changed);
    cli::GivenPairs pairs({}, input, {});
    const auto write = [&] {
      for (cli::NumberedPairs block; pairs.next(1, block);) {
        cli::write_for_each_line(block, std::vector<std::string>(block.pairs.size()), written);
      }
      written.commit(pairs.fingerprint());
    };
    if (changed == "one\ntwo\n") {
      write();
    } else {
      expect_error(ErrorKind::kFile,
                   fmt::format("'{}' and '{}' has changed while it was used", source, target), write);
      folder_.write("target", "one\ntwo\n");
    }
    remove_output("out");
  }
}

TEST_F(LineJobTest, TheInputIsNotContinued) {
  const std::string input = read_file(input_);
  expect_failure(run(translate(input_, {"--resume"})), 2,
                 {"'" + input_ + "' is both the input and the output"});
  EXPECT_EQ(read_file(input_), input);
}

// Counting the lines of a pipe would leave nothing to translate.
TEST_F(LineJobTest, InputsThatAreReadOnlyOnceAreRefused) {
  const std::string pipe = folder_.path("pipe"), output = folder_.path("out");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int both_ends = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(both_ends, 0);
  for (const std::string& other : {pipe, std::string("/dev/null")}) {
    for (const Arguments& inputs : std::vector<Arguments>{{"translate", "--input", other},
                                                          {"score", "--pairs", other},
                                                          {"align", other},
                                                          {"align", "--source", input_, "--target", other},
                                                          {"score", "--source", other, "--target", input_}}) {
      Arguments arguments = inputs;
      arguments.insert(arguments.end(), {"--resume", "--output", output});
      expect_failure(run(arguments), 2,
                     {"--resume needs a regular file as input, which '" + other + "' is not"});
      EXPECT_FALSE(std::filesystem::exists(output));
    }
  }
  ::close(both_ends);
}

TEST_F(LineJobTest, RepeatedOptionsAndGlossariesAreCompared) {
  const std::string output = folder_.path("output"),
                    text = folder_.write("text", "Der alte Mann sieht den Hund.\n"),
                    glossary = folder_.write("glossary", "Hund\tdog\n");
  const auto with = [&](const Arguments& more) {
    Arguments arguments{"translate", "--input", text, "--output", output, "--resume"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  };
  ASSERT_EQ(with({"--require", "old man"}).status, 0);
  EXPECT_EQ(with({"--require", "old man"}).status, 0);
  expect_failure(with({"--require", "old", "--require", "man"}), 2,
                 {R"(options --require (old man, now ["old","man"]))"});
  remove_output("output");
  ASSERT_EQ(with({"--require", "old", "--require", "man", "--glossary", glossary}).status, 0);
  const std::string moved = folder_.write("moved", "Hund\tdog\n");
  const CommandResult result = with({"--require", "old", "--require", "man", "--glossary", moved});
  EXPECT_EQ(result.status, 0) << result.err;
  folder_.write("moved", "Hund\tbird\n");
  expect_failure(with({"--require", "old", "--require", "man", "--glossary", moved}), 2,
                 {"options --glossary (checksum "});
  expect_failure(with({"--require", "old", "--glossary", glossary}), 2,
                 {R"(options --require (["old","man"], now old))"});
}

// Those have no sizes of the input.
TEST_F(LineJobTest, ManifestsOfVersion1AreRead) {
  const auto as_version_1 = [](nlohmann::ordered_json& json) {
    json["heed_manifest"] = 1;
    for (const char* key : {"sizes", "begins", "ends"}) json["input"].erase(key);
  };
  const std::string first = folder_.path("first"), second = folder_.path("second");
  ASSERT_EQ(run(translate(first, {"--resume", "--part", "1/2"})).status, 0);
  ASSERT_EQ(run(translate(second, {"--resume", "--part", "2/2"})).status, 0);
  change_manifest("first", as_version_1);
  EXPECT_EQ(heed_command({"verify", first, second}).status, 0);
  EXPECT_EQ(run(translate(first, {"--resume", "--part", "1/2"})).status, 0);
  change_manifest("second", as_version_1);
  EXPECT_EQ(heed_command({"verify", first, second}).status, 0);
  change_manifest("second", [](nlohmann::ordered_json& json) { json["heed_manifest"] = 2; });
  const auto expect_damaged = [&](const std::string& because) {
    const CommandResult result = heed_command({"verify", first, second});
    EXPECT_EQ(result.status, 1);
    EXPECT_NE(result.out.find(second + ": damaged: "), std::string::npos) << result.out;
    EXPECT_NE(result.out.find(because), std::string::npos) << result.out;
  };
  expect_damaged("'input.sizes' is missing");
  change_manifest("second", [](nlohmann::ordered_json& json) {
    json["input"]["sizes"] = {10};
    json["input"]["begins"] = {5};
    json["input"]["ends"] = {10, 20};
  });
  expect_damaged("'input.sizes' is a list of 1, expected a number for each");
  change_manifest("second", [](nlohmann::ordered_json& json) { json["heed_manifest"] = 3; });
  expect_damaged("'heed_manifest' is 3, expected at most 2");
}

TEST_F(LineJobTest, OnlyTheSameJobContinues) {
  const std::string output = folder_.path("output");
  ASSERT_EQ(run(translate(output, {"--resume"})).status, 0);
  const std::string content = read_file(output);
  expect_failure(run(translate(output, {"--resume", "--beam", "4"})), 2,
                 {"was begun by another job", "options --beam (1, now 4)"});
  expect_failure(run(translate(output, {"--resume", "--part", "1/2"})), 2, {"input parts (1, now 2)"});
  if (!other_isa().empty()) {
    expect_failure(heed_command(translate(output, {"--resume", "--model", model_}),
                                {.environment = {"HEED_ISA=" + other_isa()}}),
                   2, {"build instruction_set ("});
  }
  folder_.write("input", read_file(input_) + "Der alte Hund.\n");
  expect_failure(run(translate(output, {"--resume"})), 2, {"input checksum"});
  folder_.write("input", read_file(input_).substr(0, read_file(input_).size() - 15));
  EXPECT_EQ(run(translate(output, {"--resume", "--threads", "1", "--batch-tokens", "64"})).status, 0);
  folder_.write("output", content.substr(0, content.size() - 1));
  expect_failure(run(translate(output, {"--resume"})), 1, {"is not what its manifest says"});
  folder_.write("output", content + "x");
  expect_failure(run(translate(output, {"--resume"})), 1, {"is not what its manifest says"});
}

TEST_F(LineJobTest, ValuesOfOtherTypesInAManifestAreErrors) {
  const std::string output = folder_.path("output"), manifest = output + ".manifest.json";
  ASSERT_EQ(run(translate(output, {"--resume"})).status, 0);
  const nlohmann::ordered_json whole = nlohmann::ordered_json::parse(read_file(manifest));
  for (const std::string key : {"command", "input", "model", "options", "build", "output"}) {
    for (const nlohmann::ordered_json& value : {nlohmann::ordered_json(), nlohmann::ordered_json(3)}) {
      nlohmann::ordered_json changed = whole;
      changed[key] = value;
      folder_.write("output.manifest.json", changed.dump());
      expect_failure(run(translate(output, {"--resume"})), 1, {"output.manifest.json", "'" + key + "'"});
    }
  }
  struct Inner {
    const char *section, *key;
    nlohmann::ordered_json value;
  };
  for (const Inner& inner :
       {Inner{"input", "files", 2}, Inner{"model", "directories", 3}, Inner{"model", "checksum", nullptr},
        Inner{"options", "--beam", 7}, Inner{"build", "version", 1}, Inner{"output", "input_lines", 1},
        Inner{"output", "input_lines", 1'000'000}}) {
    nlohmann::ordered_json changed = whole;
    changed[inner.section][inner.key] = inner.value;
    folder_.write("output.manifest.json", changed.dump());
    const CommandResult result = heed_command({"verify", output});
    EXPECT_EQ(result.status, 1);
    for (const std::string part : {"damaged: ", "output.manifest.json", inner.key}) {
      EXPECT_NE(result.out.find(part), std::string::npos) << result.out;
    }
  }
}

// On another machine, input and model may lie elsewhere.
TEST_F(LineJobTest, NamesOfTheInputAndTheModelDoNotMatter) {
  const std::string input = folder_.path("renamed"), model = folder_.path("moved");
  std::filesystem::copy_file(input_, input);
  std::filesystem::copy(model_, model, std::filesystem::copy_options::recursive);
  const auto part = [&](const std::string& directory, const std::string& file, const std::string& number) {
    return heed_command({"translate", "--model", directory, "--input", file, "--beam", "1", "--part",
                         number + "/2", "--output", folder_.path("part" + number), "--resume"});
  };
  ASSERT_EQ(part(model_, input_, "1").status, 0);
  ASSERT_EQ(part(model, input, "2").status, 0);
  EXPECT_EQ(heed_command({"verify", folder_.path("part1"), folder_.path("part2")}).status, 0);
  EXPECT_EQ(part(model, input, "1").status, 0);  // again: it is complete
  write_file(model + "/extra.json", "{}");
  expect_failure(part(model, input, "1"), 2, {"model checksum"});
}

// They are no part of the model, whatever is written of them so far.
TEST_F(LineJobTest, OutputsInTheModelsFolder) {
  const std::string model = folder_.path("model"), first = model + "/first.txt",
                    second = model + "/second.txt";
  std::filesystem::copy(model_, model, std::filesystem::copy_options::recursive);
  const auto part = [&](const std::string& number, const std::string& output, const std::string& directory) {
    return heed_command({"translate", "--model", directory, "--input", input_, "--beam", "1", "--part",
                         number + "/2", "--output", output, "--resume"});
  };
  ASSERT_EQ(part("1", first, model).status, 0);
  ASSERT_EQ(part("2", second, model).status, 0);
  EXPECT_EQ(heed_command({"verify", first, second}).status, 0);
  for (const std::string& directory : {model, model_}) {
    const CommandResult again = part("1", first, directory);
    EXPECT_EQ(again.status, 0) << again.err;
  }
  // Without its manifest, an output is known by its name only.
  std::filesystem::remove(second + ".manifest.json");
  ASSERT_EQ(part("2", second, model).status, 0);
  EXPECT_EQ(part("2", second, model).status, 0);
  EXPECT_EQ(heed_command({"verify", first, second}).status, 0);
}

TEST_F(LineJobTest, AFileNamedLikeStandardInputIsNotRead) {
  const std::string input = folder_.write("-", "eins\nzwei\n");
  const auto before = std::filesystem::current_path();
  const int kept = ::dup(STDIN_FILENO), file = ::open(input.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  ::dup2(file, STDIN_FILENO);
  std::filesystem::current_path(folder_.path());
  cli::SourceLines lines({}, "", {});
  EXPECT_EQ(lines.count(), 0u);
  EXPECT_EQ(lines.bytes(), 0u);
  std::string line;
  EXPECT_TRUE(lines.next(line));
  EXPECT_EQ(line, "eins");
  std::filesystem::current_path(before);
  if (kept >= 0) {
    ::dup2(kept, STDIN_FILENO);
    ::close(kept);
  } else {
    ::close(STDIN_FILENO);
  }
  ::close(file);
}

TEST_F(LineJobTest, WarningsInAPartNameTheLineOfTheFile) {
  std::string text;
  for (int line = 0; line < 60; ++line) text += "Der alte Hund.\n";
  const std::string input = folder_.write("numbers", text + "Der alte Hund sieht den Mann im Garten 17.\n");
  const auto warnings = [&](const Arguments& more) {
    Arguments arguments{"translate", "--input", input, "--max-length", "2"};  // no room for the number
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments).err;
  };
  for (const Arguments& more : {Arguments{}, Arguments{"--part", "3/3"}}) {
    EXPECT_NE(warnings(more).find("warning: line 61: "), std::string::npos) << warnings(more);
  }
}

TEST_F(LineJobTest, APartIsFoundWithoutReadingWhatIsBeforeIt) {
  constexpr uint64_t kBytes = 64 << 20;
  const std::string input = folder_.write("large", ""), end = std::string(9000, '\n') + "Der alte Hund.\n";
  std::filesystem::resize_file(input, kBytes - end.size());  // a hole
  std::ofstream(input, std::ios::app) << end;
  const auto bytes_read = [&](const Arguments& more) {
    Arguments arguments{"translate", "--model", model_, "--input", input, "--part", "10000/10000"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Command command(arguments, {});
    EXPECT_TRUE(eventually([&] { return command.poll() == 0; }));
    const std::optional<uint64_t> bytes = command.bytes_read();
    EXPECT_EQ(command.wait().status, 0);
    return bytes;
  };
  const std::optional<uint64_t> bytes = bytes_read({"--beam", "1"});
  if (!bytes) GTEST_SKIP() << "the system does not count what a process reads";
  EXPECT_LT(*bytes, kBytes / 2);
  // The control: samples depend on the number of the line.
  EXPECT_GT(*bytes_read({"--sample"}), kBytes);
}

TEST_F(LineJobTest, ReadsAndWritesCompressedFiles) {
  const std::string whole = output_of({"translate", "--input", input_, "--beam", "1"});
  for (const Compression compression : {Compression::kGzip, Compression::kZstd}) {
    const std::string extension = compression == Compression::kGzip ? ".gz" : ".zst";
    const std::string packed = folder_.write("packed" + extension, compress(read_file(input_), compression)),
                      output = folder_.path("output" + extension);
    EXPECT_EQ(run({"translate", "--beam", "1", "--input", packed, "--output", output}).status, 0);
    EXPECT_EQ(compression_of_content(read_file(output).substr(0, 4)), compression);
    EXPECT_TRUE(decompressed(output) == whole);
    std::string together;
    for (const char* part : {"1/2", "2/2"}) {
      together += output_of({"translate", "--beam", "1", "--input", packed, "--part", part});
    }
    EXPECT_TRUE(together == whole);
  }
}

TEST_F(LineJobTest, WrongUsageIsExplained) {
  for (const std::string part : {"0/3", "4/3", "1", "1/", "/3", "1/3x", "a/b", "-1/3"}) {
    expect_failure(run({"translate", "--input", input_, "--part", part}), 2,
                   {"--part takes a part such as 3/8"});
  }
  expect_failure(run({"translate", "--part", "1/2", "Der Hund."}), 2, {"--part takes a part of a file"});
  expect_failure(run({"translate", "--part", "1/2"}), 2, {"standard input has no known size"});
  expect_failure(run({"translate", "--resume", "--input", input_}), 2,
                 {"--resume needs an input file and --output"});
  expect_failure(run({"translate", "--resume", "--output", folder_.path("x")}), 2,
                 {"--resume needs an input file"});
  expect_failure(run({"score", "--pairs", pairs_, "--summary", "--resume", "--output", folder_.path("x")}), 2,
                 {"--resume", "--summary"});
  EXPECT_FALSE(std::filesystem::exists(folder_.path("x")));
}

TEST_F(LineJobTest, ErrorsInAPartNameTheLineOfTheFile) {
  std::string pairs = read_file(pairs_);
  const size_t last = pairs.rfind('\n', pairs.size() - 2) + 1;
  const auto lines = std::count(pairs.begin(), pairs.end(), '\n');
  pairs.erase(pairs.find('\t', last), 1);
  expect_failure(run({"score", "--pairs", folder_.write("bad.tsv", pairs), "--part", "3/3"}), 1,
                 {fmt::format("line {} of", lines), "has no tab"});
}

TEST_F(LineJobTest, VerifyFindsWhatIsMissing) {
  Arguments verify{"verify"};
  for (int part = 1; part <= 3; ++part) {
    const std::string output = folder_.path(fmt::format("part-{}", part));
    verify.push_back(output);
    ASSERT_EQ(run(translate(output, {"--resume", "--part", fmt::format("{}/3", part)})).status, 0);
  }
  CommandResult result = heed_command(verify);
  EXPECT_EQ(result.status, 0) << result.out;
  EXPECT_NE(result.out.find("part-2: part 2 of 3, complete, "), std::string::npos) << result.out;

  const Arguments without_second{"verify", verify[1], verify[3]};
  result = heed_command(without_second);
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.out.find("not complete: part 2\n"), std::string::npos) << result.out;

  folder_.write("part-3", read_file(verify[3]).substr(10));
  Arguments incomplete = verify;
  incomplete.insert(incomplete.begin() + 1, "--incomplete");
  result = heed_command(incomplete);
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out, "3\n");
  Arguments as_json = verify;
  as_json.insert(as_json.begin() + 1, "--json");
  const auto json = nlohmann::json::parse(heed_command(as_json).out);
  EXPECT_EQ(json["complete"], false);
  EXPECT_EQ(json["incomplete_parts"], nlohmann::json({3}));
  EXPECT_EQ(json["files"][2]["state"], "damaged");

  // A manifest that cannot be read hides neither its own part nor the others.
  const std::string manifest = read_file(verify[2] + ".manifest.json");
  folder_.write("part-2.manifest.json", manifest.substr(0, manifest.size() / 2));
  EXPECT_EQ(heed_command(incomplete).out, "2,3\n");
  const auto damaged = nlohmann::json::parse(heed_command(as_json).out);
  EXPECT_EQ(damaged["files"][0]["state"], "complete");
  EXPECT_EQ(damaged["files"][1]["state"], "damaged");
  EXPECT_NE(damaged["files"][1]["message"].get<std::string>().find("part-2.manifest.json"),
            std::string::npos);
  std::filesystem::remove(verify[2] + ".manifest.json");
  std::filesystem::create_directory(verify[2] + ".manifest.json");
  EXPECT_EQ(heed_command(incomplete).out, "2,3\n");
  std::filesystem::remove(verify[2] + ".manifest.json");
  folder_.write("part-2.manifest.json", manifest);

  const std::string other = folder_.path("other");
  ASSERT_EQ(run(translate(other, {"--resume", "--part", "3/3", "--beam", "2"})).status, 0);
  result = heed_command({"verify", verify[1], verify[2], other});
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.out.find("are from different jobs: options --beam (1, now 2)"), std::string::npos)
      << result.out;
  expect_failure(heed_command({"verify"}), 2, {"FILE"});
  EXPECT_EQ(heed_command({"verify", input_}).status, 1);
}

TEST_F(LineJobTest, VerifyRefusesPartsOfOtherInputs) {
  std::string lines = "Der Hund.\n", pairs = "Der Hund.\tThe dog.\n";
  for (int n = 0; n < 40; ++n) {
    lines += fmt::format("Das ist Satz {}.\n", n);
    pairs += fmt::format("Das ist Satz {0}.\tThis is sentence {0}.\n", n);
  }
  const std::string text = folder_.write("text", lines), tsv = folder_.write("text.tsv", pairs),
                    other = folder_.write("other", lines);
  const std::string first = folder_.path("first"), second = folder_.path("second");
  for (const Arguments& command : std::vector<Arguments>{{"translate", "--beam", "1", "--input", text},
                                                         {"align", "--pairs", tsv},
                                                         {"align", "--source", text, "--target", other}}) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(command, " ")));
    const auto part = [&](const char* number, const std::string& output) {
      Arguments arguments = command;
      arguments.insert(arguments.end(), {"--part", number, "--resume", "--output", output});
      const CommandResult result = run(arguments);
      EXPECT_EQ(result.status, 0) << result.err;
    };
    const auto verified = [&] { return heed_command({"verify", first, second}); };
    const auto expect_refused = [&](const std::string& because) {
      EXPECT_EQ(verified().status, 1);
      EXPECT_NE(verified().out.find(because), std::string::npos) << verified().out;
    };
    const std::string all = command.back();
    const std::string name = std::filesystem::path(all).filename(), before = read_file(all);
    part("1/2", first);
    part("2/2", second);
    EXPECT_EQ(verified().status, 0) << verified().out;
    remove_output("second");
    if (name == "other") {  // the lines of both must be as many
      folder_.write(name, before.substr(0, before.size() - 1) + "!\n");
      part("2/2", second);
      expect_refused("are from different jobs: input sizes (");
    } else {
      folder_.write(name, before.substr(0, before.find('\n') + 1) + before);
      part("2/2", second);
      expect_refused("are from different jobs: input sizes (");
      // The same size, and another line that the parts divide.
      remove_output("second");
      std::string turned = before;
      std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(turned.find('\n') + 1),
                  turned.end());
      folder_.write(name, turned);
      part("2/2", second);
      expect_refused("are of different inputs: part 1 ends at byte ");
    }
    folder_.write(name, before);
    remove_output("first");
    remove_output("second");
  }
}

TEST_F(LineJobTest, TwoProcessesDoNotWriteOneFile) {
  const std::string output = folder_.path("output");
  Arguments arguments = translate(output, {"--resume", "--model", model_, "--threads", "1", "--beam", "16"});
  Command first(arguments, {});
  while (!std::filesystem::exists(output)) ::usleep(1000);
  ::usleep(20'000);
  expect_failure(heed_command(arguments), 2, {"another process is writing '" + output + "'"});
}

}  // namespace
}  // namespace heed
