// Tokenizers of other families than Marian: special tokens around texts, languages, and files.
#include "text/tokenizers/family_tokenizers.h"
#include "text/readers/vocabulary_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "test_folder.h"
#include "text/sentences/language_codes.h"
#include "text/test_cases.h"
#include "text/tokenizers/test_text.h"
#include "text/tokenizers/translation_tokenizer.h"
#include "text/training/test_sentencepiece_model.h"

namespace heed {
namespace {

using testing::ElementsAre;

/// A directory of M2M-100: a BPE model, whose vocabulary has another order.
class FamilyTokenizers : public testing::Test {
 protected:
  void SetUp() override {
    SentencePieceTrainOptions options;
    options.type = SubwordType::kBpe;
    options.vocabulary_size = 150;
    options.byte_fallback = false;
    model_ = SentencePieceModel::train(options, reader_of(artificial_lines(300, 1)));
    folder_.write("sentencepiece.bpe.model", model_);
    const auto model = SentencePieceModel::from_bytes(model_, "model");
    pieces_ = {"<s>", "<pad>", "</s>", "<unk>"};
    for (int n = model.size() - 1; n >= 3; --n) pieces_.push_back(model.piece(n));
    folder_.write("vocab.json", vocabulary_json(pieces_));
  }
  void configure(const std::string& tokenizer_config) {
    folder_.write("tokenizer_config.json", tokenizer_config);
  }
  TranslationTokenizer load() const { return TranslationTokenizer::load(folder_.path()); }

