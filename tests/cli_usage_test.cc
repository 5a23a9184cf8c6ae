// Messages of the command: invalid numbers, help, names of models and tokens, and remaining time.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "cli/options/terminal.h"
#include "test_coded_model.h"
#include "tiny_model.h"

namespace heed {
namespace {

using Arguments = std::vector<std::string>;

CommandResult attend(const Arguments& more) {
  Arguments arguments{"attend", "--model", tiny_model(), "--no-color"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return heed_command(arguments);
}

// A variable of a script that was not set.
TEST(Usage, EmptyValuesAreRefused) {
  for (const char* option : {"--model", "--pair", "--input", "--output", "--glossary"}) {
    expect_failure(heed_command({"translate", option, "", "x"}), 2,
                   {std::string(option) + " takes a value that is not empty"});
  }
  expect_failure(heed_command({"train", "--output", "", "--pairs", "x"}), 2, {"--output takes a value"});
  for (const char* command : {"attend", "lens", "attribute", "patch"}) {
    expect_failure(heed_command({command, "x", "--target", ""}), 2,
                   {"--target takes a value that is not empty"});
  }
}

TEST(Usage, NamesThatAreNotUtf8CannotBeWrittenAsJson) {
  const TestFolder folder;
  const std::string model = folder.path("model\xff");
  std::filesystem::copy(tiny_model(), model, std::filesystem::copy_options::recursive);
  EXPECT_EQ(heed_command({"translate", "--model", model, "Der Hund"}).status, 0);
  expect_failure(heed_command({"info", "--json", model}), 1, {"is not valid UTF-8", "rename it"});
}

// ---- Numbers

TEST(Usage, InvalidNumbersAreRefusedWithTheirRange) {
  const std::vector<Arguments> options{{"translate", "x", "--sample", "--seed"},
                                       {"translate", "x", "--beam"},
                                       {"translate", "x", "--threads"},
                                       {"translate", "x", "--max-length"},
                                       {"generate", "x", "--seed"},
                                       {"generate", "x", "--max-tokens"},
                                       {"train", "--output", "x", "--seed"},
                                       {"train", "--output", "x", "--max-steps"},
                                       {"train", "--output", "x", "--shards"},
                                       {"train", "--output", "x", "--batch-tokens"},
                                       {"align", "--pairs", "x", "--layer"},
                                       {"shortlist", "x", "--pairs", "x", "--max-pairs"},
                                       {"score", "--input", "x", "--stride"},
                                       {"attend", "x", "--columns"},
                                       {"fill", "x", "--top"}};
  for (const Arguments& option : options) {
    for (const std::string value :
         {"\u0663", "-1", "1e3", "99999999999999999999", "0x10", " 4", "1.5", "many"}) {
      Arguments arguments = option;
      arguments.back() += "=" + value;
      const CommandResult result = heed_command(arguments);
      EXPECT_EQ(result.status, 2) << arguments.back();
      const std::string begin = "heed " + option[0] + ": " + option.back() + " takes an integer from ";
      EXPECT_TRUE(result.err.starts_with(begin)) << result.err;
      EXPECT_NE(result.err.find("not '" + value + "'"), std::string::npos) << result.err;
      EXPECT_LT(result.err.size(), 200u);
    }
  }
  for (const Arguments& old :
       {Arguments{"--most-pairs", "0"}, Arguments{"--most-pairs=0"}}) {  // an old spelling
    Arguments arguments{"shortlist", "x", "--pairs", "x"};
    arguments.insert(arguments.end(), old.begin(), old.end());
    expect_failure(heed_command(arguments), 2, {"--max-pairs takes an integer from 1 to ", "not '0'"});
  }
  for (const std::string value : {"nan", "inf", "1e999", "0,5", "one"}) {
    expect_failure(heed_command({"translate", "x", "--length-penalty=" + value}), 2,
                   {"--length-penalty takes a number from -100 to 100, not '" + value + "'"});
    expect_failure(heed_command({"train", "--output", "x", "--max-minutes=" + value}), 2,
                   {"--max-minutes takes a number above 0, not '" + value + "'"});
  }
  expect_failure(heed_command({"generate", "x", "--top-p", "1.5"}), 2, {"above 0 and up to 1, not '1.5'"});
  expect_failure(heed_command({"translate", "x", "--beam="}), 2, {"--beam needs a value"});
}

TEST(Usage, NumbersAreDecimal) {
  const Arguments beam{"translate", "--model", tiny_model(), "--scores",
                       "--nbest",   "10",      "Der Hund",   "--beam"};
  Arguments ten = beam, with_zero = beam;
  ten.emplace_back("10");
  with_zero.emplace_back("010");  // 8, were it octal, which is too few for --nbest 10
  EXPECT_EQ(heed_command(with_zero).out, heed_command(ten).out);
  EXPECT_EQ(lines_of(heed_command(with_zero).out).size(), 10u);
}

/// 0 once the process has ended.
int threads_of(pid_t process) {
  int count = 0;
  std::error_code ended;
  std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", process), ended);
  for (; !ended && thread != std::filesystem::directory_iterator(); thread.increment(ended)) ++count;
  return count;
}

TEST(Usage, UnnecessaryThreadsAreNotStarted) {
  Command command({"translate", "--model", tiny_model(), "Der Hund", "--threads", "1024"}, {});
  int most = 0;
  EXPECT_TRUE(eventually([&] {
    most = std::max(most, threads_of(command.process()));
    return command.poll() == 0;
  }));
  EXPECT_GE(most, 1);
  EXPECT_LT(most, 512);
  const CommandResult result = command.wait();
  EXPECT_EQ(result.status, 0) << result.err;
}

// ---- Help

TEST(Usage, HelpSubcommand) {
  EXPECT_EQ(heed_command({"help"}).out, heed_command({"--help"}).out);
  const CommandResult help = heed_command({"help", "translate"});
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(help.out, heed_command({"translate", "--help"}).out);
  expect_failure(heed_command({"help", "tranlsate"}), 2, {"'tranlsate'", "did you mean 'translate'"});
  expect_failure(heed_command({"help", "translate", "now"}), 2, {"'now'"});
}

const std::vector<std::string>& subcommands() {
  static const std::vector<std::string> names{
      "translate", "generate", "classify", "fill", "embed",   "score",    "align",     "serve", "train",
      "evaluate",  "attend",   "heads",    "info", "convert", "quantize", "shortlist", "verify"};
  return names;
}

/// The help of a subcommand up to the examples.
std::string options_of(const std::string& name) {
  const std::string help = heed_command({name, "--help"}).out;
  return help.substr(0, help.find("\nExample"));
}

TEST(Usage, HelpIsGroupedAndCommonOptionsComeFirst) {
  const std::string all = heed_command({"--help"}).out;
  for (const std::string& name : subcommands()) {
    EXPECT_NE(all.find("\n  " + name + " "), std::string::npos) << name;
    const std::string help = options_of(name);
    std::vector<std::string> titles;
    for (const std::string& line : lines_of(help)) {
      EXPECT_LE(line.size(), 100u) << line;
      if (line.ends_with(':') && !line.starts_with(' ')) titles.push_back(line);
    }
    if (titles.at(0) == "Arguments:") titles.erase(titles.begin());
    EXPECT_EQ(titles.at(0), "Common options:") << name;
    EXPECT_EQ(titles.back(), "General options:") << name;
    const std::string common = help.substr(0, help.find("\n\n", help.find("Common options:")));
    for (const char* option : {"\n  --model ", "\n  --output ", "\n  --input ", "\n  --json "}) {
      if (help.find(option) == std::string::npos) continue;
      EXPECT_NE(common.find(option), std::string::npos) << name << option;
    }
  }
}

TEST(Usage, EverySwitchCanBeTurnedOff) {
  for (const std::string& name : subcommands()) {
    size_t switches = 0;
    for (const std::string& line : lines_of(options_of(name))) {
      if (!line.starts_with("  --")) continue;
      std::string word = line.substr(2, line.find(' ', 2) - 2);
      const bool takes_value = line.size() > word.size() + 3 && line[word.size() + 3] != ' ';
      if (takes_value) continue;
      if (word.starts_with("--[no-]")) word.erase(2, 5);
      // An unknown argument is reported before a missing one.
      const CommandResult result = heed_command({name, word, "--no-" + word.substr(2), "--none-such"});
      EXPECT_NE(result.err.find("unknown argument '--none-such'"), std::string::npos) << result.err;
      ++switches;
    }
    EXPECT_GE(switches, 1u) << name;
  }
}

TEST(Usage, SwitchesTakeOnOrOff) {
  for (const char* value : {"99999999999999999999", "1e9", "-1", "x"}) {
    expect_failure(heed_command({"translate", "x", std::string("--sample=") + value}), 2,
                   {"--sample takes on or off", value});
  }
  expect_failure(heed_command({"translate", "x", "--no-sample=99999999999999999999"}), 2,
                 {"--no-sample takes no value"});
  const auto translated = [text = tiny_pairs(1, 7)[0].source](const std::string& option) {
    const CommandResult result = heed_command({"translate", "--model", tiny_model(), text, option});
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  };
  EXPECT_EQ(translated("--no-repeat-ngram=0"), translated("--no-split-sentences"));  // the first is no switch
  for (const char* value : {"on", "true", "1", "YES"}) {
    EXPECT_EQ(translated(std::string("--json=") + value).substr(0, 1), "{");
  }
  EXPECT_EQ(translated("--json=0"), translated("--no-json"));
}

TEST(Usage, AnEmptyValueIsNotTheNextArgument) {
  expect_failure(heed_command({"translate", "--model=", tiny_model()}), 2, {"--model needs a value"});
  expect_failure(heed_command({"translate", "--json=", "x"}), 2, {"--json needs a value"});
  EXPECT_EQ(heed_command({"translate", "--model", tiny_model(), "--", "--json="}).status, 0);
}

TEST(Usage, TextsAfterTwoDashesAreNoOldSpellings) {
  const auto sources = [](const Arguments& texts) {
    Arguments arguments{"translate", "--json", "--model", tiny_model(), "--"};
    arguments.insert(arguments.end(), texts.begin(), texts.end());
    return heed_command(arguments).out;
  };
  for (const std::string text : {"--most-pairs", "--most-pairs=3"})
    EXPECT_NE(sources({text}).find("{\"source\":\"" + text + "\""), std::string::npos) << text;
  const std::string joined = sources({"--normalize", "on"});
  EXPECT_NE(joined.find("on\""), std::string::npos) << joined;
}

TEST(Usage, NamesOfOutputsSayWhatIsWritten) {
  expect_failure(attend({"x", "--output", "x.doc"}), 2, {"x.doc", "end in .html, .json, .png, .svg or .pdf"});
  expect_failure(heed_command({"lens", "--model", tiny_model(), "x", "--output", "x.doc"}), 2,
                 {"x.doc", "end in .json, .png, .svg or .pdf"});
  const std::string text = tiny_pairs(1, 7)[0].source;
  const CommandResult to_stdout = heed_command({"lens", "--model", tiny_model(), text, "--output", "-"});
  EXPECT_EQ(to_stdout.out, heed_command({"lens", "--model", tiny_model(), text}).out) << to_stdout.err;
}

TEST(Usage, SwitchesOfEarlierVersionsStay) {
  const std::string text = tiny_pairs(1, 7)[0].source;
  const auto translated = [&](const Arguments& more) {
    Arguments arguments{"translate", text, "--model", tiny_model(), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return heed_command(arguments);
  };
  const std::string usual = translated({}).out;
  for (const Arguments& same : std::vector<Arguments>{{"--shortlist", "off"},
                                                      {"--no-shortlist"},
                                                      {"--shortlist", "--no-shortlist"},
                                                      {"--split-sentences"},
                                                      {"--no-split-sentences", "--split-sentences"},
                                                      {"--no-placeholders", "--placeholders"},
                                                      {"--quiet", "--no-quiet"}}) {
    EXPECT_EQ(translated(same).out, usual) << same[0];
  }
  const CommandResult plain = translated({"--no-json"});
  EXPECT_NE(plain.out, usual);
  EXPECT_EQ(plain.out, translated({"--no-split-sentences", "--no-json"}).out);
  for (const Arguments& wanted : {Arguments{"--shortlist", "on"}, {"--shortlist"}, {"--shortlist=on"}})
    expect_failure(translated(wanted), 2, {"shortlist"});  // the model has none
}

/// No file that is opened becomes standard input, such as the weights of the model.
TEST(Usage, NoOtherFileIsReadAsStandardInput) {
  expect_failure(heed_command({"translate", "--lossy"}, {.without_input = true}), 1,
                 {"standard input", "Bad file descriptor"});
}

TEST(Usage, HelpThatCannotBeWrittenFails) {
  for (const Arguments& arguments : {Arguments{"--help"}, {"--version"}, {"help"}, {"translate", "--help"}}) {
    expect_failure(heed_command(arguments, {.output = "/dev/full"}), 1, {"standard output", "No space left"});
  }
}

// ---- Models and layers

TEST(Usage, OnlyPairsAreListedAsPairs) {
  const TestFolder folder;
  std::filesystem::create_directory(folder.path("models"));
  for (const char* name : {"de-en", "en-es", "rnn"}) {
    std::filesystem::create_directory_symlink(tiny_model(), folder.path(std::string("models/") + name));
  }
  const Command::Settings bundled{.environment = {"HEED_MODELS=" + folder.path("models")}};
  const CommandResult other = heed_command({"translate", "x", "--pair", "de-fr"}, bundled);
  expect_failure(other, 2, {"'de-fr'", "available pairs: de-en, en-es;"});
  EXPECT_EQ(other.err.find("rnn"), std::string::npos) << other.err;
  expect_failure(heed_command({"translate", "x", "--pair", "rnn"}, bundled), 2,
                 {"two languages", "--model " + folder.path("models/rnn")});
}

TEST(Usage, PairsAreFoundByLanguage) {
  const TestFolder folder;
  std::filesystem::create_directory(folder.path("models"));
  for (const char* name : {"de-en", "en-es"}) {
    std::filesystem::create_directory_symlink(tiny_model(), folder.path(std::string("models/") + name));
  }
  const Command::Settings bundled{.environment = {"HEED_MODELS=" + folder.path("models")}};
  const std::string text = tiny_pairs(1, 7)[0].source;
  const CommandResult usual = heed_command({"translate", text, "--pair", "de-en"}, bundled);
  ASSERT_EQ(usual.status, 0) << usual.err;
  for (const char* pair : {"DE-EN", "De-en", "de_DE-en_US", "deu-eng"}) {
    const CommandResult result = heed_command({"translate", text, "--pair", pair}, bundled);
    EXPECT_EQ(result.status, 0) << pair << ": " << result.err;
    EXPECT_EQ(result.out, usual.out) << pair;
    EXPECT_EQ(heed_command({"translate", text, "--pair", pair, "--model", tiny_model()}).out, usual.out)
        << pair;
  }
  expect_failure(heed_command({"translate", "x", "--pair", "es-de"}, bundled), 2,
                 {"'es-de'", "available pairs: de-en, en-es;", "--model DIR", "heed convert", "heed train"});
}

/// A folder of bundled models: one for German to English, and the same model as one for English to Spanish,
/// which reads the words that it does not know as well as it can.
std::string chained_models(const TestFolder& folder) {
  namespace fs = std::filesystem;
  const fs::path models = folder.path("models");
  fs::create_directory(models);
  fs::create_directory_symlink(tiny_model(), models / "de-en");
  fs::copy(tiny_model(), models / "en-es");
  const std::string path = models / "en-es/tokenizer_config.json";
  nlohmann::json config = nlohmann::json::parse(read_file(path));
  config.update({{"source_lang", "en"}, {"target_lang", "es"}});
  write_file(path, config.dump());
  return models;
}

TEST(Usage, PairsGoThroughOtherLanguages) {
  const TestFolder folder;
  const std::string models = chained_models(folder);
  const Command::Settings bundled{.environment = {"HEED_MODELS=" + models}};
  const auto run = [&](std::vector<std::string> arguments) {
    const CommandResult result = heed_command(std::move(arguments), bundled);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  };
  std::string text;
  for (const SentencePair& pair : tiny_pairs(5, 7)) text += pair.source + "\n";
  const std::string input = folder.write("de.txt", text + "\n");
  const std::string english = folder.write("en.txt", run({"translate", "--input", input, "--pair", "de-en"}));
  const std::string expected = run({"translate", "--input", english, "--pair", "en-es"});
  for (const char* pair : {"de-es", "DE-ES", "deu-spa"}) {
    EXPECT_EQ(run({"translate", "--input", input, "--pair", pair}), expected) << pair;
  }
  EXPECT_NE(expected, read_file(english));  // or one step would do
  const std::string output = folder.path("es.txt");
  run({"translate", "--input", input, "--pair", "de-es", "--resume", "--output", output});
  EXPECT_EQ(read_file(output), expected);
  const auto json =
      nlohmann::json::parse(run({"translate", tiny_pairs(1, 7)[0].source, "--pair", "de-es", "--json"}));
  EXPECT_EQ(json["through"], nlohmann::json{"en"});
  EXPECT_EQ(json["intermediate"][0].get<std::string>() + "\n",
            run({"translate", tiny_pairs(1, 7)[0].source, "--pair", "de-en"}));
  const std::string reference = folder.write("reference.txt", expected);
  const auto score = nlohmann::json::parse(
      run({"evaluate", "--source", input, "--reference", reference, "--pair", "de-es", "--json"}));
  EXPECT_NEAR(score["bleu"].get<double>(), 100, 1e-6);
  EXPECT_EQ(run({"translate", "<b>Der</b>", "--pair", "de-es", "--format", "html"}).substr(0, 3), "<b>");

  const std::vector<std::string> chained{"x", "--pair", "de-es"};
  const auto refused = [&](std::vector<std::string> arguments, const std::vector<std::string>& parts) {
    arguments.insert(arguments.end(), chained.begin(), chained.end());
    expect_failure(heed_command(arguments, bundled), 2, parts);
  };
  refused({"attend"}, {"'de-es'", "needs one", "--pair de-en or --pair en-es", "heed translate"});
  refused({"translate", "--ablate", "cross:1:1"}, {"--ablate", "2 models"});
  refused({"translate", "--target-language", "es"}, {"--pair de-es", "leave them out"});
}

TEST(Usage, AttendTranslatesIntoTheChosenLanguage) {
  const TestFolder folder;
  const std::string model = folder.path("codes"), text = "The old man";
  write_with_codes(model);
  const auto run = [](const Arguments& arguments) {
    const CommandResult result = heed_command(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  };
  for (const char* language : {"fra", "spa"}) {
    const Arguments options{text, "--model", model, "--json", "--target-language", language};
    Arguments attending{"attend"}, translating{"translate"};
    attending.insert(attending.end(), options.begin(), options.end());
    translating.insert(translating.end(), options.begin(), options.end());
    const auto trace = nlohmann::json::parse(run(attending));
    EXPECT_EQ(trace["source_tokens"][0], fmt::format(">>{}<<", language));
    EXPECT_EQ(trace["target"], nlohmann::json::parse(run(translating))["translation"]);
  }
  expect_failure(heed_command({"attend", text, "--model", model}), 2, {"choose one with --target-language"});
  expect_failure(attend({"x", "--source-language", "de"}), 2, {"no language tokens"});
  const std::string kinds = source_folder() + "/models/kinds";
  expect_failure(heed_command({"attend", text, "--model", kinds, "--target-language", "fra"}), 2,
                 {"--target-language is for models that translate", "'" + kinds + "' is not one"});
}

TEST(Usage, AttendRefusesSearchOptionsWithoutASearch) {
  const std::string kinds = source_folder() + "/models/kinds";
  for (const Arguments& option : std::vector<Arguments>{{"--beam", "2"},
                                                        {"--length-penalty", "0.5"},
                                                        {"--max-length", "9"},
                                                        {"--no-repeat-ngram", "2"},
                                                        {"--batch-tokens", "64"},
                                                        {"--prefix", "The"},
                                                        {"--require", "dog"},
                                                        {"--forbid", "dog"}}) {
    Arguments other{"attend", "a film", "--model", kinds}, given{"Der Hund.", "--target", "The dog."};
    other.insert(other.end(), option.begin(), option.end());
    given.insert(given.end(), option.begin(), option.end());
    expect_failure(heed_command(other), 2, {option[0] + " is for models that translate"});
    expect_failure(attend(given), 2, {option[0] + " is for the model's own translation"});
  }
  EXPECT_EQ(attend({"Der Hund.", "--target", "The dog.", "--ablate", "cross:1:1"}).status, 0);
}

TEST(Usage, PositionsAndOptionsAreTheSame) {
  const TestFolder folder;
  for (const char* more : {"quantize", "convert"}) {
    const std::string one = folder.path(std::string(more) + "1"), two = folder.path(std::string(more) + "2");
    ASSERT_EQ(heed_command({more, tiny_model(), one}).status, 0);
    ASSERT_EQ(heed_command({more, "--model", tiny_model(), "--output", two}).status, 0);
    EXPECT_EQ(read_file(one + "/model.safetensors"), read_file(two + "/model.safetensors"));
    expect_failure(heed_command({more, tiny_model()}), 2, {"is missing", "--output"});
    expect_failure(heed_command({more, "--output", one}), 2, {"is missing", "--model"});
  }
  expect_failure(heed_command({"shortlist", "--pairs", "x.tsv"}), 2, {"MODEL is missing", "--model"});

  const auto [source, target] = tiny_pairs(1, 7)[0];
  const std::string file = folder.write("pairs.tsv", source + "\t" + target + "\n");
  for (const char* command : {"align", "score"}) {
    const CommandResult usual = heed_command({command, "--pairs", file, "--model", tiny_model()});
    ASSERT_EQ(usual.status, 0) << usual.err;
    EXPECT_EQ(heed_command({command, file, "--model", tiny_model()}).out, usual.out);
    EXPECT_EQ(heed_command({command, source, target, "--model", tiny_model()}).out, usual.out);
    EXPECT_EQ(heed_command({command, target, source, "--swap", "--model", tiny_model()}).out, usual.out);
    expect_failure(heed_command({command, source, "--model", tiny_model()}), 2, {"no file"});
    expect_failure(heed_command({command, file, "--pairs", file, "--model", tiny_model()}), 2,
                   {"exclude each other"});
  }
  const auto scores = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"evaluate", "--model", tiny_model()});
    const CommandResult result = heed_command(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  };
  EXPECT_EQ(scores({file}), scores({"--pairs", file}));
}

TEST(Usage, ConvertSaysWhatItCanDo) {
  const TestFolder folder;
  const std::vector<std::string> choices{"--weights float16", "--to ctranslate2", "--to huggingface",
                                         "--from marian",     "--from llama2c",   "heed quantize"};
  expect_failure(heed_command({"convert", tiny_model()}), 2, choices);
  const auto note_of = [&](const Arguments& more, const std::string& name) {
    Arguments arguments{"convert", tiny_model(), folder.path(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult result = heed_command(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.err.substr(std::min(result.err.find("note: "), result.err.size()));
  };
  const std::string note = note_of({}, "same");  // nothing was asked for
  for (const std::string& choice : choices) EXPECT_NE(note.find(choice), std::string::npos) << note;
  EXPECT_EQ(note_of({"--weights", "float16"}, "half"), "");
  EXPECT_EQ(note_of({"--to", "ctranslate2"}, "other"), "");
  EXPECT_EQ(note_of({"--quiet"}, "quiet"), "");
}

TEST(Usage, LayersAreCountedFromOne) {
  const TestFolder folder;
  const std::string pairs = folder.write("pairs.tsv", to_tsv(tiny_pairs(2, 5)));
  EXPECT_EQ(heed_command({"align", "--model", tiny_model(), "--pairs", pairs, "--layer", "2"}).status, 0);
  expect_failure(heed_command({"align", "--model", tiny_model(), "--pairs", pairs, "--layer", "3"}), 2,
                 {"no decoder layer 3", "has 2, counted from 1"});
}

TEST(Usage, EveryAlternativeHasItsAlignment) {
  const Arguments arguments{"translate", "--model",     tiny_model(),
                            "--nbest",   "3",           "--beam",
                            "4",         "--alignment", "Der alte Hund sieht den kleinen Baum."};
  const CommandResult result = heed_command(arguments);
  const std::vector<std::string> lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 3u) << result.err;
  for (const std::string& line : lines) {
    const size_t tab = line.find('\t');
    ASSERT_NE(tab, std::string::npos) << line;
    const auto words = 1 + std::count(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(tab), ' ');
    // Words may be unlinked.
    const auto links = std::count(line.begin() + static_cast<std::ptrdiff_t>(tab), line.end(), '-');
    EXPECT_TRUE(links > 0 && links <= words) << line;
  }
  Arguments with_json = arguments;
  with_json.emplace_back("--json");
  const auto json = nlohmann::json::parse(heed_command(with_json).out);
  EXPECT_FALSE(json.at("alignment").empty());
  ASSERT_EQ(json.at("alternatives").size(), 2u);
  for (const auto& alternative : json.at("alternatives")) EXPECT_FALSE(alternative.at("alignment").empty());
}

TEST(Usage, RepeatedTokensAreSelectedByNumber) {
  const std::string text = "Der alte Hund sieht den Hund.";
  const auto query = [&](const std::string& name, const Arguments& more = {}) {
    Arguments arguments{text, "--stack", "encoder", "--words", "--query", name};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return attend(arguments);
  };
  const CommandResult first = query("Hund", {"--quiet"}), second = query("Hund.");
  ASSERT_EQ(first.status, 0) << first.err;
  // As words, "Hund" and "Hund." differ; as pieces both are "Hund".
  const auto piece = [&](const std::string& name) {
    return attend({text, "--stack", "encoder", "--query", name});
  };
  const CommandResult both = piece("Hund");
  ASSERT_EQ(both.status, 0) << both.err;
  EXPECT_NE(both.err.find("this is the first"), std::string::npos) << both.err;
  EXPECT_NE(both.err.find("Hund:2 the second"), std::string::npos) << both.err;
  EXPECT_EQ(piece("Hund:1").out, both.out);
  EXPECT_EQ(piece("Hund:1").err, "");
  EXPECT_NE(piece("Hund:2").out, both.out);
  expect_failure(piece("Hund:3"), 2, {"Hund:3", "occurs 2 times"});
  expect_failure(piece("Katze"), 2, {"Katze", "there is no token"});
  EXPECT_NE(second.out, first.out);
}

// ---- Lines that are compared

TEST(Usage, EvaluateReadsLinesAsSacreBleu) {
  const TestFolder folder;
  const std::string plain = folder.write("plain", "The cat sat on the mat.\n"),
                    marked = folder.write("marked", "\xEF\xBB\xBFThe cat sat on the mat.\n"),
                    trailing = folder.write("trailing", "The cat sat on the mat. \u2028\x0b\r\n");
  const auto bleu = [&](const std::string& hypothesis) {
    return nlohmann::json::parse(
               heed_command({"evaluate", "--hypothesis", hypothesis, "--reference", plain, "--json"}).out)
        .at("bleu")
        .get<double>();
  };
  EXPECT_NEAR(bleu(plain), 100, 1e-9);
  EXPECT_NEAR(bleu(trailing), 100, 1e-9);
  EXPECT_NEAR(bleu(marked), 80.91067115702207,
              1e-9);  // sacreBLEU 2.6: the byte order mark is part of the first word
}

// ---- How long it will take

TEST(Usage, RemainingTime) {
  EXPECT_FALSE(cli::seconds_left(0.9, 0.0002));  // one of 5,000 lines
  EXPECT_FALSE(cli::seconds_left(1.9, 0.5));
  EXPECT_FALSE(cli::seconds_left(10, 0.01));
  EXPECT_FALSE(cli::seconds_left(100, 0));
  EXPECT_FALSE(cli::seconds_left(100, -1));
  EXPECT_FALSE(cli::seconds_left(100, 1));
  EXPECT_NEAR(cli::seconds_left(10, 0.25).value(), 30, 1e-9);
  EXPECT_NEAR(cli::seconds_left(30, 0.01).value(), 2970, 1e-9);
}

}  // namespace
}  // namespace heed
