// Hostile tokenizer files: pipes, devices, dangling links, huge files, and JSON that would exhaust stack or
// time. Every one is an error with the file name.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <ctime>
#include <functional>

#include "base/files/file.h"
#include "test_folder.h"
#include "text/tokenizers/byte_bpe.h"
#include "text/tokenizers/encoder_tokenizer.h"
#include "text/tokenizers/language_tokenizer.h"
#include "text/tokenizers/test_text.h"
#include "text/tokenizers/translation_tokenizer.h"

namespace heed {
namespace {

using std::filesystem::path;

/// A kind of tokenizer: writes its files into a directory, opens one, and the files there are.
struct Kind {
  const char* name;
  std::function<void(const std::string&)> write, open;
  std::vector<std::string> files;
};

const std::vector<Kind>& kinds() {
  const auto text_kind = [](TextTokenizerKind kind) {
    return [kind](const std::string& directory) {
      train_language_tokenizer({.kind = kind, .vocabulary_size = 300}, once("the cat\nthe hat\na bat\n"))
          .save(directory);
    };
  };
  const auto open_text = [](const std::string& directory) { load_language_tokenizer(directory); };
  static const std::vector<Kind> all{
      {"translation",
       [](const std::string& directory) {
         TokenizerTrainOptions options;
         options.source.vocabulary_size = 330;
         TranslationTokenizer::train(options, reader_of(artificial_lines(300, 1)),
                                     reader_of(artificial_lines(300, 2)))
             .save(directory);
       },
       [](const std::string& directory) { TranslationTokenizer::load(directory); },
       {"source.spm", "target.spm", "vocab.json", "tokenizer_config.json"}},
      {"wordpiece",
       [](const std::string& directory) {
         wordpiece_tokenizer({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"}, {}).save(directory);
       },
       [](const std::string& directory) { load_encoder_tokenizer(directory); },
       {"vocab.txt", "tokenizer_config.json"}},
      {"bpe",
       text_kind(TextTokenizerKind::kByteBpe),
       open_text,
       {"vocab.json", "merges.txt", "tokenizer_config.json"}},
      {"characters",
       text_kind(TextTokenizerKind::kCharacters),
       open_text,
       {"vocab.json", "tokenizer_config.json"}},
      {"sentencepiece",
       text_kind(TextTokenizerKind::kSentencePiece),
       open_text,
       {"tokenizer.model", "tokenizer_config.json"}}};
  return all;
}

/// Calls body(kind, directory, file) for each file of each kind, in a directory that is whole but for what
/// body does.
void for_each_file(const std::function<void(const Kind&, const std::string&, const std::string&)>& body) {
  for (const Kind& kind : kinds()) {
    const TestFolder whole;
    kind.write(whole.path());
    EXPECT_NO_THROW(kind.open(whole.path())) << kind.name;
    for (const std::string& file : kind.files) {
      SCOPED_TRACE(fmt::format("{} of {}", file, kind.name));
      const TestFolder copy;
      std::filesystem::copy(whole.path(), copy.path(), std::filesystem::copy_options::recursive);
      body(kind, copy.path(), copy.path(file));
    }
  }
}

void expect_file_refused(const Kind& kind, const std::string& directory, const std::string& part) {
  try {
    kind.open(directory);
    ADD_FAILURE() << "no error; expected one with: " << part;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(HostileTokenizerFiles, PipesAndDevicesAreNotOpened) {
  for_each_file([](const Kind& kind, const std::string& directory, const std::string& file) {
    std::filesystem::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    expect_file_refused(kind, directory, "not a regular file");
    std::filesystem::remove(file);
    std::filesystem::create_symlink("/dev/zero", file);
    expect_file_refused(kind, directory, "not a regular file");
  });
}

TEST(HostileTokenizerFiles, HugeFilesAreNotRead) {
  for_each_file([](const Kind& kind, const std::string& directory, const std::string& file) {
    std::filesystem::resize_file(file, uintmax_t{1} << 40);
    expect_file_refused(kind, directory, "is 67108864");
  });
}

TEST(HostileTokenizerFiles, DanglingLinksAreErrors) {
  for_each_file([](const Kind& kind, const std::string& directory, const std::string& file) {
    std::filesystem::remove(file);
    std::filesystem::create_symlink("nowhere", file);
    expect_file_refused(kind, directory, path(file).filename().string());
  });
}

TEST(HostileTokenizerFiles, DeepOrLongJsonIsRefusedAtOnce) {
  const std::string deep = "{\"extra\": " + std::string(200'000, '[') + std::string(200'000, ']') + "}";
  const std::string object = "{\"vocab\": " + std::string(100'000, ' ');
  std::string keys = "{";
  for (int n = 0; n < 100'000; ++n) keys += fmt::format("\"k{}\": [], ", n);
  keys += "\"tokenizer_class\": 5}";
  const std::clock_t start = std::clock();
  for_each_file([&](const Kind& kind, const std::string& directory, const std::string& file) {
    if (path(file).extension() != ".json") return;
    write_file(file, deep);
    expect_file_refused(kind, directory, path(file).filename().string());
    write_file(file, object);
    expect_file_refused(kind, directory, path(file).filename().string());
    write_file(file, keys);
    try {
      kind.open(directory);  // unknown keys may be skipped, but not in quadratic time
    } catch (const Error&) {
    }
  });
  EXPECT_LT(std::clock() - start, 20 * CLOCKS_PER_SEC) << "of computing";
}

}  // namespace
}  // namespace heed
