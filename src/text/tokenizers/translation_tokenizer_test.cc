#include "text/tokenizers/translation_tokenizer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "heed/error.h"
#include "test_folder.h"
#include "text/readers/vocabulary_json.h"
#include "text/test_cases.h"
#include "text/tokenizers/test_text.h"

namespace heed {
namespace {

/// A directory of its own for each test, removed at the end.
class TranslationTokenizerTest : public testing::Test {
 protected:
  std::string folder() const { return folder_.path(); }

  static TranslationTokenizer train(bool joint = true) {
    TokenizerTrainOptions options;
    options.joint = joint;
    options.source = {.vocabulary_size = 330};
    options.target = {.type = SubwordType::kBpe, .vocabulary_size = 350, .byte_fallback = true};
    options.source_language = "de";
    options.target_language = "en";
    return TranslationTokenizer::train(options, reader_of(artificial_lines(300, 1)),
                                       reader_of(artificial_lines(300, 2)));
  }

  ErrorKind load_error(std::string* message = nullptr) const {
    try {
      TranslationTokenizer::load(folder());
    } catch (const Error& error) {
      if (message) *message = error.what();
      return error.kind();
    }
    ADD_FAILURE() << "no error";
    return ErrorKind::kNumeric;
  }

 private:
  TestFolder folder_;
};

void expect_sound(const Encoding& encoding, const std::string& text) {
  ASSERT_EQ(encoding.ids.size(), encoding.pieces.size());
  ASSERT_EQ(encoding.ids.size(), encoding.spans.size());
  ASSERT_FALSE(encoding.ids.empty());
  std::pair<size_t, size_t> last{0, 0};
  for (const auto& span : encoding.spans) {
    EXPECT_LE(span.first, span.second);
    EXPECT_LE(last.first, span.first);
    EXPECT_LE(last.second, span.second);
    last = span;
  }
  EXPECT_EQ(last, std::make_pair(text.size(), text.size()));
}

TEST_F(TranslationTokenizerTest, LayoutOfIds) {
  for (const bool joint : {true, false}) {
    const TranslationTokenizer tokenizer = train(joint);
    EXPECT_EQ(tokenizer.end_id(), 0);
    EXPECT_EQ(tokenizer.unknown_id(), 1);
    EXPECT_EQ(tokenizer.pad_id(), static_cast<int32_t>(tokenizer.size()) - 1);
    EXPECT_TRUE(tokenizer.vocabulary().find("<0x00>").has_value());
    EXPECT_FALSE(tokenizer.vocabulary().find("<s>").has_value());
    if (joint) {
      EXPECT_EQ(tokenizer.size(), 330u);  // <s> goes, <pad> comes
    }
  }
}

TEST_F(TranslationTokenizerTest, TextToIdsAndBack) {
  for (const bool joint : {true, false}) {
    const TranslationTokenizer tokenizer = train(joint);
    for (const std::string& line : artificial_lines(100, 9)) {
      const Encoding source = tokenizer.encode_source(line), target = tokenizer.encode_target(line);
      expect_sound(source, line);
      EXPECT_EQ(source.ids.back(), tokenizer.end_id());
      EXPECT_EQ(std::count(source.ids.begin(), source.ids.end(), tokenizer.unknown_id()), 0);
      EXPECT_EQ(tokenizer.decode_source(source.ids), line);
      EXPECT_EQ(tokenizer.decode(target.ids), line);
      if (joint) {
        EXPECT_EQ(source.ids, target.ids);
      }
    }
  }
}

TEST_F(TranslationTokenizerTest, AnyTextHasSoundSpansAndDecodes) {
  const TranslationTokenizer tokenizer = train();
  Random random(RandomKey::from_seed(8));
  for (int n = 0; n < 300; ++n) {
    std::string text = random_text(random, 20);
    if (n % 3 == 0) text.insert(random.below(text.size() + 1), 1, static_cast<char>(random.below(256)));
    const Encoding encoding = tokenizer.encode_source(text);
    expect_sound(encoding, text);
    tokenizer.decode(encoding.ids);
  }
}

TEST_F(TranslationTokenizerTest, SpecialTokensInTextAreText) {
  const TranslationTokenizer tokenizer = train();
  const std::string text = "the </s> and <pad> <unk> >>fr<<";
  const Encoding encoding = tokenizer.encode_source(text);
  EXPECT_EQ(std::count(encoding.ids.begin(), encoding.ids.end(), tokenizer.end_id()), 1);
  EXPECT_EQ(std::count(encoding.ids.begin(), encoding.ids.end(), tokenizer.pad_id()), 0);
  EXPECT_EQ(std::count(encoding.ids.begin(), encoding.ids.end(), tokenizer.unknown_id()), 0);
  EXPECT_EQ(tokenizer.decode_source(encoding.ids), text);
}

// Without byte pieces SentencePiece leaves a run of unknown characters in one piece, and that can spell
// anything.
TEST_F(TranslationTokenizerTest, UnknownRunsNeverBecomeSpecial) {
  TokenizerTrainOptions options;
  options.source = {.vocabulary_size = 80, .byte_fallback = false};
  const TranslationTokenizer trained =
      TranslationTokenizer::train(options, reader_of({"xxx yyy xxy", "xy yx"}), reader_of({"xyyx"}));
  trained.save(folder());
  std::string vocabulary = trained.vocabulary().to_json();
  vocabulary.insert(vocabulary.rfind("\n}"), ",\n  \">>fr<<\": " + std::to_string(trained.size()));
  write_file(folder() + "/vocab.json", vocabulary);
  const TranslationTokenizer tokenizer = TranslationTokenizer::load(folder());
  const int32_t code = static_cast<int32_t>(trained.size());
  for (const std::string text : {"x</s>", "x<pad>", "x>>fr<<"}) {
    const Encoding encoding = tokenizer.encode_source(text);
    ASSERT_EQ(encoding.pieces.at(encoding.pieces.size() - 2), text.substr(1));
    EXPECT_EQ(encoding.ids.at(encoding.ids.size() - 2), tokenizer.unknown_id());
  }
  // At the beginning a code that the vocabulary holds is one token.
  const Encoding coded = tokenizer.encode_source(">>fr<< xxx");
  EXPECT_EQ(coded.ids.front(), code);
  EXPECT_EQ(coded.spans.front(), std::make_pair(size_t{0}, size_t{6}));
  EXPECT_EQ(tokenizer.decode_source(std::vector<int32_t>(coded.ids.begin() + 1, coded.ids.end())), "xxx");
  EXPECT_NE(tokenizer.encode_source(">>de<< xxx").ids.front(), code);
  expect_sound(coded, ">>fr<< xxx");
}

TEST_F(TranslationTokenizerTest, TwoVocabularies) {
  const TranslationTokenizer joint = train();
  joint.save(folder());
  // The target has the same pieces with other ids.
  std::vector<std::string> pieces;
  for (size_t id = joint.size(); id-- > 0;)
    pieces.push_back(joint.vocabulary().piece(static_cast<int32_t>(id)));
  pieces.erase(std::find(pieces.begin(), pieces.end(), joint.vocabulary().piece(7)));
  write_file(folder() + "/target_vocab.json", vocabulary_json(pieces));
  write_file(folder() + "/tokenizer_config.json", R"({"separate_vocabs": true})");
  const TranslationTokenizer tokenizer = TranslationTokenizer::load(folder());
  EXPECT_TRUE(tokenizer.has_two_vocabularies());
  EXPECT_FALSE(joint.has_two_vocabularies());
  EXPECT_EQ(tokenizer.source_vocabulary().size(), joint.size());
  EXPECT_EQ(tokenizer.size(), joint.size() - 1);
  EXPECT_EQ(tokenizer.end_id(), static_cast<int32_t>(tokenizer.size()) - 1);
  const std::string text = artificial_lines(1, 4)[0];
  const Encoding source = tokenizer.encode_source(text), target = tokenizer.encode_target(text);
  EXPECT_EQ(source.ids, joint.encode_source(text).ids);
  EXPECT_EQ(target.ids.back(), tokenizer.end_id());
  for (size_t n = 0; n < target.ids.size(); ++n) {
    if (target.ids[n] == tokenizer.unknown_id()) continue;
    EXPECT_EQ(tokenizer.vocabulary().piece(target.ids[n]), target.pieces[n]);
  }
  EXPECT_EQ(tokenizer.decode_source(source.ids), joint.decode_source(source.ids));
  const TestFolder copy;
  tokenizer.save(copy.path());
  EXPECT_EQ(TranslationTokenizer::load(copy.path()).encode_target(text).ids, target.ids);
}

// A model with several target languages needs the code of one; any code at the beginning is one token.
TEST_F(TranslationTokenizerTest, LanguageCodes) {
  const TranslationTokenizer joint = train();
  joint.require_language_code("x");  // no codes, nothing to require
  joint.save(folder());
  std::string vocabulary = joint.vocabulary().to_json();
  vocabulary.insert(vocabulary.rfind("\n}"),
                    fmt::format(",\n  \">>fra<<\": {},\n  \">>spa<<\": {}", joint.size(), joint.size() + 1));
  write_file(folder() + "/vocab.json", vocabulary);
  const TranslationTokenizer tokenizer = TranslationTokenizer::load(folder());
  EXPECT_EQ(tokenizer.encode_source(">>spa<< x").ids.front(), static_cast<int32_t>(joint.size() + 1));
  EXPECT_EQ(tokenizer.encode_source(">>deu<< x").ids.front(), tokenizer.unknown_id());
  EXPECT_EQ(tokenizer.encode_source(">>deu<< x").pieces.front(), ">>deu<<");
  tokenizer.require_language_code(">>fra<< x");
  tokenizer.require_language_code(" ");
  expect_error(ErrorKind::kUsage,
               "choose one with target_language, or begin each line with its code, without a space before it "
               "(>>fra<< >>spa<<)",
               [&] { tokenizer.require_language_code(" >>fra<< x"); });
  expect_error(ErrorKind::kUsage, "the model has no language '>>fre<<'; did you mean '>>fra<<'?",
               [&] { tokenizer.require_language_code(">>fre<< x"); });
  // A chosen language stands before each source, in which codes are text then.
  const TranslationTokenizer chosen = tokenizer.with_languages("", "spa");
  EXPECT_EQ(chosen.target_language(), "spa");
  EXPECT_EQ(tokenizer.with_languages("", "es").target_language(), "spa");
  EXPECT_EQ(chosen.encode_source("x").ids, tokenizer.encode_source(">>spa<< x").ids);
  EXPECT_EQ(chosen.with_languages("", "fra").encode_source("x").ids,
            tokenizer.encode_source(">>fra<< x").ids);
  EXPECT_EQ(chosen.encode_target("x").ids, tokenizer.encode_target("x").ids);
  EXPECT_NE(chosen.encode_source(">>fra<< x").ids[1], tokenizer.encode_source(">>fra<< x").ids[0]);
  chosen.require_language_code("x");
  expect_error(ErrorKind::kUsage,
               "the model has no language 'spe'; did you mean 'spa'?; its languages are fra spa",
               [&] { tokenizer.with_languages("", "spe"); });
  expect_error(ErrorKind::kUsage, "leave out the source language",
               [&] { tokenizer.with_languages("en", "fra"); });
  expect_error(ErrorKind::kUsage, "leave out the source and target language",
               [&] { joint.with_languages("", "fra"); });
}

TEST_F(TranslationTokenizerTest, TruncationKeepsTheEndToken) {
  const TranslationTokenizer tokenizer = train();
  const std::string text = artificial_lines(1, 4)[0] + " " + artificial_lines(1, 5)[0];
  const Encoding whole = tokenizer.encode_source(text);
  for (size_t length = 1; length <= whole.ids.size() + 1; ++length) {
    const Encoding cut = tokenizer.encode_source(text, {.max_length = length});
    expect_sound(cut, text);
    EXPECT_EQ(cut.ids.size(), std::min(length, whole.ids.size()));
    EXPECT_EQ(cut.ids.back(), tokenizer.end_id());
    EXPECT_TRUE(std::equal(cut.ids.begin(), cut.ids.end() - 1, whole.ids.begin()));
  }
}

TEST_F(TranslationTokenizerTest, Sampling) {
  const TranslationTokenizer tokenizer = train();
  Random random(RandomKey::from_seed(1)), same(RandomKey::from_seed(1));
  const std::string text = "the smallest houses walking";
  size_t others = 0;
  for (int n = 0; n < 50; ++n) {
    const auto drawn = tokenizer.sample_source(text, {0.2, 32, 2}, random);
    const auto again = tokenizer.sample_source(text, {0.2, 32, 2}, same);
    ASSERT_EQ(drawn.size(), 2u);
    EXPECT_EQ(drawn[0].ids, again[0].ids);
    EXPECT_EQ(drawn[1].ids, again[1].ids);
    EXPECT_EQ(tokenizer.decode_source(drawn[1].ids), text);
    others += drawn[0].ids != drawn[1].ids;
  }
  EXPECT_GT(others, 10u);
}

TEST_F(TranslationTokenizerTest, SavedAndLoaded) {
  const TranslationTokenizer tokenizer = train(false);
  tokenizer.save(folder());
  const TranslationTokenizer again = TranslationTokenizer::load(folder());
  EXPECT_EQ(again.source_language(), "de");
  EXPECT_EQ(again.target_language(), "en");
  for (const std::string& line : artificial_lines(20, 7)) {
    EXPECT_EQ(again.encode_source(line).ids, tokenizer.encode_source(line).ids);
    EXPECT_EQ(again.encode_target(line).ids, tokenizer.encode_target(line).ids);
  }
  const std::string config = read_file(folder() + "/tokenizer_config.json");
  again.save(folder());
  EXPECT_EQ(read_file(folder() + "/tokenizer_config.json"), config);
  std::filesystem::remove(folder() + "/tokenizer_config.json");  // older models have none
  EXPECT_EQ(TranslationTokenizer::load(folder()).source_language(), "");
}

TEST_F(TranslationTokenizerTest, BrokenDirectoriesAreNamed) {
  EXPECT_EQ(load_error(), ErrorKind::kNotFound);
  train().save(folder());
  std::string message;
  write_file(folder() + "/tokenizer_config.json", R"({"separate_vocabs": true})");
  EXPECT_EQ(load_error(&message), ErrorKind::kNotFound);
  EXPECT_THAT(message, testing::HasSubstr("target_vocab.json"));
  write_file(folder() + "/tokenizer_config.json", R"({"eos_token": 5})");
  EXPECT_EQ(load_error(&message), ErrorKind::kFormat);
  EXPECT_THAT(message, testing::HasSubstr("eos_token"));
  write_file(folder() + "/tokenizer_config.json", R"({"eos_token": {"content": "</s>"}})");
  TranslationTokenizer::load(folder());
  const int32_t end = TranslationTokenizer::load(folder()).end_id();
  write_file(folder() + "/added_tokens.json", fmt::format(R"({{"</s>": {}}})", end));
  TranslationTokenizer::load(folder());
  write_file(folder() + "/added_tokens.json", R"({"<tool>": 9999})");
  EXPECT_EQ(load_error(&message), ErrorKind::kFormat);
  EXPECT_THAT(message, testing::HasSubstr("added_tokens.json: '<tool>' has the id 9999"));
  std::filesystem::remove(folder() + "/added_tokens.json");
  write_file(folder() + "/target.spm", "rubbish");
  EXPECT_EQ(load_error(&message), ErrorKind::kFormat);
  EXPECT_THAT(message, testing::HasSubstr("target.spm"));
  train().save(folder());
  for (const char* file : {"target.spm", "vocab.json", "source.spm"}) {
    std::filesystem::remove(folder() + "/" + file);
    EXPECT_EQ(load_error(&message), ErrorKind::kNotFound);
    EXPECT_THAT(message, testing::HasSubstr(file));
    EXPECT_THAT(message, testing::HasSubstr("complete the download of the model"));
  }
}

class MarianFixture : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder_ / "case.json"))
      GTEST_SKIP() << "no fixtures in " << fixtures_folder();
    case_ = read_json(folder_ / "case.json");
    tokenizer_ = TranslationTokenizer::load((folder_ / "model").string());
  }
  using Ids = std::vector<int32_t>;
  std::filesystem::path folder_ = fixtures_folder() / "marian";
  nlohmann::json case_;
  std::optional<TranslationTokenizer> tokenizer_;
};

