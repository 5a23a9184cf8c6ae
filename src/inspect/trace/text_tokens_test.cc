#include "inspect/trace/text_tokens.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "inspect/json/trace_pack.h"
#include "inspect/terminal/words.h"
#include "inspect/test_inspected_models.h"
#include "inspect/trace/text_trace.h"
#include "test_folder.h"

namespace heed {
namespace {

using Json = nlohmann::json;
using ::testing::ElementsAre;

Json special_token(int id, const char* content, bool strips_left = false) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", strips_left},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

void write_tokenizer(const TestFolder& folder, const Json& added, const Json& model,
                     const Json& pre_tokenizer, const Json& processor, const Json& config) {
  const Json json{{"version", "1.0"},
                  {"added_tokens", added},
                  {"normalizer", nullptr},
                  {"pre_tokenizer", pre_tokenizer},
                  {"post_processor", processor},
                  {"decoder", pre_tokenizer},
                  {"model", model}};
  folder.write("tokenizer.json", json.dump());
  folder.write("tokenizer_config.json", config.dump());
}

const Json& byte_level() {
  static const Json level{
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  return level;
}

/// BPE without merges of a few letters.
Json byte_model(const Json& added) {
  Json vocabulary = Json::object();
  for (const Json& token : added) vocabulary[token["content"].get<std::string>()] = token["id"];
  for (const char* piece : {"O", "n", "\u0120", "a"}) vocabulary[piece] = vocabulary.size();
  return {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", Json::array()}};
}

const Json& encoder_specials() {
  static const Json specials{special_token(0, "<s>"), special_token(1, "</s>"), special_token(2, "<unk>"),
                             special_token(3, "<mask>", true)};
  return specials;
}

ModelTokenizer encoder(const Json& model, const Json& pre_tokenizer) {
  const TestFolder folder;
  write_tokenizer(folder, encoder_specials(), model, pre_tokenizer,
                  {{"type", "RobertaProcessing"},
                   {"sep", {"</s>", 1}},
                   {"cls", {"<s>", 0}},
                   {"trim_offsets", true},
                   {"add_prefix_space", false}},
                  {{"cls_token", "<s>"},
                   {"sep_token", "</s>"},
                   {"pad_token", "<unk>"},
                   {"unk_token", "<unk>"},
                   {"mask_token", "<mask>"}});
  return load_encoder_tokenizer(folder.path());
}

ModelTokenizer encoder_of_bytes() {
  Json model = byte_model(encoder_specials());
  model["unk_token"] = "<unk>";
  return encoder(model, byte_level());
}

ModelTokenizer language_of_bytes() {
  const TestFolder folder;
  const char* start = "<|begin_of_text|>";
  const Json added = Json::array({special_token(0, start)});
  write_tokenizer(
      folder, added, byte_model(added), byte_level(),
      {{"type", "TemplateProcessing"},
       {"single",
        {{{"SpecialToken", {{"id", start}, {"type_id", 0}}}}, {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}},
       {"pair", Json::array({{{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
                             {{"Sequence", {{"id", "B"}, {"type_id", 1}}}}})},
       {"special_tokens", {{start, {{"id", start}, {"ids", {0}}, {"tokens", {start}}}}}}},
      {{"bos_token", start}});
  return load_language_tokenizer(folder.path());
}

TEST(TextTokens, AreNamedAsTheVocabularySpellsThem) {
  const ModelTokenizer tokenizer = encoder_of_bytes();
  const Encoding encoding = tokenizer.encode("a <mask> n", {.read_mask = true});
  EXPECT_EQ(encoding.pieces[2], " <mask>");  // which takes the space before it along
  EXPECT_THAT(token_names(tokenizer, encoding), ElementsAre("<s>", "a", "<mask>", "\u2581", "n", "</s>"));
}

TEST(TextTokens, UnknownOnesAreNamedAsTheTextSpellsThem) {
  Json pieces = Json::array();
  for (const Json& token : encoder_specials()) pieces.push_back({token["content"], 0});
  pieces.push_back({"\u2581", -2});
  pieces.push_back({"a", -1});
  const ModelTokenizer tokenizer = encoder(
      {{"type", "Unigram"}, {"unk_id", 2}, {"vocab", pieces}},
      {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}, {"split", true}});
  const Encoding encoding = tokenizer.encode("a dog <mask>", {.read_mask = true});
  EXPECT_THAT(token_names(tokenizer, encoding),
              ElementsAre("<s>", "\u2581", "a", "\u2581", "dog", "<mask>", "</s>"));
}

TEST(TextTokens, WordsOfEncodersEndAtSpecialTokens) {
  const ModelTokenizer tokenizer = encoder_of_bytes();
  const Encoding encoding = tokenizer.encode("On<mask>a a", {.read_mask = true});
  EXPECT_THAT(word_indices(tokenizer, encoding.ids, token_names(tokenizer, encoding)),
              ElementsAre(0, 1, 1, 2, 3, 4, 4, 5));
}

TEST(TextTokens, AnyStartTokenOfALanguageModelIsAWord) {
  TestInspected model = small_language_model();
  model.tokenizer = language_of_bytes();
  const Trace trace = trace_language_model(model.loaded, model.tokenizer, "On a");
  EXPECT_THAT(trace.decoder_tokens, ElementsAre("<|begin_of_text|>", "O", "n", "\u2581", "a"));
  EXPECT_THAT(trace.decoder_words, ElementsAre(0, 1, 1, 2, 2));
  EXPECT_THAT(group_by_words(trace).decoder_tokens, ElementsAre("<|begin_of_text|>", "On", "a"));
  EXPECT_EQ(Json::parse(pack_trace(trace))["decoder_words"], Json(trace.decoder_words));
}

TEST(TextTokens, AreAtLeastOneAndAtMostTheMaximum) {
  EXPECT_NO_THROW(require_tokens("text", 5, 5));
  EXPECT_NO_THROW(require_tokens("text", 5, 0));
  EXPECT_THROW(require_tokens("text", 6, 5), Error);
  EXPECT_THROW(require_tokens("text", 0, 5), Error);
}

}  // namespace
}  // namespace heed
