// Command tests of everything except heed train: errors, and results that do not depend on the form of the
// input.

#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files/file.h"
#include "tiny_model.h"

namespace heed {
namespace {

using Arguments = std::vector<std::string>;

class CliTest : public ::testing::Test {
 protected:
  void SetUp() override { model_ = tiny_model(); }

  CommandResult with_model(Arguments arguments, const Command::Settings& settings = {}) const {
    arguments.insert(arguments.begin() + 1, {"--model", model_});
    return heed_command(arguments, settings);
  }
  /// Translates the lines of `text` from standard input.
  CommandResult translate(const std::string& text, const Arguments& more = {}) const {
    Arguments arguments{"translate"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return with_model(arguments, {.input = folder_.write("input", text)});
  }
  std::string sources(size_t count, uint64_t seed) const {
    std::string text;
    for (const SentencePair& pair : tiny_pairs(count, seed)) text += pair.source + "\n";
    return text;
  }
  /// A copy of the model with one file replaced.
  std::string altered_model(const std::string& name, const std::string& content) const {
    std::string copy = folder_.path("altered");
    std::filesystem::remove_all(copy);
    std::filesystem::create_directory(copy);
    for (const auto& entry : std::filesystem::directory_iterator(model_)) {
      if (entry.is_regular_file()) std::filesystem::copy(entry.path(), copy / entry.path().filename());
    }
    folder_.write("altered/" + name, content);
    return copy;
  }

  TestFolder folder_;
  std::string model_;
};

// ---- Usage -----------------------------------------------------------------------------------------------

TEST_F(CliTest, HelpShowsAnExampleForEverySubcommand) {
  const CommandResult help = heed_command({"--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* name : {"translate", "attend", "train", "evaluate", "score", "align", "info", "convert"}) {
    EXPECT_NE(help.out.find(std::string("\n  ") + name), std::string::npos) << name;
    const CommandResult result = heed_command({name, "--help"});
    EXPECT_EQ(result.status, 0) << name;
    EXPECT_NE(result.out.find("Example"), std::string::npos) << name;
    EXPECT_NE(result.out.find(std::string("heed ") + name), std::string::npos) << name;
    EXPECT_EQ(result.err, "") << name;
  }
}

TEST_F(CliTest, RefusesUnknownArguments) {
  expect_failure(heed_command({}), 2, {"subcommand"});
  expect_failure(heed_command({"tranlsate"}), 2, {"'tranlsate'", "did you mean 'translate'"});
  expect_failure(heed_command({"translate", "--bem", "4"}), 2, {"'--bem'", "did you mean '--beam'"});
}

TEST_F(CliTest, RefusesInvalidValues) {
  const auto refused = [&](const Arguments& more, const std::vector<std::string>& parts) {
    Arguments arguments{"translate", "Der Hund"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_failure(with_model(arguments), 2, parts);
  };
  refused({"--beam", "0"}, {"--beam"});
  refused({"--beam", "many"}, {"--beam"});
  refused({"--beam", "2", "--nbest", "3"}, {"3", "2"});
  refused({"--threads", "-1"}, {"--threads"});
  refused({"--max-length", "1"}, {"--max-length"});
  refused({"--sample", "--temperature", "-1"}, {"temperature", "-1"});
  refused({"--sample", "--top-p", "1.5"}, {"top-p", "1.5"});
  refused({"--temperature", "2"}, {"--temperature", "--sample"});
  refused({"--sample", "--beam", "3"}, {"--beam", "--sample"});
  refused({"--length-penalty", "nan"}, {"--length-penalty", "nan"});
  refused({"--format", "html", "--nbest", "2"}, {"--nbest", "documents"});
  refused({"--format", "html", "--no-placeholders"}, {"--placeholders", "documents"});
  refused({"--format", "html", "--json"}, {"--json", "--format text"});
  refused({"--precision", "int7"}, {"--precision"});
  refused({"--batch-tokens", "0"}, {"--batch-tokens"});
  refused({"--input", "somewhere"}, {"TEXT", "--input"});
  expect_failure(with_model({"translate", "Der Hund", "--prefix", "\xff"}), 1, {"--prefix is not UTF-8"});
}

// ---- Which model -----------------------------------------------------------------------------------------

TEST_F(CliTest, RefusesPathsWithoutAModel) {
  const auto with = [&](const std::string& path) {
    return heed_command({"translate", "x", "--model", path});
  };
  expect_failure(with(folder_.path("none")), 1, {"'" + folder_.path("none") + "' does not exist"});
  expect_failure(with(model_ + "/config.json"), 1, {"config.json' is a file"});
  expect_failure(with(folder_.path()), 1, {folder_.path(), "no config.json"});
  // A directory of models: the error lists them.
  expect_failure(with(std::filesystem::path(model_).parent_path().string()), 1,
                 {"no config.json", std::filesystem::path(model_).filename().string()});
}

TEST_F(CliTest, NamesTheTypeOfModelsThatCannotTranslate) {
  const std::string other = altered_model("config.json", R"({"model_type": "whisper", "vocab_size": 10})");
  expect_failure(heed_command({"translate", "x", "--model", other}), 1, {"'whisper'", "marian"});
}

TEST_F(CliTest, FindsModelsByVariableAndByPair) {
  const Command::Settings named{.environment = {"HEED_MODEL=" + model_}};
  const CommandResult expected = with_model({"translate", "Der alte Hund sieht den Baum."});
  ASSERT_EQ(expected.status, 0) << expected.err;
  EXPECT_EQ(heed_command({"translate", "Der alte Hund sieht den Baum."}, named).out, expected.out);
  expect_failure(heed_command({"translate", "x", "--pair", "en-es"}, named), 2, {"en-es", "de-en"});
  const CommandResult info = with_model({"info", "--json"});
  ASSERT_EQ(info.status, 0) << info.err;
  EXPECT_EQ(heed_command({"info", "--json"}, named).out, info.out);

  std::filesystem::create_directories(folder_.path("models"));
  std::filesystem::create_directory_symlink(model_, folder_.path("models/de-en"));
  const Command::Settings bundled{.environment = {"HEED_MODELS=" + folder_.path("models")}};
  EXPECT_EQ(heed_command({"translate", "Der alte Hund sieht den Baum."}, bundled).out, expected.out);
  EXPECT_EQ(heed_command({"translate", "--pair", "de-en", "Der alte Hund sieht den Baum."}, bundled).out,
            expected.out);
  expect_failure(heed_command({"translate", "x", "--pair", "de-fr"}, bundled), 2,
                 {"'de-fr'", "available pairs: de-en"});
  expect_failure(heed_command({"translate", "x", "--pair", "german"}, bundled), 2,
                 {"two languages", "'german'"});
  const Command::Settings empty{.environment = {"HEED_MODELS=" + folder_.path("nothing")}};
  expect_failure(heed_command({"translate", "x"}, empty), 1,
                 {"no bundled models", folder_.path("nothing"), "--model"});
}

// ---- Damaged models --------------------------------------------------------------------------------------

TEST_F(CliTest, RefusesIncompleteModels) {
  for (const char* name : {"config.json", "model.safetensors", "source.spm", "target.spm", "vocab.json"}) {
    const std::string copy = altered_model(name, "");
    std::filesystem::remove(copy + "/" + name);
    expect_failure(heed_command({"translate", "x", "--model", copy}), 1, {copy});
  }
}

TEST_F(CliTest, RefusesTruncatedAndAlteredModels) {
  for (const char* name : {"config.json", "generation_config.json", "model.safetensors", "source.spm",
                           "target.spm", "vocab.json"}) {
    std::string content = content_of(model_ + "/" + name);
    const std::string truncated = altered_model(name, content.substr(0, content.size() / 2));
    expect_failure(heed_command({"translate", "x", "--model", truncated}), 1, {truncated});
    for (size_t n = 0; n < 16; ++n) content[content.size() * n / 32] ^= 0x5A;
    const std::string altered = altered_model(name, content);
    expect_failure(heed_command({"translate", "x", "--model", altered}), 1, {altered});
  }
}

TEST_F(CliTest, RefusesAConfigThatContradictsTheWeights) {
  const auto with_config = [&](const std::string& key, const nlohmann::json& value) {
    auto config = nlohmann::json::parse(content_of(model_ + "/config.json"));
    config[key] = value;
    return heed_command({"translate", "x", "--model", altered_model("config.json", config.dump())});
  };
  expect_failure(with_config("d_model", 128), 1, {"config.json", "(", "128", "64"});
  expect_failure(with_config("encoder_layers", 3), 1, {"model.encoder.layers.2."});
  expect_failure(with_config("decoder_layers", 1), 1, {"model.decoder.layers.1."});
  expect_failure(with_config("vocab_size", 1000), 1, {"vocab_size", "1000"});
  expect_failure(with_config("encoder_attention_heads", 5), 1, {"encoder_attention_heads", "64"});
  expect_failure(with_config("activation_function", "rellu"), 1, {"activation_function", "relu"});
}

TEST_F(CliTest, RefusesNanWeights) {
  std::string weights = content_of(model_ + "/model.safetensors");
  const uint32_t nan = 0x7FC00000;
  weights.replace(weights.size() - 400, sizeof nan, reinterpret_cast<const char*>(&nan), sizeof nan);
  const auto translated = [&] {
    return heed_command({"translate", "x", "--model", altered_model("model.safetensors", weights)});
  };
  expect_failure(translated(), 1, {"damaged", "tensor"});
  // Files of other toolkits have no hashes.
  const std::string key = "heed_hashes";
  weights.replace(weights.find(key), key.size(), "some_hashes");
  expect_failure(translated(), 1, {"parameter", "nan"});
}

// ---- Translation -----------------------------------------------------------------------------------------

TEST_F(CliTest, TranslatesTrainingSentences) {
  const std::vector<SentencePair> unseen = tiny_pairs(40, 77);
  const CommandResult result = translate(sources(40, 77));
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 40u);
  size_t right = 0;
  for (size_t n = 0; n < 40; ++n) right += lines[n] == unseen[n].target ? 1 : 0;
  EXPECT_GE(right, 30u);
}

TEST_F(CliTest, SameResultForArgumentsFilesThreadsAndBatches) {
  const std::string text = sources(60, 3);
  const CommandResult expected = translate(text, {"--scores"});
  ASSERT_EQ(expected.status, 0) << expected.err;
  const std::string output = folder_.path("output"), input = folder_.write("lines", text);
  const CommandResult to_file = with_model({"translate", "--scores", "--input", input, "--output", output});
  EXPECT_EQ(to_file.status, 0) << to_file.err;
  EXPECT_EQ(to_file.out, "");
  EXPECT_EQ(content_of(output), expected.out);
  Arguments texts{"translate", "--scores"};
  for (const std::string& line : lines_of(text)) texts.push_back(line);
  EXPECT_EQ(with_model(texts).out, expected.out);
  for (const Arguments& more : {Arguments{"--threads", "1"}, {"--threads", "4"}, {"--batch-tokens", "20"}}) {
    Arguments arguments{"--scores"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(translate(text, arguments).out, expected.out) << more[0];
  }
  std::vector<std::string> reversed = lines_of(text);
  std::reverse(reversed.begin(), reversed.end());
  std::string reversed_text;
  for (const std::string& line : reversed) reversed_text += line + "\n";
  std::vector<std::string> back = lines_of(translate(reversed_text, {"--scores"}).out);
  std::reverse(back.begin(), back.end());
  EXPECT_EQ(back, lines_of(expected.out));
}

TEST_F(CliTest, KeepsAsManyLinesAndBlankOnesBlank) {
  const CommandResult result = translate("\nDer alte Hund sieht den Baum.\n   \n\t\nDer Mann\r\n");
  ASSERT_EQ(result.status, 0) << result.err;
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0] + lines[2] + lines[3], "");
  EXPECT_NE(lines[1], "");
  EXPECT_NE(lines[4], "");
  EXPECT_EQ(translate("").out, "");
}

TEST_F(CliTest, RefusesInvalidUtf8UnlessLossy) {
  const std::string text = "Der Hund\nsch\xF6n\n";
  expect_failure(translate(text, {"--quiet"}), 1, {"line 2", "not UTF-8", "0xF6"});
  const CommandResult lossy = translate(text, {"--lossy"});
  EXPECT_EQ(lossy.status, 0) << lossy.err;
  EXPECT_EQ(lines_of(lossy.out).size(), 2u);
  const std::string output = folder_.path("output");
  const std::string input = folder_.write("latin", text);
  expect_failure(with_model({"translate", "--input", input, "--output", output}), 1,
                 {"line 2 of '" + input + "'"});
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST_F(CliTest, AnyBytesGiveOneLineEach) {
  std::string bytes;
  Random random(RandomKey::from_seed(4));
  for (int n = 0; n < 6000; ++n) bytes.push_back(static_cast<char>(random.next() & 0xFF));
  bytes += "\n";
  const CommandResult result = translate(bytes, {"--lossy", "--beam", "1"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'),
            std::count(bytes.begin(), bytes.end(), '\n'));
}

TEST_F(CliTest, TranslatesALineOfAMegabyte) {
  std::string line;
  while (line.size() < 1'000'000) line += "Der alte Hund sieht den kleinen Baum. ";
  const CommandResult result =
      translate("Der Mann\n" + line + "\nDer Mann\n", {"--beam", "1", "--max-length", "8"});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], lines[2]);
  EXPECT_NE(lines[1], "");
}

TEST_F(CliTest, AnswersLineByLineThroughAPipe) {
  ASSERT_EQ(::mkfifo(folder_.path("pipe").c_str(), 0600), 0);
  const int writer = ::open(folder_.path("pipe").c_str(), O_RDWR);
  const std::string output = folder_.write("answers", "");
  Command command({"translate", "--model", model_}, {.input = folder_.path("pipe"), .output = output});
  for (size_t n = 1; n <= 2; ++n) {
    const std::string line = "Der alte Hund sieht den Baum.\n";
    ASSERT_EQ(::write(writer, line.data(), line.size()), static_cast<ssize_t>(line.size()));
    EXPECT_TRUE(eventually([&] { return lines_of(content_of(output)).size() == n; }))
        << "no answer although the pipe is still open";
  }
  command.send_signal(SIGINT);  // while it waits for input
  EXPECT_EQ(command.wait().status, 130);
  ::close(writer);
}

TEST_F(CliTest, WritesScoresAlternativesAndJson) {
  const std::string sentence = "Der alte Hund sieht den kleinen Baum.";
  const CommandResult best = with_model({"translate", sentence}),
                      scored = with_model({"translate", "--scores", sentence});
  const auto scored_line = lines_of(scored.out).at(0);
  const size_t tab = scored_line.find('\t');
  ASSERT_NE(tab, std::string::npos);
  EXPECT_LT(std::stod(scored_line.substr(0, tab)), 0);
  EXPECT_EQ(scored_line.substr(tab + 1), lines_of(best.out).at(0));

  const auto alternatives =
      lines_of(translate(sentence + "\n\n" + sentence + "\n", {"--beam", "4", "--nbest", "3"}).out);
  ASSERT_EQ(alternatives.size(), 9u);
  EXPECT_EQ(alternatives[0], lines_of(best.out).at(0));
  EXPECT_NE(alternatives[0], alternatives[1]);
  EXPECT_EQ(alternatives[3] + alternatives[4] + alternatives[5], "");
  EXPECT_EQ(alternatives[0], alternatives[6]);

  const auto json = nlohmann::json::parse(with_model({"translate", "--json", "--nbest", "2", sentence}).out);
  EXPECT_EQ(json.at("source"), sentence);
  EXPECT_EQ(json.at("translation"), lines_of(best.out).at(0));
  EXPECT_LT(json.at("score").get<double>(), 0);
  EXPECT_FALSE(json.at("pieces").empty());
  ASSERT_EQ(json.at("alternatives").size(), 1u);
  EXPECT_NE(json.at("alternatives")[0].at("translation"), json.at("translation"));
  EXPECT_GE(json.at("score"), json.at("alternatives")[0].at("score"));
}

TEST_F(CliTest, SamplesTheSameForTheSameSeed) {
  const std::string text = sources(10, 8);
  const Arguments sample{"--sample", "--temperature", "3", "--seed"};
  const auto with_seed = [&](const std::string& seed) {
    Arguments arguments = sample;
    arguments.push_back(seed);
    const CommandResult result = translate(text, arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  };
  EXPECT_EQ(with_seed("1"), with_seed("1"));
  EXPECT_NE(with_seed("1"), with_seed("2"));
}

TEST_F(CliTest, GeneratedLineEndsDoNotSplitLines) {
  // At this temperature all pieces are almost equally likely, including those of the bytes 0x00, 0x0A and
  // 0x0D.
  const std::string input = sources(300, 6);
  const Arguments wild{"--sample", "--temperature", "50", "--max-length", "30"};
  Arguments json = wild, columns = wild;
  json.push_back("--json");
  columns.push_back("--scores");
  size_t breaks = 0;
  for (const std::string& line : lines_of(translate(input, json).out)) {
    const auto text = nlohmann::json::parse(line)["translation"].get<std::string>();
    breaks += text.find_first_of(std::string_view("\n\r\0", 3)) != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(breaks, 10U);  // the control: line ends were generated
  for (const Arguments& each : {wild, columns}) {
    const CommandResult result = translate(input, each);
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 300);
    EXPECT_EQ(result.out.find_first_of(std::string_view("\r\0", 2)), std::string::npos);
  }
  for (const std::string& line : lines_of(translate(input, columns).out)) {
    EXPECT_EQ(std::count(line.begin(), line.end(), '\t'), 1) << line;
  }
}

TEST_F(CliTest, ModelContentIsEscapedInTheTerminal) {
  const auto expect_escaped = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find("\u202e"), std::string::npos);
  };
  const std::string languages = altered_model(
      "tokenizer_config.json", R"({"source_lang": "\u001b]0;gone\u0007", "target_lang": "\u202eed"})");
  const CommandResult info = heed_command({"info", languages});
  EXPECT_EQ(info.status, 0) << info.err;
  expect_escaped(info.out, "\\x1b]0;gone\\x07 to \\u{202e}ed");
  const std::string pieces =
      altered_model("vocab.json", R"({"\u001b[2J": 0, "\u202ex": 1, "\u001b[2J\u202e": 1})");
  const CommandResult error = heed_command({"translate", "Hund", "--model", pieces});
  EXPECT_EQ(error.status, 1);
  expect_escaped(error.err, "have the same id 1");
  expect_escaped(error.err, "\\x1b[2J");
}

TEST_F(CliTest, BeginsWithThePrefix) {
  const CommandResult result =
      with_model({"translate", "--prefix", "The young", "Der alte Hund sieht den Baum."});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with("The young ")) << result.out;
}

// ---- Outputs that cannot be written ----------------------------------------------------------------------

TEST_F(CliTest, RefusesOutputsThatCannotBeWritten) {
  const auto to = [&](const std::string& path) {
    return with_model({"translate", "Der Hund", "--output", path});
  };
  expect_failure(to(folder_.path()), 1, {"cannot write '" + folder_.path() + "'", "directory"});
  expect_failure(to(folder_.path("none/output")), 1,
                 {"cannot write '" + folder_.path("none/output"), "No such file"});
  expect_failure(with_model({"attend", "Der Hund", "--output", folder_.path("none/a.svg")}), 1,
                 {"none/a.svg"});
  expect_failure(with_model({"attend", "Der Hund", "--output", folder_.path("a.gif")}), 2, {"a.gif", ".svg"});
  if (::geteuid() != 0) {  // nothing is read-only to root
    std::filesystem::create_directory(folder_.path("locked"));
    ::chmod(folder_.path("locked").c_str(), 0500);
    expect_failure(to(folder_.path("locked/output")), 1, {"Permission denied"});
  }
}

TEST_F(CliTest, ReportsAFullDisk) {
  const CommandResult result = with_model({"translate", "Der Hund"}, {.output = "/dev/full"});
  expect_failure(result, 1, {"standard output", "No space left"});
  expect_failure(with_model({"translate", "Der Hund", "--output", "/dev/full"}), 1,
                 {"/dev/full", "No space left"});

  std::filesystem::create_directory(folder_.path("small"));
  if (::mount("tmpfs", folder_.path("small").c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "cannot mount";
  const std::string model = folder_.path("small/half"), training = folder_.path("small/training");
  expect_failure(heed_command({"convert", model_, model, "--weights", "float16"}), 1, {"No space left"});
  const std::string pairs = folder_.write("pairs.tsv", to_tsv(tiny_pairs(500, 1)));
  expect_failure(heed_command(tiny_training(pairs, training, 3)), 1, {"No space left"});
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path("small"))) {
    if (entry.path().string().find(".part") != std::string::npos) left.push_back(entry.path().string());
  }
  EXPECT_EQ(left, std::vector<std::string>{});
  EXPECT_FALSE(std::filesystem::exists(model));
  ASSERT_EQ(::umount(folder_.path("small").c_str()), 0);
}

TEST_F(CliTest, LeavesNothingBehindWhenInterrupted) {
  std::string text;
  for (int n = 0; n < 50; ++n) text += sources(1000, static_cast<uint64_t>(n));
  const std::string input = folder_.write("long", text), output = folder_.path("result/output");
  std::filesystem::create_directory(folder_.path("result"));
  Command command({"translate", "--model", model_, "--input", input, "--output", output}, {});
  ASSERT_TRUE(eventually([&] { return !std::filesystem::is_empty(folder_.path("result")); }));
  command.send_signal(SIGINT);
  EXPECT_EQ(command.wait().status, 130);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path("result")));
}

