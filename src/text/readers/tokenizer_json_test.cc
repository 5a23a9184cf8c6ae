// tokenizer.json against Hugging Face's libraries: golden cases of this project (golden/make_tokenizers.py),
// the reference cases beside it where they are, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "test_folder.h"
#include "text/readers/tokenizer_json.h"
#include "text/test_cases.h"
#include "text/tokenizers/encoder_tokenizer.h"
#include "text/tokenizers/language_tokenizer.h"
#include "text/tokenizers/test_text.h"

namespace heed {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<int32_t>;

std::filesystem::path tokenizers_folder() {
  return golden_folder() / "tokenizers";
}

Ids ids_of(const Json& json) {
  return json.get<Ids>();
}

/// The ids of a text, after the start token if every text has one.
Ids with_start(const ModelTokenizer& tokenizer, std::string_view text, bool special) {
  Ids ids = tokenizer.ids(text, {.special_tokens = special});
  if (tokenizer.starts_every_text()) ids.insert(ids.begin(), *tokenizer.start_id());
  return ids;
}

TEST(TokenizerJson, GoldenCases) {
  int texts = 0;
  for (const auto& file : case_files(tokenizers_folder())) {
    const Json json = read_json(file);
    const std::string recipe = json.value("recipe", "");
    if (recipe.empty()) continue;  // one of Heed's own
    SCOPED_TRACE(file);
    const std::string folder = file.parent_path().string();
    if (recipe == "wordpiece") {
      const ModelTokenizer tokenizer = load_encoder_tokenizer(folder);
      for (const Json& each : json["texts"]) {
        const auto text = each["text"].get<std::string>();
        EXPECT_EQ(tokenizer.encode(text).ids, ids_of(each["ids"])) << text;
        EXPECT_EQ(tokenizer.decode(ids_of(each["ids"])), each["decoded"].get<std::string>()) << text;
        ++texts;
      }
      for (const Json& each : json["pairs"]) {
        const auto encoding =
            tokenizer.encode(each["first"].get<std::string>(), each["second"].get<std::string>());
        EXPECT_EQ(encoding.ids, ids_of(each["ids"]));
        EXPECT_EQ(encoding.types, ids_of(each["types"]));
      }
      continue;
    }
    const auto tokenizer = load_language_tokenizer(folder);
    for (const Json& each : json["texts"]) {
      const auto text = each["text"].get<std::string>();
      EXPECT_EQ(with_start(tokenizer, text, false), ids_of(each["ids"])) << text;
      EXPECT_EQ(with_start(tokenizer, "x</s> " + text + "<|endoftext|>y", true), ids_of(each["special_ids"]))
          << text;
      EXPECT_EQ(tokenizer.text_of(ids_of(each["ids"])), each["decoded"].get<std::string>()) << text;
      ++texts;
    }
  }
  EXPECT_GT(texts, 500);
}

TEST(TokenizerJson, SpansAreThoseOfTheText) {
  for (const char* name : {"byte_bpe", "marked_prepend", "marked_first"}) {
    const auto tokenizer = load_language_tokenizer((tokenizers_folder() / name).string());
    Random random(RandomKey::from_seed(3));
    for (int n = 0; n < 200; ++n) {
      const std::string text = random_text(random, 30);
      size_t at = 0;
      for (const auto& [begin, end] : tokenizer.tokens(text).spans) {
        EXPECT_LE(at, end) << text;
        EXPECT_LE(begin, end) << text;
        at = end;
      }
      EXPECT_EQ(at, text.size()) << text;
    }
  }
}

/// The reference cases that are language models.
TEST(TokenizerJson, ReferenceCasesOfLanguageModels) {
  const std::filesystem::path folder = families_folder() / "tokenizer_json";
  if (case_files(folder).empty()) GTEST_SKIP() << "no cases in " << folder;
  for (const char* name : {"gpt2", "smollm2", "llama3", "qwen2", "llama2", "llama2_metaspace", "gemma"}) {
    SCOPED_TRACE(name);
    const Json json = read_json(folder / name / "case.json");
    const auto tokenizer = load_language_tokenizer((folder / name / "model").string());
    ASSERT_FALSE(json["texts"].empty());
    for (const Json& each : json["texts"]) {
      const auto text = each["text"].get<std::string>();
      EXPECT_EQ(with_start(tokenizer, text, true), ids_of(each["ids"])) << text;
      EXPECT_EQ(tokenizer.text_of(ids_of(each["ids"])), each["decoded_plain"].get<std::string>()) << text;
    }
  }
}

/// The reference cases that are encoders. Special tokens that a text spells are text here.
TEST(TokenizerJson, ReferenceCasesOfEncoders) {
  const std::filesystem::path folder = families_folder() / "tokenizer_json";
  if (case_files(folder).empty()) GTEST_SKIP() << "no cases in " << folder;
  for (const char* name : {"bert_uncased", "bert_cased", "mpnet", "roberta", "roberta_prefix_space",
                           "xlm_roberta", "modernbert"}) {
    SCOPED_TRACE(name);
    const Json json = read_json(folder / name / "case.json");
    const std::string model = (folder / name / "model").string();
    const ModelTokenizer tokenizer = load_encoder_tokenizer(model);
    const TokenizerJson description = read_tokenizer_json(model + "/tokenizer.json");
    int compared = 0;
    for (const Json& each : json["texts"]) {
      const auto text = each["text"].get<std::string>();
      const bool spells =
          std::any_of(description.added.begin(), description.added.end(), [&](const AddedToken& token) {
            return token.special && text.find(token.content) != std::string::npos;
          });
      if (spells) continue;
      const Encoding encoding = tokenizer.encode(text);
      EXPECT_EQ(encoding.ids, ids_of(each["ids"])) << text;
      EXPECT_EQ(encoding.pieces, each["tokens"].get<std::vector<std::string>>()) << text;
      EXPECT_EQ(encoding.spans.size(), encoding.ids.size());
      EXPECT_EQ(tokenizer.decode(encoding.ids), each["decoded_plain"].get<std::string>()) << text;
      ++compared;
    }
    EXPECT_GT(compared, 100);
    for (const Json& each : json["pairs"]) {
      const auto encoding =
          tokenizer.encode(each["first"].get<std::string>(), each["second"].get<std::string>());
      EXPECT_EQ(encoding.ids, ids_of(each["ids"]));
      EXPECT_EQ(encoding.types, ids_of(each["types"]));
    }
    EXPECT_TRUE(tokenizer.mask_id().has_value());
    const TestFolder copy;
    tokenizer.save(copy.path());
    const ModelTokenizer again = load_encoder_tokenizer(copy.path());
    EXPECT_EQ(again.encode("Naïve test, 12!").ids, tokenizer.encode("Naïve test, 12!").ids);
    EXPECT_EQ(again.vocabulary().pad_id(), tokenizer.vocabulary().pad_id());
  }
}

// ---- What is refused ----

/// Opens a changed copy of a golden tokenizer and expects an error with `part`.
void expect_change_refused(const std::string& name, const std::function<void(Json&)>& change,
                           const std::string& part, const std::string& config = "") {
  const TestFolder folder;
  Json json = read_json(tokenizers_folder() / name / "tokenizer.json");
  change(json);
  folder.write("tokenizer.json", json.dump());
  if (!config.empty()) folder.write("tokenizer_config.json", config);
  const auto open = [&] {
    name.starts_with("wordpiece") ? void(load_encoder_tokenizer(folder.path()))
                                  : void(load_language_tokenizer(folder.path()));
  };
  if (part.empty()) {
    EXPECT_NO_THROW(open());
  } else {
    expect_error(ErrorKind::kFormat, part, open);
    expect_error(ErrorKind::kFormat, "tokenizer.json", open);
  }
}

const auto nothing = [](Json&) {};

TEST(TokenizerJson, UnsupportedComponentsAreNamed) {
  const auto set = [](const char* pointer, Json value) {
    return [pointer, value = std::move(value)](Json& json) { json[Json::json_pointer(pointer)] = value; };
  };
  expect_change_refused("byte_bpe", nothing, "");
  expect_change_refused("byte_bpe", set("/normalizer", {{"type", "NFC"}}), "");
  expect_change_refused("byte_bpe", set("/normalizer", {{"type", "NFX"}}),
                        R"(the normalizer {"type":"NFX"} is not supported)");
  expect_change_refused(
      "byte_bpe",
      set("/pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {{{"type", "Sylables"}, {"n", 2}}}}}),
      R"(the pre_tokenizer {"n":2,"type":"Sylables"} is not supported)");
  expect_change_refused("byte_bpe", set("/pre_tokenizer/extra", 1), "does not know its setting \"extra\"");
  expect_change_refused("byte_bpe", set("/model/dropout", 0.1), "\"dropout\" must be null or 0");
  expect_change_refused("byte_bpe", set("/model/type", "Trigram"),
                        "models are BPE, Unigram, WordPiece and WordLevel");
  expect_change_refused("byte_bpe", set("/decoder", {{"type", "Guess"}}),
                        R"(the decoder {"type":"Guess"} is not)");
  expect_change_refused("byte_bpe", set("/post_processor", {{"type", "BertProcessing"}}),
                        "the post_processor {\"type\":\"BertProcessing\"} is damaged");
  expect_change_refused("byte_bpe", set("/post_processor", {{"type", "PadProcessing"}}),
                        R"(the post_processor {"type":"PadProcessing"} is not supported)");
  // What a language model cannot use.
  expect_change_refused("byte_bpe",
                        set("/decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}),
                        "is not supported in a language model, which needs the text of single tokens");
  expect_change_refused("byte_bpe", set("/decoder", nullptr), "there is no decoder");
  expect_change_refused("marked_prepend", nothing, "");
  expect_change_refused("marked_prepend", set("/post_processor/single/0/SpecialToken/id", "</s>"),
                        "special_tokens");
  expect_change_refused(
      "marked_prepend",
      [](Json& json) { std::swap(json["post_processor"]["single"][0], json["post_processor"]["single"][1]); },
      "it may add one token before a text, and none after it");
  expect_change_refused("marked_first", set("/pre_tokenizer/prepend_scheme", "sometimes"), "prepend_scheme");
  expect_change_refused("wordpiece_lower", nothing, "");
  expect_change_refused("wordpiece_lower", set("/normalizer/clean_text", false), "");
  expect_change_refused("wordpiece_lower", set("/normalizer/remove", "x"),
                        "does not know its setting \"remove\"");
  expect_change_refused("wordpiece_lower", set("/post_processor", nullptr),
                        "puts no tokens before and after a text");
  expect_change_refused("wordpiece_lower", set("/added_tokens/4/content", "[unused1]"), "[unused1]");
}

TEST(TokenizerJson, ContradictionsAreRefused) {
  expect_change_refused("marked_prepend", nothing, "\"add_bos_token\" is false",
                        R"({"add_bos_token": false})");
  expect_change_refused("marked_prepend", nothing, "\"add_eos_token\" is true", R"({"add_eos_token": true})");
  expect_change_refused("marked_prepend", nothing, "\"add_prefix_space\" is false",
                        R"({"add_prefix_space": false})");
  expect_change_refused("marked_prepend", nothing, "",
                        R"({"add_bos_token": true, "add_prefix_space": true, "eos_token": "</s>"})");
  expect_change_refused("byte_bpe", nothing, "\"add_prefix_space\" is true", R"({"add_prefix_space": true})");
  expect_change_refused("byte_bpe", nothing, "the token '<x>' with the id 3",
                        R"({"added_tokens_decoder": {"3": {"content": "<x>", "special": true}}})");
  expect_change_refused("wordpiece_lower", nothing, "contradicts \"do_lower_case\": false",
                        R"({"do_lower_case": false})");
  expect_change_refused("wordpiece_cased", nothing, "", R"({"do_lower_case": false})");
  expect_change_refused(
      "wordpiece_cased",
      [](Json& json) {
        json["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", true}};
      },
      "contradicts \"add_prefix_space\": false", R"({"add_prefix_space": false})");
}

// In transformers 4.57 and 5.23 such a class overrides tokenizer.json.
TEST(TokenizerJson, DefaultsOfAClassCount) {
  const auto normalizer = [](const char* key, bool value) {
    return [=](Json& json) { json["normalizer"][key] = value; };
  };
  const std::string bert = R"({"tokenizer_class": "BertTokenizer"})";
  expect_change_refused("wordpiece_cased", nothing,
                        "contradicts \"do_lower_case\": true by default in BertTokenizer, which", bert);
  expect_change_refused("wordpiece_cased", nothing, "true by default in DistilBertTokenizerFast",
                        R"({"tokenizer_class": "DistilBertTokenizerFast", "do_lower_case": null})");
  expect_change_refused("wordpiece_lower", normalizer("strip_accents", false),
                        "contradicts \"strip_accents\": true by default", bert);
  expect_change_refused("wordpiece_lower", normalizer("handle_chinese_chars", false),
                        "contradicts \"tokenize_chinese_chars\": true by default", bert);
  expect_change_refused("wordpiece_lower", nothing, "", bert);
  expect_change_refused("wordpiece_lower", normalizer("strip_accents", true), "", bert);
  expect_change_refused("wordpiece_cased", normalizer("strip_accents", false), "",
                        R"({"tokenizer_class": "BertTokenizer", "do_lower_case": false})");
  const auto add_space = [](Json& json) { json["pre_tokenizer"]["add_prefix_space"] = true; };
  expect_change_refused("byte_bpe", add_space,
                        "contradicts \"add_prefix_space\": false by default in GPT2Tokenizer, which",
                        R"({"tokenizer_class": "GPT2Tokenizer"})");
  expect_change_refused("byte_bpe", add_space, "",
                        R"({"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": true})");
  expect_change_refused("byte_bpe", nothing, "", R"({"tokenizer_class": "GPT2Tokenizer"})");
}

// Classes that follow the file, and steps in a sequence, which a class does not change.
TEST(TokenizerJson, OtherClassesHaveNoDefaults) {
  const auto in_sequence = [](const char* part, const char* list) {
    return [=](Json& json) {
      Json& steps = json[part];
      if (steps.contains("add_prefix_space")) steps["add_prefix_space"] = true;
      const Json other = steps["type"] == "ByteLevel" ? Json{{"type", "Digits"}, {"individual_digits", true}}
                                                      : Json{{"type", "NFC"}};
      steps = {{"type", "Sequence"}, {list, {other, steps}}};
    };
  };
  for (const char* config :
       {"{}", R"({"tokenizer_class": null})", R"({"tokenizer_class": "PreTrainedTokenizerFast"})",
        R"({"tokenizer_class": "TokenizersBackend"})"}) {
    expect_change_refused("wordpiece_cased", nothing, "", config);
    expect_change_refused(
        "byte_bpe", [](Json& json) { json["pre_tokenizer"]["add_prefix_space"] = true; }, "", config);
  }
  expect_change_refused("wordpiece_cased", in_sequence("normalizer", "normalizers"), "",
                        R"({"tokenizer_class": "BertTokenizer"})");
  expect_change_refused("byte_bpe", in_sequence("pre_tokenizer", "pretokenizers"), "",
                        R"({"tokenizer_class": "GPT2Tokenizer"})");
}

TEST(TokenizerJson, DamagedFilesAreRefused) {
  expect_change_refused(
      "byte_bpe", [](Json& json) { json["model"]["vocab"]["!"] = 99999; }, "has the id 99999");
  expect_change_refused(
      "byte_bpe", [](Json& json) { json["model"]["vocab"]["!"] = 2; }, "has the id 2, as");
  expect_change_refused(
      "byte_bpe", [](Json& json) { json["model"]["vocab"]["!"] = "x"; }, "not a non-negative integer");
  expect_change_refused(
      "byte_bpe",
      [](Json& json) {
        json["model"]["merges"][0] = Json{"q", "☃"};
      },
      "lacks the second");
  expect_change_refused(
      "byte_bpe", [](Json& json) { json["model"]["merges"][0] = 5; }, "merge 1 is not two pieces");
  expect_change_refused(
      "byte_bpe", [](Json& json) { json["added_tokens"][0]["id"] = 7; }, "among the added tokens");
  expect_change_refused(
      "byte_bpe", [](Json& json) { json.erase("model"); }, "'model' is missing");
}

TEST(TokenizerJson, HasTheSideOfTruncation) {
  const auto truncates_left = [](const Json& truncation) {
    const Json json{{"truncation", truncation}, {"model", {{"type", "WordLevel"}, {"vocab", {{"a", 0}}}}}};
    const TestFolder folder;
    folder.write("tokenizer.json", json.dump());
    return read_tokenizer_json(folder.path("tokenizer.json")).truncates_left;
  };
  EXPECT_TRUE(truncates_left({{"direction", "Left"}, {"max_length", 8}}));
  EXPECT_FALSE(truncates_left({{"direction", "Right"}, {"max_length", 8}}));
  EXPECT_FALSE(truncates_left(nullptr));
}

TEST(TokenizerJson, TakesPrecedenceOverOtherFiles) {
  // As SmolLM2's: vocab.json and merges.txt do not say that digits stand alone.
  const TestFolder folder;
  train_language_tokenizer({.kind = TextTokenizerKind::kByteBpe, .vocabulary_size = 270},
                           [given = false](std::string& text) mutable {
                             text = "12 12 12 12";
                             return !std::exchange(given, true);
                           })
      .save(folder.path());
  const Ids joined = load_language_tokenizer(folder.path()).ids("12 12");
  Json json = read_json(tokenizers_folder() / "byte_bpe" / "tokenizer.json");
  json["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers", {{{"type", "Digits"}, {"individual_digits", true}}, json["pre_tokenizer"]}}};
  folder.write("tokenizer.json", json.dump());
  const auto tokenizer = load_language_tokenizer(folder.path());
  const auto encoding = tokenizer.tokens("12 12");
  EXPECT_NE(encoding.ids, joined);
  EXPECT_THAT(encoding.pieces, testing::ElementsAre("1", "2", "▁", "1", "2"));
}

// ---- What Heed writes ----

ModelTokenizer own_tokenizer(const std::string& name) {
  std::string text;
  for (const std::string& line : artificial_lines(400, 11)) text += line + "\n";
  text += "  indented\n\tand a tab 1234567890 <b> </s>\n";
  using enum TextTokenizerKind;
  TextTokenizerOptions options{.kind = name == "bytes"        ? kBytes
                                       : name == "characters" ? kCharacters
                                                              : kSentencePiece,
                               .vocabulary_size = 400,
                               .subwords = name == "unigram" ? SubwordType::kUnigram : SubwordType::kBpe};
  return train_language_tokenizer(options, [text, given = false](std::string& stretch) mutable {
    stretch = text;
    return !std::exchange(given, true);
  });
}

TEST(OwnTokenizers, HuggingFaceReadsTheSame) {
  for (const char* name : {"bytes", "characters", "sentencepiece", "unigram"}) {
    SCOPED_TRACE(name);
    const auto tokenizer = own_tokenizer(name);
    const TestFolder folder;
    tokenizer.save(folder.path());
    if (const char* out = std::getenv("HEED_GOLDEN_OUT")) {  // for make_tokenizers.py
      const std::string directory = (std::filesystem::path(out) / name).string();
      std::filesystem::create_directories(directory);
      tokenizer.save(directory);
      continue;
    }
    const auto golden = tokenizers_folder() / (std::string("own_") + name);
    for (const char* file : {"tokenizer.json", "tokenizer_config.json"}) {
      // What transformers was given for the ids below is what is written today.
      EXPECT_EQ(content_of(folder.path(file)), content_of((golden / file).string())) << file;
    }
    const auto read = load_language_tokenizer(folder.path());
    const Json golden_case = read_json(golden / "case.json");
    for (const Json& each : golden_case["texts"]) {
      const auto text = each["text"].get<std::string>();
      EXPECT_EQ(read.ids(text), ids_of(each["ids"])) << text;
      EXPECT_EQ(with_start(read, text, false), ids_of(each["with_special"])) << text;
      EXPECT_EQ(read.text_of(ids_of(each["ids"])), each["decoded"].get<std::string>()) << text;
    }
  }
}

TEST(OwnTokenizers, OldDirectoriesOpenAndModifiedOnesDoNot) {
  const TestFolder folder;
  own_tokenizer("characters").save(folder.path());
  Json json = read_json(folder.path("tokenizer.json"));
  json["normalizer"] = {{"type", "Lowercase"}};
  folder.write("tokenizer.json", json.dump());
  expect_error(ErrorKind::kFormat, "is not the file that Heed writes",
               [&] { load_language_tokenizer(folder.path()); });
  std::filesystem::remove(folder.path("tokenizer.json"));
  EXPECT_EQ(load_language_tokenizer(folder.path()).kind(), "characters");
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "HeedByteTokenizer"})");
  EXPECT_EQ(load_language_tokenizer(folder.path()).kind(), "bytes");
}

}  // namespace
}  // namespace heed