TEST_F(MarianFixture, SpecialIds) {
  const auto& settings = case_["hyperparameters"];
  EXPECT_EQ(tokenizer_->size(), settings["vocabulary"].get<size_t>());
  EXPECT_EQ(tokenizer_->end_id(), settings["end_id"].get<int32_t>());
  EXPECT_EQ(tokenizer_->unknown_id(), settings["unknown_id"].get<int32_t>());
  EXPECT_EQ(tokenizer_->pad_id(), settings["padding_id"].get<int32_t>());
}

TEST_F(MarianFixture, SourceTokens) {
  ASSERT_FALSE(case_["source_tokens"]["rows"].empty());
  for (const auto& row : case_["source_tokens"]["rows"]) {
    const auto text = row["text"].get<std::string>();
    Encoding encoding = tokenizer_->encode_source(text);
    expect_sound(encoding, text);
    EXPECT_EQ(encoding.ids, row["ids"].get<Ids>()) << text;
    EXPECT_EQ(tokenizer_->decode(encoding.ids), row["decoded"].get<std::string>());
    encoding.pieces.pop_back();
    EXPECT_EQ(encoding.pieces, row["pieces"].get<std::vector<std::string>>()) << text;
  }
}

TEST_F(MarianFixture, TargetTokens) {
  ASSERT_FALSE(case_["target_tokens"]["rows"].empty());
  for (const auto& row : case_["target_tokens"]["rows"]) {
    const auto text = row["text"].get<std::string>();
    EXPECT_EQ(tokenizer_->encode_target(text).ids, row["ids"].get<Ids>()) << text;
  }
}

TEST_F(MarianFixture, TruncatedTokens) {
  const auto& truncated = case_["truncated_tokens"];
  ASSERT_FALSE(truncated["rows"].empty());
  for (const auto& row : truncated["rows"]) {
    const auto encoding = tokenizer_->encode_source(row["text"].get<std::string>(),
                                                    {.max_length = truncated["max_length"].get<size_t>()});
    EXPECT_EQ(encoding.ids, row["ids"].get<Ids>());
  }
}

}  // namespace
}  // namespace heed