// ---- Scores ----------------------------------------------------------------------------------------------

TEST_F(CliTest, EvaluatesTranslationsInAFile) {
  const std::string right =
      folder_.write("right", "The cat sat on the mat.\nHello world again, my friend.\n");
  const std::string near = folder_.write("near", "The cat sat on a mat.\nHello world again, my friend.\n");
  const auto same = nlohmann::json::parse(
      heed_command({"evaluate", "--hypothesis", right, "--reference", right, "--json"}).out);
  EXPECT_NEAR(same.at("bleu").get<double>(), 100, 1e-9);
  EXPECT_NEAR(same.at("chrf").get<double>(), 100, 1e-9);
  EXPECT_EQ(same.at("lines"), 2);
  EXPECT_TRUE(same.at("seconds").is_number());
  EXPECT_EQ(same.at("bleu_signature"), "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0");
  EXPECT_EQ(same.at("chrf_signature"), "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0");
  const auto other = nlohmann::json::parse(
      heed_command({"evaluate", "--hypothesis", near, "--reference", right, "--reference", near, "--json"})
          .out);
  EXPECT_NEAR(other.at("bleu").get<double>(), 100, 1e-9);
  const CommandResult lines =
      heed_command({"evaluate", "--hypothesis", near, "--reference", right, "--sentence"});
  ASSERT_EQ(lines_of(lines.out).size(), 2u) << lines.err;
  EXPECT_EQ(lines_of(lines.out)[1], "100.00\t100.00\t100.00");
  EXPECT_NE(lines_of(lines.out)[0], "100.00\t100.00\t100.00");
}