  TestFolder folder_;
  std::string model_;
  std::vector<std::string> pieces_;
};

TEST_F(FamilyTokenizers, M2m100NumbersItsLanguages) {
  configure(R"({"tokenizer_class": "M2M100Tokenizer", "src_lang": "fr", "tgt_lang": "zu"})");
  const TranslationTokenizer tokenizer = load();
  const auto first = static_cast<int32_t>(pieces_.size());
  ASSERT_EQ(tokenizer.languages().size(), 100);
  EXPECT_EQ(tokenizer.vocabulary().id("__af__"), first);
  EXPECT_EQ(tokenizer.vocabulary().id("__zu__"), first + 99);
  EXPECT_EQ(tokenizer.size(), pieces_.size() + 108);
  const std::string text = artificial_lines(1, 1)[0];
  const Encoding source = tokenizer.encode_source(text), target = tokenizer.encode_target(text);
  EXPECT_EQ(source.pieces.front(), "__fr__");
  EXPECT_EQ(target.ids.front(), first + 99);
  EXPECT_EQ(source.ids.back(), 2);
  EXPECT_EQ(source.spans.front(), std::make_pair(size_t{0}, size_t{0}));
  EXPECT_EQ(tokenizer.decode(target.ids), text);
  EXPECT_EQ(tokenizer.target_phrase(text),
            std::vector<int32_t>(target.ids.begin() + 1, target.ids.end() - 1));
  EXPECT_EQ(tokenizer.tokens_around_source(), 2);
  EXPECT_EQ(tokenizer.encode_source(text, {.max_length = 4}).ids.size(), 4);
  tokenizer.require_language_code(text);
}

TEST_F(FamilyTokenizers, LanguagesByName) {
  configure(R"({"tokenizer_class": "M2M100Tokenizer"})");
  const TranslationTokenizer without = load();
  EXPECT_EQ(without.source_language(), "en");
  EXPECT_EQ(without.encode_source("x").pieces.front(), "__en__");
  EXPECT_FALSE(without.first_target_id());
  expect_error(ErrorKind::kUsage, "choose one with target_language (af am ar",
               [&] { without.require_language_code("x"); });
  const TranslationTokenizer chosen = without.with_languages("da", "de");
  EXPECT_EQ(chosen.encode_source("x").pieces.front(), "__da__");
  EXPECT_EQ(chosen.encode_target("x").pieces.front(), "__de__");
  EXPECT_EQ(chosen.with_languages("", "nl").encode_source("x").pieces.front(), "__da__");
  EXPECT_EQ(chosen.with_languages("eng", "deu_Latn").source_language(), "en");
  EXPECT_EQ(chosen.with_languages("eng", "deu_Latn").encode_target("x").pieces.front(), "__de__");
  expect_error(ErrorKind::kUsage, "no language 'dex'", [&] { chosen.with_languages("", "dex"); });
  EXPECT_EQ(language_of_token("deu_Latn"), "deu_Latn");
  EXPECT_EQ(language_of_token("__fr__"), "fr");
  EXPECT_EQ(language_of_token("<extra_id_0>"), "");
  EXPECT_EQ(language_of_token("mask_"), "");
}

// Rows of the model's embedding that no token has are special tokens without text.
TEST_F(FamilyTokenizers, EveryRowOfTheModelHasAPiece) {
  configure(R"({"tokenizer_class": "M2M100Tokenizer", "tgt_lang": "de", "num_madeup_words": 0})");
  const size_t tokens = load().size();
  folder_.write("config.json", R"({"vocab_size": )" + std::to_string(tokens + 3) + "}");
  const TranslationTokenizer tokenizer = load();
  EXPECT_EQ(tokenizer.size(), tokens + 3);
  const std::vector<int32_t> ids{static_cast<int32_t>(tokens) + 2, 2};
  EXPECT_EQ(tokenizer.decode(ids), "");
}

TEST_F(FamilyTokenizers, MbartEndsSourcesWithTheirLanguage) {
  std::filesystem::remove(folder_.path("vocab.json"));
  configure(R"({"tokenizer_class": "MBartTokenizer", "src_lang": "fr_XX"})");
  const TranslationTokenizer tokenizer = load();
  EXPECT_EQ(tokenizer.languages().size(), 25);
  const Encoding source = tokenizer.encode_source(artificial_lines(1, 1)[0]);
  EXPECT_EQ(source.pieces.back(), "fr_XX");
  EXPECT_EQ(source.ids.at(source.ids.size() - 2), 2);
  // Ids are one higher than those of the model.
  const auto model = SentencePieceModel::from_bytes(model_, "model");
  EXPECT_EQ(model.piece(source.ids.front() - 1), source.pieces.front());
  expect_error(ErrorKind::kUsage, "decoder_start_token_id", [&] { tokenizer.with_languages("", "de_DE"); });
  configure(R"({"tokenizer_class": "MBart50TokenizerFast", "tgt_lang": "de_DE"})");
  EXPECT_EQ(load().encode_source("x").pieces.front(), "en_XX");
  EXPECT_EQ(load().encode_target("x").pieces.front(), "de_DE");
  EXPECT_EQ(load().languages().size(), 52);
  configure("{}");
  expect_error(ErrorKind::kFormat, "'tokenizer_class'", [&] { load(); });
  folder_.write("config.json", R"({"model_type": "mbart"})");
  EXPECT_EQ(load().languages().size(), 25);
  folder_.write("config.json", R"({"model_type": "mbart", "tokenizer_class": "MBart50Tokenizer"})");
  EXPECT_EQ(load().languages().size(), 52);
}

/// A directory with a tokenizer.json whose post_processor puts `code` behind a source, or before it.
class FamilyFrames : public testing::Test {
 protected:
  void write(const std::vector<std::string>& languages, bool behind) const {
    using nlohmann::json;
    std::vector<std::string> pieces{"<s>", "<pad>", "</s>", "<unk>", "\u2581x"};
    json added = json::array(), vocabulary = json::object();
    pieces.insert(pieces.end(), languages.begin(), languages.end());
    for (size_t id = 0; id < pieces.size(); ++id) {
      vocabulary[pieces[id]] = id;
      if (id != 4) added.push_back({{"id", id}, {"content", pieces[id]}, {"special", true}});
    }
    const auto token = [](const std::string& name) {
      return json{{"SpecialToken", {{"id", name}, {"type_id", 0}}}};
    };
    const auto text = [](const char* name) { return json{{"Sequence", {{"id", name}, {"type_id", 0}}}}; };
    const json end = token("</s>"), language = token(languages[0]);
    json tokens = json::object();
    for (const std::string& name : {std::string("</s>"), languages[0]}) {
      tokens[name] = {
          {"id", name}, {"ids", json::array({vocabulary[name]})}, {"tokens", json::array({name})}};
    }
    json single = json::array({text("A"), end}), pair = json::array({text("A"), text("B"), end});
    for (json* each : {&single, &pair}) each->insert(behind ? each->end() : each->begin(), language);
    const json metaspace{{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}};
    const json file{
        {"added_tokens", added},
        {"pre_tokenizer", metaspace},
        {"post_processor",
         {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", tokens}}},
        {"decoder", metaspace},
        {"model", {{"type", "WordLevel"}, {"unk_token", "<unk>"}, {"vocab", vocabulary}}}};
    folder_.write("tokenizer.json", file.dump());
  }
  /// The pieces of a source with these configs.
  std::vector<std::string> pieces(const std::string& tokenizer_config,
                                  const std::string& config = "{}") const {
    folder_.write("tokenizer_config.json", tokenizer_config);
    folder_.write("config.json", config);
    return load().encode_source("x").pieces;
  }
  TranslationTokenizer load() const { return TranslationTokenizer::load(folder_.path()); }

  TestFolder folder_;
};

// As NllbTokenizer of transformers 4.57 and 5.23, whatever the post_processor of the file says: transformers
// before 4.28 wrote that of the legacy behaviour.
TEST_F(FamilyFrames, NllbBeginsSourcesWithTheirLanguage) {
  for (const bool behind : {true, false}) {
    write({"fra_Latn", "eng_Latn", "deu_Latn"}, behind);
    for (const char* name : {"NllbTokenizer", "NllbTokenizerFast"}) {
      const std::string own = "\"tokenizer_class\": \"" + std::string(name) + "\"";
      EXPECT_THAT(pieces("{" + own + "}"), ElementsAre("eng_Latn", "\u2581x", "</s>"));
      EXPECT_THAT(pieces("{" + own + R"(, "src_lang": "deu_Latn", "legacy_behaviour": false})"),
                  ElementsAre("deu_Latn", "\u2581x", "</s>"));
      EXPECT_THAT(pieces("{" + own + R"(, "legacy_behaviour": true})"),
                  ElementsAre("\u2581x", "</s>", "eng_Latn"));
    }
    for (const char* config : {"{}", R"({"model_type": "m2m_100"})"}) {  // by its languages
      EXPECT_THAT(pieces("{}", config), ElementsAre("eng_Latn", "\u2581x", "</s>"));
    }
  }
}

TEST_F(FamilyFrames, GenericClassesFollowTheFile) {
  write({"fra_Latn", "eng_Latn"}, true);
  EXPECT_THAT(pieces(R"({"tokenizer_class": "PreTrainedTokenizerFast"})"),
              ElementsAre("\u2581x", "</s>", "fra_Latn"));
  EXPECT_THAT(pieces(R"({"tokenizer_class": "TokenizersBackend"})"),
              ElementsAre("\u2581x", "</s>", "fra_Latn"));
}

// AutoTokenizer takes the class of tokenizer_config.json, else of config.json, else of the model_type.
TEST_F(FamilyFrames, MbartAndMbart50HaveTheirClass) {
  const std::string mbart = R"({"model_type": "mbart"})",
                    of_50 = R"({"tokenizer_class": "MBart50Tokenizer"})";
  for (const bool behind : {true, false}) {
    write({"de_DE", "en_XX"}, behind);
    EXPECT_THAT(pieces("{}", mbart), ElementsAre("\u2581x", "</s>", "en_XX"));
    EXPECT_FALSE(load().target_begins_with_language());
    EXPECT_THAT(pieces(of_50, mbart), ElementsAre("en_XX", "\u2581x", "</s>"));
    EXPECT_THAT(pieces(R"({"tokenizer_class": "MBartTokenizerFast"})", of_50),
                ElementsAre("\u2581x", "</s>", "en_XX"));
    EXPECT_THAT(pieces("{}", of_50), ElementsAre("en_XX", "\u2581x", "</s>"));
    EXPECT_TRUE(load().target_begins_with_language());
    // A copy of the tokenizer names its class itself.
    const TestFolder copy;
    load().save(copy.path());
    copy.write("config.json", mbart);
    EXPECT_THAT(TranslationTokenizer::load(copy.path()).encode_source("x").pieces,
                ElementsAre("en_XX", "\u2581x", "</s>"));
  }
}

TEST_F(FamilyTokenizers, T5HasSentinels) {
  std::filesystem::remove(folder_.path("vocab.json"));
  std::filesystem::rename(folder_.path("sentencepiece.bpe.model"), folder_.path("spiece.model"));
  configure(R"({"pad_token": "<s>", "extra_ids": 5})");
  const TranslationTokenizer tokenizer = load();
  EXPECT_EQ(tokenizer.vocabulary().piece(static_cast<int32_t>(tokenizer.size()) - 1), "<extra_id_0>");
  EXPECT_EQ(tokenizer.encode_source("").ids, std::vector<int32_t>{tokenizer.end_id()});
  EXPECT_TRUE(tokenizer.languages().empty());
  tokenizer.require_language_code("x");
  const std::string text = artificial_lines(1, 1)[0];
  std::vector<int32_t> expected = tokenizer.encode_source(text).ids;
  expected.insert(expected.begin(), static_cast<int32_t>(tokenizer.size()) - 2);
  EXPECT_EQ(tokenizer.encode_source(" <extra_id_1> " + text).ids, expected);
}

TEST_F(FamilyTokenizers, RefusedByName) {
  configure(R"({"language_codes": "mars"})");
  expect_error(ErrorKind::kFormat, "'language_codes'", [&] { load(); });
  configure(R"({"additional_special_tokens": ["<new>"]})");
  expect_error(ErrorKind::kFormat, "has the token '<new>'", [&] { load(); });
  configure(R"({"additional_special_tokens": [{"content": 5}]})");
  expect_error(ErrorKind::kFormat, "has the token '{\"content\":5}'", [&] { load(); });
  configure(R"({"cutting": true})");
  expect_error(ErrorKind::kFormat, "'cutting'", [&] { load(); });
}

TEST_F(FamilyTokenizers, AreSavedWithAllFiles) {
  configure(R"({"tokenizer_class": "M2M100Tokenizer", "tgt_lang": "de"})");
  const TestFolder copy;
  load().save(copy.path());
  EXPECT_EQ(TranslationTokenizer::load(copy.path()).encode_target("abc").ids,
            load().encode_target("abc").ids);
}

}  // namespace
}  // namespace heed