TEST_F(CliTest, EvaluatesAModel) {
  const std::string pairs = folder_.write("pairs.tsv", to_tsv(tiny_pairs(40, 78)));
  const std::string kept = folder_.path("kept");
  const CommandResult result = with_model({"evaluate", "--pairs", pairs, "--output", kept, "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_GT(json.at("bleu"), 60);
  EXPECT_GT(json.at("seconds"), 0);
  EXPECT_EQ(content_of(kept), translate(sources(40, 78)).out);
}

TEST_F(CliTest, RefusesFilesOfUnequalLengthToEvaluate) {
  const std::string three = folder_.write("three", "a\nb\nc\n"), two = folder_.write("two", "a\nb\n");
  const std::string empty = folder_.write("empty", "");
  expect_failure(heed_command({"evaluate", "--hypothesis", three, "--reference", two}), 1,
                 {three, two, "3", "2"});
  expect_failure(heed_command({"evaluate", "--hypothesis", empty, "--reference", empty}), 1,
                 {empty, "is empty"});
  expect_failure(heed_command({"evaluate", "--hypothesis", three}), 2, {"--reference"});
  expect_failure(heed_command({"evaluate", "--reference", three}), 2, {"--hypothesis", "--pairs"});
  expect_failure(
      heed_command({"evaluate", "--hypothesis", three, "--reference", three, "--tokenize", "words"}), 2,
      {"words", "13a"});
  expect_failure(heed_command({"evaluate", "--hypothesis", three, "--reference", folder_.path("none")}), 1,
                 {"none"});
}

TEST_F(CliTest, ScoresGivenTranslations) {
  const std::string pairs = folder_.write("pairs.tsv",
                                          "Der alte Hund sieht den Baum.\tThe old dog sees the tree.\n"
                                          "Der alte Hund sieht den Baum.\tThe tree sees the old dog.\n");
  const CommandResult result = with_model({"score", "--pairs", pairs});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_LT(std::stod(lines[0]), 0);
  EXPECT_GT(std::stod(lines[0]), std::stod(lines[1]) + 1);
  const std::string broken = folder_.write("broken.tsv", "no tab\n");
  expect_failure(with_model({"score", "--pairs", broken}), 1, {"line 1", "tab"});
  expect_failure(with_model({"score", "--pairs", pairs, "--whole"}), 2, {"--whole is for language models"});
  expect_failure(with_model({"score", "--pairs", pairs, "--stride", "8"}), 2,
                 {"--stride is for language models"});
  const std::vector<std::string> invalid{"Der Hund.\xff", "The dog."};
  for (const char* command : {"score", "align"}) {
    expect_failure(with_model({command, invalid[0], invalid[1]}), 1, {"not UTF-8", "--lossy"});
    EXPECT_EQ(with_model({command, invalid[0], invalid[1], "--lossy"}).status, 0);
  }
}

TEST_F(CliTest, AlignsWords) {
  const std::string pairs = folder_.write("pairs.tsv", to_tsv(tiny_pairs(20, 79)));
  const CommandResult result = with_model({"align", "--pairs", pairs});
  ASSERT_EQ(result.status, 0) << result.err;
  ASSERT_EQ(lines_of(result.out).size(), 20u);
  for (const std::string& line : lines_of(result.out)) {
    std::istringstream links(line);
    int count = 0;
    for (std::string link; links >> link; ++count) {
      unsigned source = 99, target = 99;
      ASSERT_EQ(std::sscanf(link.c_str(), "%u-%u", &source, &target), 2) << link;
      EXPECT_LT(source, 7u);
      EXPECT_LT(target, 7u);
    }
    EXPECT_GT(count, 0);
  }
}

// ---- Attention, info, convert ----------------------------------------------------------------------------

TEST_F(CliTest, AttentionJsonFollowsTheFormat) {
  const CommandResult result = with_model({"attend", "Der alte Hund sieht den Baum.", "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("version"), 1);
  EXPECT_EQ(json.at("target_tokens").back(), "</s>");
  const size_t source = json.at("source_tokens").size(), target = json.at("target_tokens").size();
  const std::map<std::string, std::pair<size_t, size_t>> sizes{
      {"encoder", {source, source}}, {"decoder", {target, target}}, {"cross", {target, source}}};
  for (const auto& [stack, size] : sizes) {
    ASSERT_EQ(json.at("attention").at(stack).size(), 2u) << stack;
    for (const auto& layer : json.at("attention").at(stack)) {
      ASSERT_EQ(layer.size(), 4u);
      for (const auto& head : layer) {
        ASSERT_EQ(head.size(), size.first);
        for (size_t query = 0; query < head.size(); ++query) {
          ASSERT_EQ(head[query].size(), size.second);
          double sum = 0;
          for (size_t key = 0; key < size.second; ++key) {
            sum += head[query][key].get<double>();
            if (stack == "decoder" && key > query) {
              EXPECT_EQ(head[query][key], 0.0);
            }
          }
          EXPECT_NEAR(sum, 1, 1e-5);
        }
      }
    }
  }
}

TEST_F(CliTest, AttentionOfAGivenTargetIsOfThatTarget) {
  const auto json = nlohmann::json::parse(
      with_model({"attend", "Der alte Hund sieht den Baum.", "--target", "The young man", "--json"}).out);
  EXPECT_EQ(json.at("target"), "The young man");
  EXPECT_LT(json.at("target_tokens").size(), json.at("source_tokens").size() + 3);
}

TEST_F(CliTest, AttentionFitsTheTerminal) {
  for (const std::string columns : {"40", "80"}) {
    const CommandResult result =
        with_model({"attend", "Der alte Hund sieht den kleinen Baum.", "--stack", "all", "--head", "all"},
                   {.environment = {"COLUMNS=" + columns, "NO_COLOR=1"}});
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
    for (const std::string& line : lines_of(result.out)) {
      const auto characters =
          std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
      EXPECT_LE(characters, std::stol(columns)) << line;
    }
  }
}

TEST_F(CliTest, AttentionRefusesMissingLayersAndHeads) {
  const auto refused = [&](const Arguments& more, const std::vector<std::string>& parts) {
    Arguments arguments{"attend", "Der Hund"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_failure(with_model(arguments), 2, parts);
  };
  refused({"--stack", "middle"}, {"'middle'", "encoder, decoder, cross"});
  refused({"--layer", "3"}, {"layer 3", "1 to 2"});
  refused({"--stack", "encoder", "--head", "5"}, {"head 5", "1 to 4"});
  refused({"--head", "first"}, {"'first'"});
  expect_failure(with_model({"attend", "  "}), 2, {"empty"});
}

TEST_F(CliTest, WritesAttentionAsFiles) {
  for (const std::string name : {"a.png", "a.svg", "a.pdf", "a.json", "a.html"}) {
    const CommandResult result = with_model({"attend", "Der alte Hund", "--output", folder_.path(name)});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_GT(content_of(folder_.path(name)).size(), 1000u) << name;
  }
  EXPECT_TRUE(content_of(folder_.path("a.png")).starts_with("\x89PNG"));
  EXPECT_TRUE(content_of(folder_.path("a.pdf")).starts_with("%PDF-"));
}

TEST_F(CliTest, APageHoldsSeveralSentencesAndOtherFilesOne) {
  const std::string page = folder_.path("page.html");
  const CommandResult result = with_model({"attend", "Der alte Hund", "Der Mann", "--output", page});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(content_of(page).find("\"source\":\"Der alte Hund\""), std::string::npos);
  EXPECT_NE(content_of(page).find("\"source\":\"Der Mann\""), std::string::npos);
  EXPECT_NE(content_of(page).find("heed serve --model '" + model_), std::string::npos);
  expect_failure(with_model({"attend", "Der Hund", "Der Mann", "--output", folder_.path("a.png")}), 2,
                 {"page"});
  expect_failure(with_model({"attend", "Der Hund", "Der Mann", "--target", "The dog", "--output", page}), 2,
                 {"--target"});
  expect_failure(with_model({"attend", "Der Hund", "--query", "Der", "--output", page}), 2, {"--query"});
}

TEST_F(CliTest, DetailsAreThoseOfTheChosenHead) {
  const CommandResult result = with_model(
      {"attend", "Der alte Hund", "--json", "--details", "--stack", "cross", "--layer", "2", "--head", "3"});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_FALSE(json.at("details").contains("encoder"));
  const auto& heads = json.at("details").at("cross").at(1);
  EXPECT_TRUE(heads.at(0).is_null());
  EXPECT_EQ(heads.at(2).at("query").size(), json.at("target_tokens").size());
  EXPECT_EQ(heads.at(2).at("key").size(), json.at("source_tokens").size());
  EXPECT_EQ(heads.at(2).at("scores").at(0).size(), json.at("source_tokens").size());
  EXPECT_EQ(json.at("log_probabilities").size(), json.at("target_tokens").size());
  expect_failure(with_model({"attend", "Der Hund", "--details"}), 2, {"--details", "--json"});
  expect_failure(with_model({"attend", "Der Hund", "--json", "--details", "--words"}), 2, {"--words"});
}

TEST_F(CliTest, InfoDescribesAModel) {
  const CommandResult text = heed_command({"info", model_});
  ASSERT_EQ(text.status, 0) << text.err;
  for (const char* part :
       {"marian", "width 64", "de to en", "model.encoder.layers.*.self_attn", "oneDNN", "Loss"}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part;
  }
  const auto json = nlohmann::json::parse(heed_command({"info", "--model", model_, "--json"}).out);
  int64_t elements = 0;
  for (const auto& group : json.at("groups")) elements += group.at("elements").get<int64_t>();
  EXPECT_EQ(json.at("parameters"), elements);
  EXPECT_EQ(json.at("bytes"), 4 * elements);
  EXPECT_EQ(heed_command({"info", model_, "--curve", folder_.path("curve.svg")}).status, 0);
  EXPECT_NE(content_of(folder_.path("curve.svg")).find("<svg"), std::string::npos);
  for (const char* part : {"BLEU", "chrF", "Learning rate", "\u25cf best: step "}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part;
  }
  expect_failure(heed_command({"info", model_, "--curve", folder_.path("curve.txt")}), 2, {"curve.txt"});
  expect_failure(heed_command({"info", folder_.path("none")}), 1, {"DIR", "none"});
}

// Bundled models contain their training log, and those of the trainings after it.
TEST_F(CliTest, InfoShowsTheCurvesOfALogBesideTheModel) {
  std::filesystem::copy(model_, folder_.path("copy"), std::filesystem::copy_options::recursive);
  std::filesystem::remove_all(folder_.path("copy/training"));
  EXPECT_EQ(heed_command({"info", folder_.path("copy")}).out.find("Learning rate"), std::string::npos);
  expect_failure(heed_command({"info", folder_.path("copy"), "--curve", folder_.path("curve.svg")}), 1,
                 {"training/metrics.jsonl", "training-log.jsonl"});
  const auto line = [](int step, double rate, const std::string& more) {
    return fmt::format(
        R"({{"step":{},"loss":2,"learning_rate":{},"target_tokens":9,"target_tokens_per_second":9,"seconds":9{}}})"
        "\n",
        step, rate, more);
  };
  const std::string first =
      line(10, 0.001, R"(,"valid_loss":3,"bleu":20)") + line(20, 0.001, R"(,"valid_loss":2.5,"bleu":30)");
  folder_.write("copy/training-log.jsonl", first);
  EXPECT_NE(heed_command({"info", folder_.path("copy")}).out.find("best: step 20"), std::string::npos);
  folder_.write("copy/training-log-further.jsonl", line(5, 0.0005, R"(,"valid_loss":2.4,"bleu":31)"));
  EXPECT_NE(heed_command({"info", folder_.path("copy")}).out.find("best: step 25"), std::string::npos);
  // If the log marks the best validation, it is used.
  folder_.write("copy/training-log-further.jsonl",
                line(5, 0.0005, R"(,"valid_loss":2.4,"bleu":31)") +
                    line(6, 0.0005, R"(,"valid_loss":2.1,"bleu":29,"best":true)"));
  EXPECT_NE(heed_command({"info", folder_.path("copy")}).out.find("best: step 26"), std::string::npos);
  folder_.write("copy/training-log-further-2.jsonl",
                line(4, 0.0005, R"(,"valid_loss":2.0,"bleu":31,"best":true)"));
  EXPECT_NE(heed_command({"info", folder_.path("copy")}).out.find("best: step 30"), std::string::npos);
}

TEST_F(CliTest, ConvertsToHalfTheSize) {
  const std::string half = folder_.path("half");
  const CommandResult result = heed_command({"convert", model_, half, "--weights", "float16"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_FALSE(std::filesystem::exists(half + "/training"));
  const auto info = nlohmann::json::parse(heed_command({"info", half, "--json"}).out);
  EXPECT_EQ(info.at("weights"), nlohmann::json({"float16"}));
  EXPECT_EQ(info.at("bytes"), 2 * info.at("parameters").get<int64_t>());
  EXPECT_EQ(nlohmann::json::parse(content_of(half + "/config.json")).at("torch_dtype"), "float16");
  const std::string text = sources(20, 90);
  const CommandResult translated =
      heed_command({"translate", "--model", half, "--input", folder_.write("t", text)});
  const auto rounded = lines_of(translated.out), whole = lines_of(translate(text).out);
  ASSERT_EQ(rounded.size(), whole.size()) << translated.err;
  size_t same = 0;
  for (size_t n = 0; n < whole.size(); ++n) same += whole[n] == rounded[n] ? 1 : 0;
  EXPECT_GE(same, 18u);
  expect_failure(heed_command({"convert", model_, half, "--weights", "float16"}), 1,
                 {"already exists", half});
  expect_failure(heed_command({"convert", model_, folder_.path("x"), "--weights", "float8"}), 2,
                 {"--weights"});
  expect_failure(heed_command({"convert", folder_.path("none"), folder_.path("x"), "--weights", "float16"}),
                 1, {"IN"});
}

TEST_F(CliTest, NamesFeaturesUnsupportedByHuggingFace) {
  const std::string pairs = folder_.write("pairs.tsv", to_tsv(tiny_pairs(200, 3))),
                    rotary = folder_.path("rotary");
  const CommandResult trained =
      heed_command({"train", "--pairs", pairs, "--output", rotary, "--preset", "tiny", "--max-steps", "2",
                    "--set", "model.positions=rotary", "--set", "tokenizer.vocabulary=320", "--quiet"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const CommandResult translated = heed_command({"translate", "--model", rotary, "Der Hund."});
  EXPECT_EQ(translated.status, 0) << translated.err;
  EXPECT_EQ(heed_command({"convert", rotary, folder_.path("ours")}).status, 0);
  expect_failure(heed_command({"convert", rotary, folder_.path("theirs"), "--to", "huggingface"}), 2,
                 {"heed_transformer", "rotary positions", "--to"});
  EXPECT_FALSE(std::filesystem::exists(folder_.path("theirs")));
  EXPECT_EQ(heed_command({"convert", model_, folder_.path("theirs"), "--to", "huggingface"}).status, 0);
}

}  // namespace
}  // namespace heed
