// The routes of the server, compared with the command with the same models.
#include "models/head_names.h"
#include "serve/server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>

#include "base/files/file.h"
#include "base/text/json_file.h"
#include "command.h"
#include "models/config/decoder_only_config.h"
#include "models/config/encoder_only_config.h"
#include "models/config/precision_names.h"
#include "models/stacks/encoder_heads.h"
#include "models/test_models.h"
#include "reference.h"
#include "search/scoring.h"
#include "search/test_seq2seq.h"
#include "test_coded_model.h"
#include "test_http_client.h"
#include "text/tokenizers/encoder_tokenizer.h"
#include "text/tokenizers/language_tokenizer.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using Arguments = std::vector<std::string>;

/// Models of each kind with fixed random weights.
struct Models {
  Models() {
    for (const char* name : {"en-de", "de-en"}) {
      const std::string path = folder.path(name);
      std::filesystem::create_directory(path);
      models::write_untrained(path, models::Transformer(search::small_translator_config()),
                              name == std::string("en-de") ? 5 : 6);
      if (name == std::string("en-de")) {
        search::small_tokenizer().save(path);
      } else {
        TokenizerTrainOptions options;
        options.source.vocabulary_size = 330;
        options.source_language = "de";
        options.target_language = "en";
        search::train_tokenizer(options).save(path);
      }
    }
    write_with_codes(folder.path("opus-mt-en-mul"));
    models::DecoderOnlyConfig text;
    text.family = &models::gpt2_family();
    text.vocabulary = 256;
    text.width = 16;
    text.layers = text.heads = 2;
    text.inner_width = 32;
    text.max_length = 48;
    std::filesystem::create_directory(folder.path("text"));
    models::write_untrained(folder.path("text"), models::DecoderOnly(text), 7);
    byte_tokenizer().save(folder.path("text"));
    const std::vector<std::string> pieces{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "fine", "film"};
    WordPieceSettings settings;
    settings.max_length = 16;
    std::filesystem::create_directory(folder.path("classes"));
    wordpiece_tokenizer(pieces, settings).save(folder.path("classes"));
    models::EncoderOnlyConfig classes = models::bert_config(models::EncoderHead::kClassifier);
    classes.vocabulary = static_cast<int64_t>(pieces.size());
    classes.width = 16;
    classes.layers = classes.heads = 2;
    classes.inner_width = 24;
    classes.max_length = 16;
    classes.deviation = 1;
    classes.labels = {"bad", "good"};
    models::write_untrained(folder.path("classes"), models::EncoderClassifier(classes), 3);
    std::filesystem::create_directory(folder.path("masks"));
    wordpiece_tokenizer(pieces, settings).save(folder.path("masks"));
    classes.head = models::EncoderHead::kVocabulary;
    classes.labels = {};
    models::write_untrained(folder.path("masks"), models::EncoderMaskedLm(classes), 4);
    std::filesystem::copy(folder.path("masks"), folder.path("vectors"));
    folder.write("vectors/modules.json", R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
      {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
      {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])");
    std::filesystem::create_directory(folder.path("vectors/1_Pooling"));
    folder.write("vectors/1_Pooling/config.json",
                 R"({"word_embedding_dimension": 16, "pooling_mode_mean_tokens": true})");
    folder.write("vectors/config_sentence_transformers.json", R"({"prompts": {"query": "film "}})");
  }
  TestFolder folder;
};

class ServeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { all_models = std::make_unique<Models>(); }
  static void TearDownTestSuite() { all_models.reset(); }

  static std::string model(const std::string& name) { return all_models->folder.path(name); }
  static serve::ServerOptions with_models(const Arguments& names) {
    serve::ServerOptions options;
    options.threads = 2;
    for (const std::string& name : names) options.models.push_back({name, ModelInventory(model(name))});
    return options;
  }
  static serve::ServerOptions options() { return with_models({"en-de", "de-en", "text", "classes"}); }
  static serve::ServerOptions with_long_requests() {
    serve::ServerOptions chosen = options();
    chosen.threads = 1;
    chosen.limits.sentences = 100000;
    chosen.limits.work_tokens = 10000000;
    return chosen;
  }
  void start(const serve::ServerOptions& chosen = options()) {
    server_ = std::make_unique<serve::Server>(chosen);
    server_->start();
    const std::string url = server_->url();
    port_ = static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  }
  HttpAnswer post(const std::string& path, const Json& body) const {
    return HttpConnection(port_).post(path, body);
  }
  HttpAnswer get(const std::string& path) const { return HttpConnection(port_).get(path); }

  /// A value of /metrics, asked for with these headers; -1 if it is missing.
  long long metric_with(const std::string& name, const std::string& headers) const {
    const std::string all = HttpConnection(port_).get("/metrics", headers).body;
    const size_t at = all.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stoll(all.substr(at + name.size() + 2));
  }

  /// The JSON output of the command.
  static std::vector<Json> command(Arguments arguments, const std::string& name) {
    arguments.insert(arguments.begin() + 1, {"--model", model(name), "--json"});
    const CommandResult result = heed_command(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    std::vector<Json> objects;
    std::istringstream stream(result.out);
    for (std::string line; std::getline(stream, line);) objects.push_back(Json::parse(line));
    return objects;
  }
  /// The vector of heed embed.
  static Json embedding(const std::string& text, const std::string& name, const Arguments& more = {}) {
    Arguments arguments{"embed", text, "--model", model(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult result = heed_command(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return Json::parse(result.out)["embedding"];
  }
  void expect_error(const HttpAnswer& answer, int status, const std::string& part) const {
    EXPECT_EQ(answer.status, status) << answer.body;
    ASSERT_TRUE(answer.json().contains("error")) << answer.body;
    const Json error = answer.json()["error"];
    EXPECT_THAT(error.is_string() ? error.get<std::string>() : error.at("message").get<std::string>(),
                HasSubstr(part));
  }

  static std::unique_ptr<Models> all_models;
  std::unique_ptr<serve::Server> server_;
  uint16_t port_ = 0;
};
std::unique_ptr<Models> ServeTest::all_models;

const Json kSentence{{"q", "The teacher sees the old garden."}, {"source", "en"}, {"target", "de"}};

Json with(Json base, const Json& more) {
  base.update(more);
  return base;
}

/// A request that takes long, for with_long_requests().
Json long_request(int texts, int lines) {
  std::string text;
  for (int n = 0; n < lines; ++n) text += kSentence["q"].get<std::string>() + "\n";
  return with(kSentence, {{"q", std::vector<std::string>(texts, text)}});
}

TEST_F(ServeTest, TranslatesAsTheCommand) {
  start();
  const std::string sentence = kSentence["q"];
  const Json expected = command({"translate", sentence, "--nbest", "3"}, "en-de")[0];
  const HttpAnswer one = post("/translate", kSentence);
  const Json best = command({"translate", sentence}, "en-de")[0];
  EXPECT_EQ(one.json(), (Json{{"translatedText", best["translation"]}}));
  EXPECT_EQ(one.headers.at("content-type"), "application/json");

  const Json list =
      post("/translate", with(kSentence, {{"q", {sentence, "", sentence + "\n\n" + sentence}}})).json();
  const std::string text = best["translation"];
  EXPECT_EQ(list, (Json{{"translatedText", {text, "", text + "\n\n" + text}}}));

  const Json alternatives = post("/translate", with(kSentence, {{"alternatives", 2}})).json();
  EXPECT_EQ(alternatives["translatedText"], expected["translation"]);
  EXPECT_LE(alternatives["alternatives"].size(), 2U);
  EXPECT_EQ(post("/translate", with(kSentence, {{"alternatives", "2"}})).json(), alternatives);

  const Json detected = post("/translate", with(kSentence, {{"source", "auto"}})).json();
  EXPECT_EQ(detected["detectedLanguage"]["language"], "en");
  EXPECT_GT(detected["detectedLanguage"]["confidence"], 50);
  EXPECT_EQ(detected["translatedText"], text);

  const Json html =
      post("/translate",
           with(kSentence, {{"q", "<p>The <b>teacher</b> &amp; <code>x</code></p>"}, {"format", "html"}}))
          .json();
  EXPECT_THAT(html["translatedText"].get<std::string>(), testing::StartsWith("<p>"));
  EXPECT_THAT(html["translatedText"].get<std::string>(), HasSubstr("<code>x</code>"));

  HttpConnection form(port_);
  EXPECT_EQ(form.post("/translate", "q=The+teacher+sees+the+old+garden.&source=en&target=de",
                      "Content-Type: application/x-www-form-urlencoded\r\n")
                .json()["translatedText"],
            text);
  EXPECT_EQ(form.post("/translate",
                      "q=The+teacher+sees+the+old+garden.&source=en&target=de&alternatives=2&format=text",
                      "Content-Type: application/x-www-form-urlencoded\r\n")
                .json(),
            alternatives);
}

TEST_F(ServeTest, WarnsOfNumbersThatDiffer) {
  start();
  const auto request = [](const Json& q, const char* format) {
    return with(kSentence, {{"q", q}, {"format", format}});
  };
  const std::string sentence = "at 8:30 p.m.";  // whose time the random weights do not give
  const Json expected = command({"translate", sentence}, "en-de")[0]["warnings"];
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(post("/translate", request(sentence, "text")).json()["warnings"], expected);
  EXPECT_EQ(post("/translate", request("<p>" + sentence + "</p>", "html")).json()["warnings"], expected);
  const std::string plain = kSentence["q"];
  EXPECT_EQ(post("/translate", request({plain, sentence + "\n" + sentence}, "text")).json()["warnings"],
            Json::array({Json::array(), {expected[0], expected[0]}}));
  EXPECT_FALSE(post("/translate", kSentence).json().contains("warnings"));
  EXPECT_FALSE(post("/translate", request({plain}, "text")).json().contains("warnings"));
}

TEST_F(ServeTest, ErrorsOfLibreTranslate) {
  start();
  expect_error(post("/translate", {{"source", "en"}, {"target", "de"}}), 400, "missing q parameter");
  expect_error(post("/translate", with(kSentence, {{"q", ""}})), 400, "missing q parameter");
  expect_error(post("/translate", {{"q", "a"}, {"target", "de"}}), 400, "missing source parameter");
  expect_error(post("/translate", {{"q", "a"}, {"source", "en"}}), 400, "missing target parameter");
  expect_error(post("/translate", with(kSentence, {{"target", "xx"}})), 400, "xx is not supported");
  expect_error(post("/translate", with(kSentence, {{"target", "en"}})), 400,
               "not available as a target language");
  expect_error(post("/translate", with(kSentence, {{"q", 7}})), 400, "'q'");
  expect_error(post("/translate", with(kSentence, {{"format", "pdf"}})), 400, "'format'");
  for (const Json& count :
       {Json(-1), Json("-1"), Json(""), Json("2 or 3"), Json("1e1"), Json(Json::array())}) {
    expect_error(post("/translate", with(kSentence, {{"alternatives", count}})), 400, "'alternatives'");
  }
  expect_error(post("/translate", with(kSentence, {{"q", std::vector<std::string>(65, "a")}})), 400,
               "65 texts");
  expect_error(post("/translate", with(kSentence, {{"q", std::string(20001, 'a')}})), 400,
               "20001 characters");
  expect_error(HttpConnection(port_).post("/translate", std::string("{\"q\":")), 400, "JSON");
  expect_error(get("/nothing"), 404, "no such");
  expect_error(post("/translate_file", {{"source", "en"}, {"target", "de"}}), 403, "/translate");
  expect_error(post("/suggest", {{"q", "a"}, {"s", "b"}}), 403, "Suggestions");
  const HttpAnswer wrong = get("/translate");
  expect_error(wrong, 405, "POST");
  EXPECT_EQ(wrong.headers.at("allow"), "POST");
}

TEST_F(ServeTest, ListsModels) {
  start();
  EXPECT_EQ(get("/health").json(), (Json{{"status", "ok"}}));
  EXPECT_EQ(get("/languages").json(), (Json{{{"code", "de"}, {"name", "German"}, {"targets", {"en"}}},
                                            {{"code", "en"}, {"name", "English"}, {"targets", {"de"}}}}));
  EXPECT_EQ(get("/frontend/settings").json()["charLimit"], 20000);
  const Json models = get("/v1/models").json();
  EXPECT_EQ(models["object"], "list");
  ASSERT_EQ(models["data"].size(), 4U);
  EXPECT_EQ(models["data"][0]["id"], "en-de");
  EXPECT_EQ(models["data"][2]["task"], "text");
  Json precisions{"float32", "int8", "int4"};
  if (models::runs_here(models::Precision::kBfloat16)) precisions.push_back("bfloat16");
  EXPECT_EQ(models["data"][0]["precisions"], precisions);
  EXPECT_EQ(models["data"][3]["labels"], (Json{"bad", "good"}));
  for (const Json& model : models["data"]) {
    EXPECT_GT(model["parameters"], 1000);
    EXPECT_EQ(get("/v1/models/" + model["id"].get<std::string>()).json(), model);
  }
  expect_error(get("/v1/models/none"), 404, "'none'");
  // Some clients give the type of a body that is not there.
  EXPECT_EQ(HttpConnection(port_).get("/v1/models", "Content-Type: application/json\r\n").json(), models);
  expect_error(post("/detect", {{"q", std::string("a\0b", 3)}}), 400, "'q' has a NUL character");
  const Json detected = post("/detect", {{"q", "Gestern sind wir mit dem Zug nach Hause gefahren."}}).json();
  EXPECT_EQ(detected[0]["language"], "de");
  EXPECT_EQ(post("/detect", {{"q", "1 + 2 = 3"}}).json(), (Json{{{"confidence", 0.0}, {"language", "en"}}}));
}

TEST_F(ServeTest, HasBothPrecisions) {
  start();
  const std::string text = "The river finds the window.";
  const auto score = [&](const Json& more) {
    const HttpAnswer answer = post("/v1/translate", with({{"text", text}, {"pair", "en-de"}}, more));
    return answer.status == 200 ? answer.json()["translations"][0]["score"] : answer.json()["error"];
  };
  const Json whole = command({"translate", text, "--precision", "float32"}, "en-de")[0]["score"];
  const Json quantized = command({"translate", text, "--precision", "int8"}, "en-de")[0]["score"];
  const Json in_4_bits = command({"translate", text, "--precision", "int4"}, "en-de")[0]["score"];
  ASSERT_NE(whole, quantized);
  for (int n = 0; n < 2; ++n) {
    EXPECT_EQ(score({{"precision", "int8"}}), quantized);
    EXPECT_EQ(score({{"precision", "float32"}}), whole);
    EXPECT_EQ(score({{"precision", "int4"}}), in_4_bits);
    EXPECT_EQ(score(Json::object()), whole);
  }
  EXPECT_EQ(post("/v1/attend", {{"text", text}, {"model", "text"}, {"precision", "int8"}}).status, 200);
  EXPECT_THAT(score({{"precision", "int3"}}).get<std::string>(), HasSubstr("'precision'"));
  const std::string weights = model("en-de") + "/model.safetensors";
  const auto written = std::filesystem::last_write_time(weights);
  std::filesystem::last_write_time(weights, written + std::chrono::seconds(10));
  EXPECT_EQ(score({{"precision", "int4"}}), in_4_bits);  // was read before
  start();
  std::filesystem::last_write_time(weights, written);
  EXPECT_EQ(score({{"precision", "float32"}}), whole);
  EXPECT_THAT(score({{"precision", "int8"}}).get<std::string>(), HasSubstr("changed since"));
  serve::ServerOptions fixed = options();
  fixed.load.precision = models::Precision::kFloat32;
  start(fixed);
  EXPECT_EQ(get("/v1/models").json()["data"][0]["precisions"], (Json{"float32"}));
  EXPECT_THAT(score({{"precision", "int8"}}).get<std::string>(), HasSubstr("not in int8"));
}

TEST_F(ServeTest, TranslatesSeveralDocuments) {
  start();
  const std::vector<std::string> documents{"<p>The <b>old</b> house.</p>", "The <i>river</i>!",
                                           "<code>x</code>"};
  const Json all =
      post("/translate", {{"q", documents}, {"source", "en"}, {"target", "de"}, {"format", "html"}}).json();
  const Json own = post("/v1/translate", {{"text", documents}, {"pair", "en-de"}, {"format", "html"}}).json();
  for (const Json& each : own["translations"]) EXPECT_TRUE(each["warnings"].is_array());
  for (size_t n = 0; n < documents.size(); ++n) {
    const Json one =
        post("/translate", {{"q", documents[n]}, {"source", "en"}, {"target", "de"}, {"format", "html"}})
            .json();
    EXPECT_EQ(all["translatedText"][n], one["translatedText"]) << n;
    EXPECT_EQ(own["translations"][n]["translation"], one["translatedText"]) << n;
  }
}

TEST_F(ServeTest, HasEveryOptionOfTheCommand) {
  start();
  const std::string text =
      "The river finds the window. The letter likes the house 42 at https://example.org/x.";
  struct Case {
    Json fields;
    Arguments arguments;
  };
  const std::vector<Case> cases{
      {Json::object(), {}},
      {{{"beam", 1}}, {"--beam", "1"}},
      {{{"beam", 3}, {"nbest", 3}, {"length_penalty", 0.4}},
       {"--beam", "3", "--nbest", "3", "--length-penalty", "0.4"}},
      {{{"nbest", 2}, {"alignment", true}}, {"--nbest", "2", "--alignment"}},
      {{{"nbest", 2}, {"confidence", true}}, {"--nbest", "2", "--confidence"}},
      {{{"max_length", 6}, {"no_repeat_ngram", 2}}, {"--max-length", "6", "--no-repeat-ngram", "2"}},
      {{{"prefix", "The old"}}, {"--prefix", "The old"}},
      {{{"require", "garden"}, {"forbid", {"e", "the"}}},
       {"--require", "garden", "--forbid", "e", "--forbid", "the"}},
      {{{"split_sentences", false}}, {"--no-split-sentences"}},
      {{{"sample", true}, {"temperature", 0}}, {"--beam", "1"}},
      {{{"ablate", {{{"stack", "cross"}, {"layer", 1}}}}}, {"--ablate", "cross:1:all"}},
      {{{"placeholders", false}}, {"--no-placeholders"}},
      {{{"check_values", false}}, {"--no-check-values"}},
      {{{"sample", true}, {"temperature", 1.3}, {"top_k", 20}, {"top_p", 0.9}, {"seed", 11}, {"nbest", 2}},
       {"--sample", "--temperature", "1.3", "--top-k", "20", "--top-p", "0.9", "--seed", "11", "--nbest",
        "2"}},
  };
  for (const Case& each : cases) {
    Arguments arguments{"translate", text};
    arguments.insert(arguments.end(), each.arguments.begin(), each.arguments.end());
    const HttpAnswer answer = post("/v1/translate", with({{"text", text}, {"pair", "en-de"}}, each.fields));
    ASSERT_EQ(answer.status, 200) << answer.body;
    Json translation = answer.json()["translations"][0];
    EXPECT_EQ(translation, command(arguments, "en-de")[0]) << each.fields;
  }
  TestFolder folder;
  const std::string glossary = folder.write("g.tsv", "letter\tBrief\n");
  const Json expected = command({"translate", text, "--glossary", glossary}, "en-de")[0];
  EXPECT_EQ(
      post("/v1/translate", {{"text", text}, {"glossary", {{"letter", "Brief"}}}}).json()["translations"][0],
      expected);
  const Json lines = post("/v1/translate", {{"text", "The house.\r\nThe river."}}).json()["translations"][0];
  EXPECT_EQ(lines["lines"].size(), 2U);
  EXPECT_THAT(lines["translation"].get<std::string>(), HasSubstr("\r\n"));
}

TEST_F(ServeTest, ErrorsNameTheField) {
  start();
  const Json text{{"text", "The house."}};
  expect_error(post("/v1/translate", with(text, {{"beams", 4}})), 400, "'beams'");
  expect_error(post("/v1/translate", with(text, {{"beam", 4000}})), 400, "'beam'");
  expect_error(post("/v1/completions", {{"model", "text"}, {"prompt", "a"}, {"max_tokens", 5000}}), 400,
               "'max_tokens'");
  expect_error(post("/v1/translate", with(text, {{"beam", 2}, {"nbest", 3}})), 400, "'nbest'");
  expect_error(post("/v1/translate", with(text, {{"beam", 2}, {"sample", true}})), 400, "'sample'");
  expect_error(post("/v1/translate", with(text, {{"seed", 3}})), 400, "'seed'");
  expect_error(post("/v1/translate", with(text, {{"format", "html"}, {"nbest", 2}})), 400, "'nbest'");
  expect_error(post("/v1/translate", with(text, {{"batch_tokens", 64}})), 400, "'batch_tokens'");
  expect_error(post("/v1/translate", with(text, {{"model", "none"}})), 404, "'none'");
  expect_error(post("/v1/translate", with(text, {{"model", "text"}})), 400, "'text'");
  expect_error(post("/v1/translate", with(text, {{"pair", "fr-de"}})), 400, "'fr-de'");
  expect_error(post("/v1/translate", with(text, {{"glossary", {"a"}}})), 400, "'glossary'");
  for (const auto& [source, target] : {std::pair(201, 1), std::pair(1, 201)}) {
    const Json terms{{std::string(source, 'a'), std::string(target, 'b')}};
    expect_error(post("/v1/translate", with(text, {{"glossary", terms}})), 400, "201 characters");
  }
  Json terms;
  for (int n = 0; n < 1025; ++n) terms["a" + std::to_string(n)] = "b";
  expect_error(post("/v1/translate", with(text, {{"glossary", terms}})), 400, "1025 texts");
  terms.erase("a7");
  EXPECT_EQ(post("/v1/translate", with(text, {{"glossary", terms}})).status, 200);
  expect_error(post("/v1/attend", {{"text", " "}}), 400, "'text'");
}

TEST_F(ServeTest, ShowsAttentionAsTheCommand) {
  start();
  const auto attention = [&](const Json& fields) { return post("/v1/attend", fields).json(); };
  const std::string text = "The teacher paints the old river.";
  const auto expected = [&](const std::string& name, const Arguments& more = {}) {
    Arguments arguments{"attend", text, "--model", model(name), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Json::parse(heed_command(arguments).out);
  };
  Json own = attention({{"text", text}, {"pair", "en-de"}});
  const Json scored = post("/v1/translate", {{"text", text},
                                             {"pair", "en-de"},
                                             {"split_sentences", false},
                                             {"placeholders", false},
                                             {"confidence", true}})
                          .json();
  EXPECT_EQ(own["score"], scored["translations"][0]["score"]);
  const Json& confidence = scored["translations"][0]["word_confidence"];
  ASSERT_EQ(own["word_confidence"].size(), confidence.size());
  for (size_t n = 0; n < confidence.size(); ++n) {
    EXPECT_NEAR(own["word_confidence"][n].get<double>(), confidence[n].get<double>(), 1e-4) << n;
  }
  own.erase("word_confidence");
  own.erase("score");
  own.erase("log_probability");
  EXPECT_EQ(own["warnings"], Json::array());
  own.erase("warnings");
  EXPECT_EQ(own, expected("en-de"));
  const Json differing = attention(
      {{"text", "Wir sahen 7 Hunde."}, {"pair", "de-en"}, {"target", "We saw 8 dogs."}})["warnings"];
  EXPECT_EQ(differing, (Json{"the translation lacks \"7\"", "the source does not say \"8\""}));
  Json given = attention({{"text", text}, {"pair", "en-de"}, {"target", "The house."}});
  EXPECT_LT(given["score"].get<double>(), 0);
  EXPECT_EQ(given["attention"], expected("en-de", {"--target", "The house."})["attention"]);
  EXPECT_EQ(attention({{"text", text}, {"words", true}})["attention"],
            expected("en-de", {"--words"})["attention"]);
  EXPECT_EQ(attention({{"text", text}, {"model", "text"}}), expected("text"));
  EXPECT_EQ(attention({{"text", text}, {"model", "classes"}}), expected("classes"));
}

TEST_F(ServeTest, SteersTheTranslationThatItShows) {
  start();
  const std::string text = "The teacher paints the old river.";
  const Json fields{{"text", text}, {"pair", "en-de"}};
  const Json demands{{"require", {"garden", "old letter"}}, {"forbid", "house"}, {"prefix", "The"}};
  const Json shown = post("/v1/attend", with(fields, demands)).json();
  EXPECT_THAT(shown["target"].get<std::string>(),
              testing::AllOf(HasSubstr("garden"), HasSubstr("old letter")));
  EXPECT_EQ(shown["target"], post("/v1/translate", with(with(fields, demands), {{"split_sentences", false},
                                                                                {"placeholders", false}}))
                                 .json()["translations"][0]["translation"]);
  const CommandResult command =
      heed_command({"attend", text, "--model", model("en-de"), "--json", "--require", "garden", "--require",
                    "old letter", "--forbid", "house", "--prefix", "The"});
  EXPECT_EQ(shown["attention"], Json::parse(command.out)["attention"]);
  const Json tree = post("/v1/search", with(fields, demands)).json();
  EXPECT_EQ(tree["finished"][0]["translation"], shown["target"]);
  EXPECT_TRUE(tree["finished"][0]["node"].is_number());
  expect_error(post("/v1/attend", with(fields, {{"target", "The house."}, {"forbid", "a"}})), 400,
               "'forbid'");
  for (const Json& field :
       {Json{{"beam", 2}}, Json{{"max_length", 9}}, Json{{"no_repeat_ngram", 2}}, Json{{"prefix", "The"}},
        Json{{"require", "a"}}, Json{{"length_penalty", 0.5}}, Json{{"target", "The house."}}}) {
    const std::string name = field.begin().key();
    EXPECT_EQ(post("/v1/attend", with(fields, field)).status, 200) << name;
    for (const char* other : {"text", "classes"}) {
      expect_error(post("/v1/attend", with({{"text", text}, {"model", other}}, field)), 400,
                   "'" + name + "' is for models that translate");
    }
    if (name == "target") continue;
    const HttpAnswer given = post("/v1/attend", with(with(fields, {{"target", "The house."}}), field));
    if (name == "length_penalty") {
      EXPECT_EQ(given.status, 200);  // the score depends on it
    } else {
      expect_error(given, 400, "'" + name + "' is for the model's own translation");
    }
  }
  expect_error(post("/v1/attend", with(fields, {{"forbid", {"house"}}, {"require", {"House"}}})), 400,
               "'forbid'");
  expect_error(post("/v1/translate", with(fields, {{"forbid", std::string(201, 'a')}})), 400, "'forbid'");
  expect_error(post("/v1/translate", with(fields, {{"require", Json::array({"a", 1})}})), 400, "'require'");
  expect_failure(heed_command({"attend", text, "--model", model("text"), "--forbid", "a"}), 2, {"--forbid"});
}

TEST_F(ServeTest, DrawsPictures) {
  start();
  const Json fields{{"text", "The old river."}, {"pair", "en-de"}};
  const auto draw = [&](const Json& picture) {
    return post("/v1/attend", with(fields, {{"picture", picture}}));
  };
  const HttpAnswer pdf = draw({{"format", "pdf"}});
  EXPECT_EQ(pdf.headers.at("content-type"), "application/pdf");
  EXPECT_TRUE(pdf.body.starts_with("%PDF"));
  TestFolder folder;
  const std::string path = folder.path("a.svg");
  heed_command({"attend", "The old river.", "--model", model("en-de"), "--stack", "cross", "--layer", "1",
                "--head", "mean", "--output", path});
  EXPECT_EQ(draw({{"format", "svg"}, {"stack", "cross"}, {"layer", 1}, {"head", "mean"}}).body,
            read_file(path));
  expect_error(draw({{"format", "gif"}}), 400, "'format'");
  expect_error(draw({{"stack", "cross"}, {"layer", 7}}), 400, "layer");
  expect_error(draw({{"colour", "red"}}), 400, "'colour'");
  expect_error(draw("pdf"), 400, "'picture'");
  for (const char* name : {"packed", "details"}) {
    expect_error(post("/v1/attend", with(fields, {{"picture", {{"format", "svg"}}}, {name, true}})), 400,
                 "leave out 'picture'");
  }
}

TEST_F(ServeTest, MasksHeads) {
  start();
  const std::string text = "The teacher paints the old river.";
  const Json fields{{"text", text}, {"pair", "en-de"}, {"target", "The old house."}};
  const auto attend = [&](const Json& ablate) {
    return post("/v1/attend", with(fields, {{"ablate", ablate}})).json();
  };
  const Json whole = post("/v1/attend", fields).json();
  const Json without = attend({{{"stack", "encoder"}, {"layer", 1}, {"head", 2}}});
  EXPECT_NE(without["score"], whole["score"]);
  const auto command_score = [&](const Arguments& more) {
    Arguments arguments{"attend", text, "--model", model("en-de"), "--target", "The old house.", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Json::parse(heed_command(arguments).out)["log_probabilities"];
  };
  EXPECT_EQ(without["log_probabilities"], command_score({"--ablate", "encoder:1:2"}));
  EXPECT_EQ(attend({{{"stack", "cross"}}})["log_probabilities"], command_score({"--ablate", "cross:all"}));
  // A scale of 1 changes nothing, and the order of the heads does not count.
  EXPECT_EQ(attend({{{"stack", "cross"}, {"layer", 1}, {"head", 1}, {"scale", 1}}})["attention"],
            whole["attention"]);
  EXPECT_EQ(attend(Json::array())["score"], whole["score"]);
  // The search, position by position, and the pass over a whole translation switch off the same.
  const models::LoadedModel loaded = models::load_model(model("en-de"));
  const nn::HeadScales scales({models::parse_head("decoder:all:1"), models::parse_head("cross:1:2"),
                               models::parse_head("encoder:1:1", 0.5)});
  nn::Context scaled = loaded.context();
  scaled.head_scales = &scales;
  const search::SearchOptions search = search::search_options_of(loaded);
  const std::vector<int32_t> source = search::small_tokenizer().encode_source(text).ids;
  const search::Hypothesis found =
      search::Search(loaded.seq2seq(), scaled, search).run({{.number = 0, .source = source}}).at(0).at(0);
  const std::vector<search::ScoringPair> pair{{source, found.ids}};
  const auto expected = search::score_pairs(loaded.seq2seq(), scaled, search, pair).at(0);
  const auto unscaled = search::score_pairs(loaded.seq2seq(), loaded.context(), search, pair).at(0);
  double difference = 0;
  for (size_t n = 0; n < expected.size(); ++n) {
    EXPECT_NEAR(found.log_probabilities[n], expected[n], 1e-4) << n;
    difference += std::abs(static_cast<double>(expected[n]) - static_cast<double>(unscaled[n]));
  }
  EXPECT_GT(difference, 0.1);
  const CommandResult translated =
      heed_command({"translate", text, "--model", model("en-de"), "--ablate", "cross:1:1", "--json"});
  EXPECT_NE(Json::parse(translated.out)["score"], command({"translate", text}, "en-de")[0]["score"]);
  const auto refuse = [&](const Json& ablate, const std::string& part) {
    expect_error(post("/v1/attend", with(fields, {{"ablate", ablate}})), 400, part);
  };
  refuse({{{"stack", "cross"}, {"layer", 2}, {"head", 1}}}, "layers 1 to 1");
  refuse({{{"stack", "cross"}, {"layer", 1}, {"head", 3}}}, "heads 1 to 2");
  refuse({{{"stack", "side"}, {"layer", 1}, {"head", 3}}}, "side");
  refuse({{{"stack", "cross"}, {"layer", 0}, {"head", 1}}}, "cross:0:1");
  refuse("cross:1:1", "'ablate'");
  expect_failure(heed_command({"translate", text, "--model", model("en-de"), "--ablate", "cross:4:1"}), 2,
                 {"layers 1 to 1"});
  expect_failure(heed_command({"attend", text, "--model", model("en-de"), "--ablate", "cross"}), 2,
                 {"cross:3:5"});
}

TEST_F(ServeTest, SearchSteps) {
  start();
  const std::string text = "The teacher paints the old river.";
  const Json fields{{"text", text}, {"pair", "en-de"}, {"beam", 3}};
  const Json tree = post("/v1/search", fields).json();
  const Json best = post("/v1/translate", with(fields, {{"nbest", 3}, {"split_sentences", false}}))
                        .json()["translations"][0];
  ASSERT_FALSE(tree["finished"].empty());
  EXPECT_EQ(tree["finished"][0]["translation"], best["translation"]);
  EXPECT_EQ(tree["finished"][0]["score"], best["score"]);
  // The path of the best hypothesis through the tree has its tokens.
  std::map<int, Json> nodes;
  for (const Json& step : tree["steps"]) {
    EXPECT_LE(step["candidates"].size(), 6U);
    double before = 0;
    for (const Json& candidate : step["candidates"]) {
      if (&candidate != &step["candidates"][0]) {
        EXPECT_LE(candidate["sum"], before);
      }
      before = candidate["sum"];
      EXPECT_EQ(candidate["kept"], !candidate["node"].is_null());
      if (candidate["kept"]) nodes[candidate["node"]] = candidate;
    }
  }
  std::vector<std::string> tokens;
  for (Json node = tree["finished"][0]["node"]; !node.is_null(); node = nodes.at(node)["parent"]) {
    tokens.insert(tokens.begin(), nodes.at(node)["token"]);
  }
  EXPECT_EQ(tokens, best["pieces"].get<std::vector<std::string>>());
}

TEST_F(ServeTest, CandidatesOfTheSearchHaveTheirTexts) {
  start();
  const TranslationTokenizer tokenizer = TranslationTokenizer::load(model("de-en"));
  int bytes = 0;
  for (const std::string text : {"Der Garten.", "Ein Haus", "Gr\u00f6\u00dfe"}) {
    const HttpAnswer answer = post("/v1/search", {{"text", text}, {"pair", "de-en"}, {"beam", 3}});
    ASSERT_EQ(answer.status, 200) << answer.body;
    const Json tree = answer.json();
    std::map<int, std::vector<int32_t>> nodes;
    for (const Json& step : tree["steps"]) {
      for (const Json& candidate : step["candidates"]) {
        std::vector<int32_t> ids;
        if (!candidate["parent"].is_null()) ids = nodes.at(candidate["parent"]);
        ids.push_back(candidate["id"].get<int32_t>());
        EXPECT_EQ(candidate["text"], replace_invalid_utf8(tokenizer.decode(ids)));
        EXPECT_THAT(candidate["text"].get<std::string>(), testing::Not(HasSubstr("<0x")));
        bytes += candidate["token"].get<std::string>().starts_with("<0x") ? 1 : 0;
        if (!candidate["node"].is_null()) nodes[candidate["node"]] = ids;
      }
    }
  }
  EXPECT_GT(bytes, 0);
}

TEST_F(ServeTest, SearchesWithHeadsOff) {
  start();
  const Json fields{{"text", "The teacher paints the old river."}, {"pair", "en-de"}, {"beam", 3}};
  const Json off{{"ablate", {{{"stack", "cross"}, {"layer", 1}, {"head", 1}}, {{"stack", "encoder"}}}}};
  const Json tree = post("/v1/search", with(fields, off)).json(), whole = post("/v1/search", fields).json();
  const Json shown = post("/v1/attend", with(fields, off)).json();
  EXPECT_EQ(tree["finished"][0]["translation"], shown["target"]);
  EXPECT_EQ(tree["finished"][0]["score"], shown["score"]);
  EXPECT_NE(tree["finished"][0]["score"], whole["finished"][0]["score"]);
  EXPECT_EQ(post("/v1/search", fields).json(), whole);
  expect_error(
      post("/v1/search", with(fields, {{"ablate", {{{"stack", "cross"}, {"layer", 2}, {"head", 1}}}}})), 400,
      "layers 1 to 1");
}

TEST_F(ServeTest, MarianCodesAreLanguages) {
  const std::string name = "opus-mt-en-mul", text = kSentence["q"];
  start(with_models({name}));
  EXPECT_EQ(get("/languages").json(),
            (Json{{{"code", "en"}, {"name", "English"}, {"targets", {"es", "fr"}}},
                  {{"code", "es"}, {"name", "Spanish"}, {"targets", Json::array()}},
                  {{"code", "fr"}, {"name", "French"}, {"targets", Json::array()}}}));
  const Json described = get("/v1/models/" + name).json();
  EXPECT_EQ(described["target_languages"], (Json{"fr", "es"}));
  EXPECT_EQ(described["source"], "en");
  EXPECT_FALSE(described.contains("pair") || described.contains("target"));  // a request must choose
  const Json french = command({"translate", ">>fra<< " + text}, name)[0],
             spanish = command({"translate", text, "--target-language", "spa"}, name)[0];
  ASSERT_NE(french["pieces"], spanish["pieces"]);
  EXPECT_EQ(command({"translate", text, "--target-language", "fra"}, name)[0]["pieces"], french["pieces"]);
  for (const char* code : {"fr", "fra"}) {
    const Json answer = post("/translate", with(kSentence, {{"target", code}})).json();
    EXPECT_EQ(answer["translatedText"], french["translation"]) << answer;
  }
  const Json own = post("/v1/translate", {{"text", text}, {"model", name}, {"target_language", "es"}}).json();
  EXPECT_EQ(own["translations"][0]["pieces"], spanish["pieces"]) << own;
  EXPECT_EQ(own["target_language"], "spa");
  EXPECT_EQ(post("/v1/translate", {{"text", text}, {"pair", "en-es"}}).json()["translations"],
            own["translations"]);
  // A code in the text is no choice of the client's.
  EXPECT_EQ(post("/translate", with(kSentence, {{"q", ">>spa<< house"}, {"target", "fr"}})).status, 200);
  const Json page =
      post("/translate",
           {{"q", "<p>The <b>old</b> house.</p>"}, {"source", "en"}, {"target", "fr"}, {"format", "html"}})
          .json();
  EXPECT_THAT(page["translatedText"].get<std::string>(), testing::StartsWith("<p>"));
  EXPECT_EQ(post("/v1/attend", {{"text", text}, {"target_language", "es"}}).json()["source_tokens"][0],
            ">>spa<<");
  EXPECT_EQ(post("/v1/search", {{"text", text}, {"target_language", "es"}}).json()["source_tokens"][0],
            ">>spa<<");

  expect_error(post("/translate", with(kSentence, {{"target", "de"}})), 400, "de is not supported");
  expect_error(post("/translate", with(kSentence, {{"source", "fr"}, {"target", "en"}})), 400,
               "English (en) is not available as a target language from French (fr)");
  const auto refused = [&](const Json& more, const std::string& part) {
    for (const char* route : {"/v1/translate", "/v1/attend", "/v1/search"}) {
      expect_error(post(route, with({{"text", text}}, more)), 400, part);
    }
  };
  refused(Json::object(), "'target_language'");
  refused({{"target_language", "it"}}, "has no language 'it'; it has fr, es");
  refused({{"source_language", "de"}, {"model", name}}, "has no language 'de'; it has en");
  refused({{"source_language", "de"}, {"target_language", "es"}},
          "no model here translates from 'de' to 'es'");
  refused({{"pair", "en-it"}}, "'en-it'");
  refused({{"pair", "en-es"}, {"target_language", "es"}}, "either 'pair' or");
}

TEST_F(ServeTest, GoesThroughOtherLanguages) {
  const std::string text = "Der Lehrer sieht den alten Garten.";
  start(with_models({"de-en", "opus-mt-en-mul"}));
  EXPECT_EQ(get("/languages").json()[0],
            (Json{{"code", "de"}, {"name", "German"}, {"targets", {"en", "es", "fr"}}}));
  EXPECT_EQ(get("/v1/models").json()["chains"][0],
            (Json{{"pair", "de-es"}, {"source", "de"}, {"target", "es"}, {"through", {"en"}}}));
  const Json first = command({"translate", text}, "de-en")[0];
  const std::string between = first["translation"];
  Json expected =
      command({"translate", between, "--target-language", "spa", "--nbest", "2"}, "opus-mt-en-mul")[0];
  expected.update({{"source", text}, {"source_pieces", first["source_pieces"]}});
  expected.update({{"through", {"en"}}, {"intermediate", {between}}});
  const Json asked{{"text", text}, {"nbest", 2}};
  const Json answer = post("/v1/translate", with(asked, {{"pair", "de-es"}})).json();
  EXPECT_EQ(answer["models"], (Json{"de-en", "opus-mt-en-mul"}));
  EXPECT_EQ(answer["pair"], "de-es");
  EXPECT_EQ(answer["through"], Json{"en"});
  EXPECT_EQ(answer["translations"][0], expected);
  EXPECT_EQ(post("/v1/translate", with(asked, {{"source_language", "de"}, {"target_language", "es"}})).json(),
            answer);
  const Json best = command({"translate", between, "--target-language", "spa"}, "opus-mt-en-mul")[0];
  for (const char* source : {"de", "auto"}) {
    const Json own = post("/translate", {{"q", text}, {"source", source}, {"target", "es"}}).json();
    EXPECT_EQ(own["translatedText"], best["translation"]) << own;
  }
  const Json list = post("/translate", {{"q", {text, ""}}, {"source", "de"}, {"target", "fr"}}).json();
  EXPECT_EQ(list["translatedText"][0],
            command({"translate", between, "--target-language", "fra"}, "opus-mt-en-mul")[0]["translation"]);
  EXPECT_EQ(list["translatedText"][1], "");
  const Json page =
      post("/translate",
           {{"q", "<p>Der <b>alte</b> Garten.</p>"}, {"source", "de"}, {"target", "es"}, {"format", "html"}})
          .json();
  EXPECT_THAT(page["translatedText"].get<std::string>(), testing::StartsWith("<p>"));
  // Precisions are those of each step.
  EXPECT_EQ(post("/v1/translate", with(asked, {{"pair", "de-es"}, {"precision", "int8"}})).status, 200);
  // One model's attention, search and heads.
  const Json pair{{"text", text}, {"pair", "de-es"}};
  for (const char* route : {"/v1/attend", "/v1/search"}) {
    expect_error(post(route, pair), 400, "the model 'de-en', then its translation with 'opus-mt-en-mul'");
  }
  const Json head{{"stack", "cross"}, {"layer", 1}, {"head", 1}};
  expect_error(post("/v1/translate", with(pair, {{"ablate", {head}}})), 400, "2 models");
  expect_error(post("/v1/translate", {{"text", text}, {"pair", "es-de"}}), 400, "no model here translates");
  expect_error(post("/translate", {{"q", text}, {"source", "es"}, {"target", "de"}}), 400, "not available");
}

TEST_F(ServeTest, LanguagesOfFamilies) {
  if (!std::filesystem::is_directory(families_folder())) GTEST_SKIP() << missing_families();
  serve::ServerOptions chosen;
  chosen.threads = 2;
  const auto path = [](const std::string& name) {
    return (families_folder() / "seq2seq_families" / name / "model").string();
  };
  for (const char* name : {"nllb", "mbart50", "m2m100"})
    chosen.models.push_back({name, ModelInventory(path(name))});
  start(chosen);
  std::map<std::string, Json> languages;
  for (const Json& each : get("/languages").json()) languages[each["code"]] = each;
  ASSERT_TRUE(languages.contains("fr"));
  EXPECT_EQ(languages["fr"]["name"], "French");
  for (const Json& target : languages["fr"]["targets"]) {
    EXPECT_NE(target, "fr");
    EXPECT_TRUE(languages.contains(target));
  }
  EXPECT_EQ(get("/v1/models/m2m100").json()["source"], "en");
  const std::string text = "Tom asks me.";
  const auto translation = [&](const std::string& name, const std::string& source,
                               const std::string& target) {
    const CommandResult result = heed_command(
        {"translate", text, "--model", path(name), "--source-language", source, "--target-language", target});
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out.substr(0, result.out.size() - 1);
  };
  struct Names {
    std::string model, source, target, spanish;
  };
  for (const Names& own : {Names{"nllb", "eng_Latn", "fra_Latn", "spa_Latn"},
                           {"mbart50", "en_XX", "fr_XX", "es_XX"},
                           {"m2m100", "en", "fr", "__es__"}}) {
    const std::string expected = translation(own.model, own.source, own.target);
    for (const auto& [source, target] : {std::pair(own.source, own.target), {"en", "fr"}}) {
      const Json answer = post("/v1/translate", {{"text", text},
                                                 {"model", own.model},
                                                 {"source_language", source},
                                                 {"target_language", target}})
                              .json();
      EXPECT_EQ(answer["translations"][0]["translation"], expected) << own.model << answer;
      EXPECT_EQ(answer["target_language"], own.target);
    }
    const Json trace =
        post("/v1/attend", {{"text", text}, {"model", own.model}, {"target_language", "es"}}).json();
    EXPECT_EQ(trace["target_tokens"][0], own.spanish);
    // Which is no part of the text that a branch of the search has.
    const Json tree =
        post("/v1/search", {{"text", text}, {"model", own.model}, {"target_language", "es"}}).json();
    EXPECT_EQ(tree["steps"][0]["candidates"][0]["token"], own.spanish);
    for (const Json& step : tree["steps"]) {
      for (const Json& candidate : step["candidates"]) {
        EXPECT_THAT(candidate["text"].get<std::string>(), testing::Not(HasSubstr(own.spanish)));
      }
    }
  }
  // The first model that has both languages answers; only M2M-100 has Danish.
  EXPECT_EQ(post("/translate", {{"q", text}, {"source", "en"}, {"target", "fr"}}).json()["translatedText"],
            translation("nllb", "eng_Latn", "fra_Latn"));
  EXPECT_EQ(post("/translate", {{"q", text}, {"source", "en"}, {"target", "da"}}).json()["translatedText"],
            translation("m2m100", "en", "da"));
  // Detected languages have the names of the models.
  const auto detected = [&](const std::string& q) {
    return post("/translate", {{"q", q}, {"source", "auto"}, {"target", "da"}})
        .json()["detectedLanguage"]["language"];
  };
  EXPECT_EQ(detected("שלום, מה שלומך היום? אני שמח לראות אותך"), "he");
  EXPECT_EQ(detected("這是一個用繁體中文寫的句子，我們去圖書館。"), "zh");
  EXPECT_EQ(detected("12 345"), "en");
  expect_error(
      post("/translate",
           {{"q", "Kaixo, zer moduz zaude gaur? Etxera noa orain."}, {"source", "auto"}, {"target", "da"}}),
      400, "seems to be Basque (eu), from which no model here translates into Danish (da)");
  expect_error(post("/translate", {{"q", text}, {"source", "en"}, {"target", "tlh"}}), 400,
               "tlh is not supported");
  expect_error(post("/translate", {{"q", text}, {"source", "fr"}, {"target", "fr"}}), 400, "not available");
  expect_error(post("/v1/translate", {{"text", text}, {"model", "nllb"}, {"target_language", "da"}}), 400,
               "'target_language': the model 'nllb' has no language 'da'");
}

TEST_F(ServeTest, ClassifiesAsTheCommand) {
  start();
  const Json answer = post("/v1/classify", {{"text", {"a fine film", "", "film\ta"}}}).json();
  EXPECT_EQ(answer["model"], "classes");
  ASSERT_EQ(answer["results"].size(), 3U);
  EXPECT_EQ(answer["results"][0], command({"classify", "a fine film"}, "classes")[0]);
  EXPECT_TRUE(answer["results"][1]["label"].is_null());
  EXPECT_EQ(answer["results"][2], command({"classify", "film\ta"}, "classes")[0]);
}

/// The numbers of base64 of little-endian float32.
std::vector<float> from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  for (size_t n = 0; n < text.size(); ++n) {
    bits = bits << 6 | static_cast<uint32_t>(digits.find(text[n]) & 63);
    if (n % 4 == 3)
      bytes += {static_cast<char>(bits >> 16), static_cast<char>(bits >> 8), static_cast<char>(bits)};
  }
  std::vector<float> numbers(bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(float));
  return numbers;
}

TEST_F(ServeTest, EmbedsAsTheCommand) {
  start(with_models({"text", "classes", "masks", "vectors"}));
  const std::string text = "a fine film", other = "film, film";
  for (const char* name : {"vectors", "masks", "classes"}) {
    const Json answer = post("/v1/embeddings", {{"input", {text, "", other}}, {"model", name}}).json();
    ASSERT_EQ(answer["data"].size(), 3U) << answer;
    EXPECT_EQ(answer["object"], "list");
    EXPECT_EQ(answer["model"], name);
    EXPECT_EQ(answer["data"][2]["index"], 2);
    EXPECT_EQ(answer["data"][2]["object"], "embedding");
    // [CLS] and [SEP] around each text; the comma is one token.
    EXPECT_EQ(answer["usage"], (Json{{"prompt_tokens", 5 + 2 + 5}, {"total_tokens", 12}}));
    EXPECT_EQ(answer["data"][0]["embedding"], embedding(text, name)) << name;
    EXPECT_EQ(answer["data"][2]["embedding"], embedding(other, name)) << name;
    EXPECT_NE(answer["data"][0]["embedding"], answer["data"][2]["embedding"]);
  }
  // Without a name, the model of embeddings answers. base64 holds the same numbers.
  const Json usual = post("/v1/embeddings", {{"input", text}}).json();
  EXPECT_EQ(usual["model"], "vectors");
  const Json packed = post("/v1/embeddings", {{"input", text}, {"encoding_format", "base64"}}).json();
  EXPECT_EQ(from_base64(packed["data"][0]["embedding"]),
            usual["data"][0]["embedding"].get<std::vector<float>>());
  const Json prompted = post("/v1/embeddings", {{"input", text}, {"prompt", "query"}}).json();
  EXPECT_EQ(prompted["data"][0]["embedding"], embedding(text, "vectors", {"--prompt", "query"}));
  EXPECT_NE(prompted["data"][0]["embedding"], usual["data"][0]["embedding"]);
  const Json quantized = post("/v1/embeddings", {{"input", text}, {"precision", "int8"}}).json();
  EXPECT_EQ(quantized["data"][0]["embedding"], embedding(text, "vectors", {"--precision", "int8"}));
  std::string longer;
  for (int n = 0; n < 40; ++n) longer += "film ";
  const Json truncated = post("/v1/embeddings", {{"input", longer}}).json();
  EXPECT_EQ(truncated["data"][0]["truncated"], true);
  EXPECT_EQ(truncated["usage"]["prompt_tokens"], 16);
  EXPECT_THAT(get("/metrics").body, HasSubstr("route=\"/v1/embeddings\",status=\"200\""));

  const auto refused = [&](const Json& more, int status, const std::string& part) {
    expect_error(post("/v1/embeddings", with({{"input", "a"}}, more)), status, part);
  };
  refused({{"input", {1, 2}}}, 400, "token ids");
  refused({{"input", Json::array({Json::array({1, 2})})}}, 400, "token ids");
  refused({{"input", ""}}, 400, "missing input");
  refused({{"input", std::vector<std::string>(65, "a")}}, 400, "65 texts");
  refused({{"model", "text"}}, 400, "not one that embeds text");
  refused({{"model", "none"}}, 404, "'none'");
  refused({{"encoding_format", "hex"}}, 400, "float, base64");
  refused({{"dimensions", 8}}, 400, "'dimensions'");
  refused({{"prompt", "passage"}}, 400, "query");
  refused({{"inputs", "a"}}, 400, "input");
  start(with_models({"text"}));
  refused(Json::object(), 400, "no model that embeds text");
}

TEST_F(ServeTest, LooksIntoTheFirstModelIfNoneTranslates) {
  for (const char* name : {"text", "classes", "masks"}) {
    start(with_models({name}));
    const Json named = post("/v1/attend", {{"text", "a film"}, {"model", name}}).json();
    EXPECT_EQ(post("/v1/attend", {{"text", "a film"}}).json()["attention"], named["attention"]) << name;
    expect_error(post("/v1/attend", {{"text", "a film"}, {"pair", "de-en"}}), 400, "de-en");
  }
}

TEST_F(ServeTest, LooksDeeperAsTheCommand) {
  start();
  const std::string text = "The teacher paints the old river.";
  const auto expected = [&](const Arguments& arguments) {
    Arguments all = arguments;
    all.insert(all.end(), {"--model", model("en-de"), "--json", "--quiet"});
    return Json::parse(heed_command(all).out);
  };
  EXPECT_EQ(post("/v1/lens", {{"text", text}, {"pair", "en-de"}, {"details", true}, {"top", 2}}).json(),
            expected({"lens", text, "--details", "--top", "2"}));
  for (const std::string method : {"integrated", "gradient", "rollout", "leave-out"}) {
    EXPECT_EQ(
        post("/v1/attribute", {{"text", text}, {"pair", "en-de"}, {"token", 2}, {"method", method}}).json(),
        expected({"attribute", text, "--token", "2", "--method", method}))
        << method;
  }
  const Json tokens = expected({"attribute", text, "--method", "rollout"})["target_tokens"];
  EXPECT_EQ(post("/v1/attribute", {{"text", text}, {"token", tokens[1]}, {"method", "gradient"}}).json(),
            expected({"attribute", text, "--token", tokens[1].get<std::string>(), "--method", "gradient"}));
  const std::string other = "The teacher paints the new river.";
  for (const std::string what : {"heads", "layers", "positions"}) {
    EXPECT_EQ(post("/v1/patch", {{"text", text}, {"other", other}, {"pair", "en-de"}, {"what", what}}).json(),
              expected({"patch", text, other, "--what", what}))
        << what;
  }
  expect_error(post("/v1/patch", {{"text", text}, {"pair", "en-de"}}), 400, "'other'");
  expect_error(post("/v1/patch", {{"text", text}, {"other", text}, {"pair", "en-de"}}), 400, "same tokens");
  expect_error(post("/v1/patch", {{"text", text}, {"other", other}, {"what", "words"}}), 400, "'what'");
  const Json parts = post("/v1/lens", {{"text", text}, {"pair", "en-de"}, {"decoder_position", 1}}).json();
  EXPECT_EQ(parts["parts"]["decoder"]["states"].size(), parts["states"]["decoder"].size());
  EXPECT_EQ(parts["parts"]["encoder"], nullptr);
  expect_error(post("/v1/lens", {{"text", text}, {"encoder_position", 99}}), 400, "no token 99");
  expect_error(post("/v1/lens", {{"text", " "}}), 400, "'text'");
  expect_error(post("/v1/lens", {{"text", "a"}, {"token", 1}}), 400, "'token'");
  expect_error(post("/v1/attribute", {{"text", text}, {"method", "guess"}}), 400, "'method'");
  expect_error(post("/v1/attribute", {{"text", text}, {"token", 1000}}), 400, "no token '1000'");
  expect_error(post("/v1/attribute", {{"text", text}, {"token", 1.5}}), 400, "'token'");
  expect_error(post("/v1/patch", {{"text", text}, {"other", other}, {"token", "Katze"}}), 400,
               "no token 'Katze'");
  std::string words;
  for (int n = 0; n < 80; ++n) words += "the river ";
  expect_error(post("/v1/attribute", {{"text", words}}), 400, "tokens");
  expect_error(post("/v1/patch", {{"text", text}, {"other", words}}), 400, "tokens");
}

TEST_F(ServeTest, ServesEncodersOfAllKinds) {
  start(with_models({"masks", "vectors"}));
  const Json models = get("/v1/models").json()["data"];
  EXPECT_EQ(models[0]["task"], "masked");
  EXPECT_EQ(models[1]["task"], "embedding");
  EXPECT_EQ(models[1]["width"], 16);
  for (const char* name : {"masks", "vectors"}) {
    const Json shown = post("/v1/attend", {{"text", "a [MASK] film"}, {"model", name}}).json();
    const CommandResult result = heed_command({"attend", "a [MASK] film", "--model", model(name), "--json"});
    EXPECT_EQ(shown["attention"], Json::parse(result.out)["attention"]) << name;
    expect_error(post("/v1/classify", {{"text", "a"}, {"model", name}}), 400, "not one that classifies");
    expect_error(post("/v1/completions", {{"prompt", "a"}, {"model", name}}), 400, "not one that continues");
    expect_error(post("/v1/translate", {{"text", "a"}, {"model", name}}), 400, "not one that translates");
  }
  std::string longer;
  for (int n = 0; n < 20; ++n) longer += "film ";
  for (const char* name : {"masks", "vectors"}) {
    for (const char* route : {"/v1/attend", "/v1/lens"}) {
      expect_error(post(route, {{"text", longer}, {"model", name}}), 400, "the model's maximum is 16");
    }
  }
  for (const char* target : {"fine", "film"}) {
    const Json lens =
        post("/v1/lens", {{"text", "a [MASK] film"}, {"model", "masks"}, {"target", target}}).json();
    EXPECT_EQ(lens["expected_tokens"][2], target);
  }
  expect_error(post("/translate", kSentence), 400, "en is not supported");
}

TEST_F(ServeTest, CompletesAsTheCommand) {
  start();
  const Json fields{{"model", "text"}, {"prompt", "Once"}, {"max_tokens", 12}, {"seed", 3}};
  const Json expected = command({"generate", "Once", "--max-tokens", "12", "--seed", "3"}, "text")[0];
  const Json answer = post("/v1/completions", fields).json();
  EXPECT_EQ(answer["object"], "text_completion");
  EXPECT_EQ(answer["choices"][0]["text"], expected["text"]);
  EXPECT_EQ(answer["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(answer["usage"], (Json{{"prompt_tokens", 4}, {"completion_tokens", 12}, {"total_tokens", 16}}));
  EXPECT_EQ(post("/v1/completions", with(fields, {{"echo", true}})).json()["choices"][0]["text"],
            "Once" + expected["text"].get<std::string>());

  const Json several =
      post("/v1/completions", with(fields, {{"n", 3}, {"prompt", {"Once", "Twice"}}})).json();
  ASSERT_EQ(several["choices"].size(), 6U);
  const auto samples =
      command({"generate", "Once", "Twice", "--max-tokens", "12", "--seed", "3", "--samples", "3"}, "text");
  for (size_t n = 0; n < samples.size(); ++n) {
    EXPECT_EQ(several["choices"][n]["text"], samples[n]["text"]) << n;
    EXPECT_EQ(several["choices"][n]["index"], n);
  }
  const Json greedy =
      post("/v1/completions", {{"prompt", "Once"}, {"temperature", 0}, {"max_tokens", 5}}).json();
  EXPECT_EQ(greedy["choices"][0]["text"],
            command({"generate", "Once", "--greedy", "--max-tokens", "5"}, "text")[0]["text"]);
  expect_error(post("/v1/completions", {{"prompt", "Once"}, {"temperature", 0}, {"n", 2}}), 400, "'n' is 2");
  for (const char* name : {"presence_penalty", "frequency_penalty"}) {
    expect_error(post("/v1/completions", with(fields, {{name, 1}})), 400, name);
  }
  expect_error(post("/v1/completions", with(fields, {{"temprature", 1}})), 400, "'temprature'");
  expect_error(post("/v1/completions", {{"temprature", 1}}), 400, "'temprature'");
  EXPECT_EQ(post("/v1/completions", with(fields, {{"user", "a"}, {"stream_options", nullptr}})).status, 200);
  const auto stream_with = [&](const Json& given) {
    return post("/v1/completions", with(fields, {{"stream", true}, {"stream_options", given}}));
  };
  EXPECT_EQ(stream_with({{"include_usage", false}}).status, 200);
  EXPECT_EQ(stream_with(Json::object()).status, 200);
  for (const Json& given : {Json("usage"), Json(true), Json{{"include_usage", 1}},
                            Json{{"include_usage", true}, {"usage", true}}}) {
    expect_error(stream_with(given), 400, "'stream_options'");
  }
  for (const Json& more : {Json::object(), Json{{"stream", false}}}) {
    expect_error(post("/v1/completions", with(with(fields, more), {{"stream_options", Json::object()}})), 400,
                 "only works with 'stream'");
  }
  expect_error(post("/v1/completions", with(fields, {{"prompt", {1, 2}}})), 400, "token ids");
  expect_error(post("/v1/completions", with(fields, {{"model", "en-de"}})), 400, "'en-de'");
  expect_error(post("/v1/completions", with(fields, {{"prompt", std::string(60, 'a')}, {"stream", true}})),
               400, "60 tokens");
}

TEST_F(ServeTest, TokenLogProbabilities) {
  start();
  const Json fields{{"model", "text"}, {"prompt", "Once"}, {"max_tokens", 6}, {"seed", 3}, {"logprobs", 3}};
  const Json expected = command({"generate", "Once", "--max-tokens", "6", "--seed", "3"}, "text")[0];
  const Json probabilities = post("/v1/completions", fields).json()["choices"][0]["logprobs"];
  ASSERT_EQ(probabilities["tokens"].size(), 6U);
  for (size_t n = 0; n < 6; ++n) {
    EXPECT_NEAR(probabilities["token_logprobs"][n].get<double>(),
                expected["log_probabilities"][n].get<double>(), 1e-4);
    EXPECT_LE(probabilities["top_logprobs"][n].size(), 3U);
    for (const auto& [token, value] : probabilities["top_logprobs"][n].items()) EXPECT_LE(value, 0);
  }
  EXPECT_EQ(probabilities["text_offset"][0], 4);
  const Json echoed =
      post("/v1/completions", with(fields, {{"echo", true}})).json()["choices"][0]["logprobs"];
  ASSERT_EQ(echoed["tokens"].size(), 10U);
  EXPECT_EQ(echoed["tokens"][0], "O");
  EXPECT_TRUE(echoed["token_logprobs"][0].is_null());
  EXPECT_EQ(echoed["token_logprobs"][5], probabilities["token_logprobs"][1]);
}

TEST_F(ServeTest, TokenOffsetsAreThoseOfCharacters) {
  const TestFolder folder;
  size_t given = 0;
  const auto next = [&](std::string& chunk) {
    if (given == search::training_lines().size()) return false;
    chunk = search::training_lines()[given++] + "\n";
    return true;
  };
  const ModelTokenizer pieces =
      train_language_tokenizer({.kind = TextTokenizerKind::kSentencePiece, .vocabulary_size = 330}, next);
  models::write_untrained(folder.path(), models::small_llama(pieces.size()), 7);
  pieces.save(folder.path());
  serve::ServerOptions chosen = options();
  chosen.models.push_back({"pieces", ModelInventory(folder.path())});
  start(chosen);
  const auto echoed = [&](const std::string& model, const std::string& prompt) {
    return post("/v1/completions",
                {{"model", model}, {"prompt", prompt}, {"max_tokens", 0}, {"echo", true}, {"logprobs", 0}})
        .json()["choices"][0]["logprobs"];
  };
  EXPECT_EQ(echoed("text", "Gr\u00f6\u00dfe")["text_offset"], (Json{0, 1, 2, 2, 3, 3, 4}));
  const std::string prompt = "The river sees the old garden.";
  const Json probabilities = echoed("pieces", prompt);
  const Json &tokens = probabilities["tokens"], &offsets = probabilities["text_offset"];
  ASSERT_EQ(tokens[0].get<std::string>().front(), ' ');  // which is not in the text
  ASSERT_GT(tokens.size(), 3U);
  ASSERT_LT(tokens.size(), prompt.size());
  EXPECT_EQ(offsets[0], 0);
  for (size_t n = 1; n < tokens.size(); ++n) {
    const std::string token = tokens[n];
    EXPECT_EQ(prompt.substr(offsets[n].get<size_t>(), token.size()), token) << n;
  }
}

// Most bytes have one name, as parts of characters.
TEST_F(ServeTest, TheLikeliestOfTokensOfOneNameIsListed) {
  start();
  int bytes = 0;
  for (const std::string prompt : {"Once", "upon", "a", "time", "there"}) {
    const Json probabilities =
        post("/v1/completions",
             {{"model", "text"}, {"prompt", prompt}, {"max_tokens", 8}, {"temperature", 0}, {"logprobs", 20}})
            .json()["choices"][0]["logprobs"];
    for (size_t n = 0; n < probabilities["tokens"].size(); ++n) {
      const Json &token = probabilities["tokens"][n], &top = probabilities["top_logprobs"][n];
      bytes += token == "\ufffd" && top.size() < 19 ? 1 : 0;
      EXPECT_EQ(top[token.get<std::string>()], probabilities["token_logprobs"][n]) << prompt << " " << n;
    }
  }
  EXPECT_GT(bytes, 0);
}

/// The objects of a stream of server-sent events, which must end with [DONE].
std::vector<Json> events_of(const HttpAnswer& answer) {
  EXPECT_EQ(answer.headers.at("content-type"), "text/event-stream");
  EXPECT_TRUE(answer.body.ends_with("data: [DONE]\n\n")) << answer.body;
  std::vector<Json> events;
  std::istringstream stream(answer.body);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("data: {")) events.push_back(Json::parse(line.substr(6)));
  }
  return events;
}

TEST_F(ServeTest, SumsAtOtherTemperatures) {
  start();
  const std::vector<double> temperatures{0.05, 0.5, 1, 2};
  const Json fields{{"model", "text"}, {"prompt", "Once"}, {"max_tokens", 1}, {"logprobs", 2}};
  const Json given{{"temperatures", temperatures}};
  const Json probabilities = post("/v1/completions", with(fields, given)).json()["choices"][0]["logprobs"];
  ASSERT_EQ(probabilities["log_sums"].size(), 1U);
  const Json lens =
      post("/v1/lens", with({{"model", "text"}, {"text", "Once"}, {"decoder_position", 4}}, given)).json();
  const models::LoadedModel loaded = models::load_model(model("text"));
  const std::vector<int32_t> ids = byte_tokenizer().prompt_ids("Once ");
  search::visit_predictions(
      loaded.language_model(), loaded.context(), ids, {.first = 4}, [&](const search::Prediction& next) {
        for (size_t n = 0; n < temperatures.size(); ++n) {
          double sum = 0;
          for (const float logit : next.logits) {
            sum +=
                std::exp((static_cast<double>(logit) - static_cast<double>(next.log_sum)) / temperatures[n]);
          }
          EXPECT_NEAR(probabilities["log_sums"][0][n].get<double>(), std::log(sum), 1e-3) << temperatures[n];
          EXPECT_NEAR(lens["parts"]["decoder"]["log_sums"][n].get<double>(), std::log(sum), 1e-3);
        }
      });
  EXPECT_FALSE(post("/v1/completions", fields).json()["choices"][0]["logprobs"].contains("log_sums"));
  const Json echoed = post("/v1/completions", with(with(fields, given), {{"echo", true}})).json();
  EXPECT_TRUE(echoed["choices"][0]["logprobs"]["log_sums"][0].is_null());
  EXPECT_EQ(echoed["choices"][0]["logprobs"]["log_sums"].size(), 5U);
  const Json streamed =
      events_of(post("/v1/completions", with(with(fields, given), {{"stream", true}}))).at(0);
  EXPECT_NEAR(streamed["choices"][0]["logprobs"]["log_sums"][0][3].get<double>(),
              probabilities["log_sums"][0][3].get<double>(), 1e-3);
  for (const Json& wrong : {Json(1), Json{0}, Json{101}, Json{"1"}, Json(std::vector<int>(65, 1))}) {
    expect_error(post("/v1/completions", with(fields, {{"temperatures", wrong}})), 400, "'temperatures'");
  }
  expect_error(post("/v1/completions", with({{"model", "text"}, {"prompt", "Once"}}, given)), 400,
               "only works with 'logprobs'");
  expect_error(post("/v1/lens", with({{"model", "text"}, {"text", "Once"}}, given)), 400,
               "'decoder_position'");
}

/// Equal but for rounding: a token at a time is read in another order than all at once.
void expect_near(const Json& actual, const Json& expected) {
  if (expected.is_number_float()) {
    EXPECT_NEAR(actual.get<double>(), expected.get<double>(), 1e-4);
  } else if (expected.is_structured()) {
    ASSERT_EQ(actual.size(), expected.size()) << actual << " instead of " << expected;
    for (const auto& [key, value] : expected.items()) {
      expect_near(expected.is_array() ? actual[std::stoul(key)] : actual.at(key), value);
    }
  } else {
    EXPECT_EQ(actual, expected);
  }
}

TEST_F(ServeTest, ScoresAPromptWithoutNewTokens) {
  start();
  const Json fields{
      {"model", "text"}, {"prompt", {"Once", "On"}}, {"max_tokens", 0}, {"echo", true}, {"logprobs", 2}};
  const Json answer = post("/v1/completions", with(fields, {{"n", 2}})).json();
  ASSERT_EQ(answer["choices"].size(), 4U) << answer;
  EXPECT_EQ(answer["usage"], (Json{{"prompt_tokens", 6}, {"completion_tokens", 0}, {"total_tokens", 6}}));
  const Json longer = post("/v1/completions", with(fields, {{"prompt", "Once"}, {"max_tokens", 3}})).json();
  for (const int n : {0, 1}) {
    const Json& choice = answer["choices"][n];
    EXPECT_EQ(choice["text"], "Once");
    EXPECT_EQ(choice["finish_reason"], "length");
    ASSERT_EQ(choice["logprobs"]["tokens"], (Json{"O", "n", "c", "e"}));
    for (int token = 0; token < 4; ++token) {
      for (const char* list : {"token_logprobs", "top_logprobs", "text_offset"}) {
        expect_near(choice["logprobs"][list][token], longer["choices"][0]["logprobs"][list][token]);
      }
    }
  }
  EXPECT_EQ(answer["choices"][2]["text"], "On");
  const Json streamed{{"prompt", "Once"}, {"stream", true}};
  const std::string events = post("/v1/completions", with(fields, streamed)).body;
  EXPECT_THAT(events, HasSubstr("\"text\":\"Once\""));
  EXPECT_TRUE(events.ends_with("data: [DONE]\n\n")) << events;
  expect_error(post("/v1/completions", with(fields, {{"echo", false}})), 400, "'max_tokens'");
  expect_error(post("/v1/completions", with(fields, {{"max_tokens", -1}})), 400, "'max_tokens'");
  expect_error(post("/v1/completions", with(fields, {{"prompt", std::string(60, 'a')}})), 400, "60 tokens");
}

TEST_F(ServeTest, StreamingEqualsTheResponse) {
  start();
  for (const Json& more :
       {Json{}, Json{{"stop", "e"}}, Json{{"echo", true}}, Json{{"n", 2}}, Json{{"logprobs", 2}},
        Json{{"logprobs", 0}, {"echo", true}}, Json{{"logprobs", 1}, {"stop", {"e", "a"}}},
        Json{{"logprobs", 1}, {"n", 2}}, Json{{"logprobs", 1}, {"beam", 2}}}) {
    Json fields{{"model", "text"}, {"prompt", "Once"}, {"max_tokens", 20}, {"seed", 5}};
    if (!more.is_null()) fields.update(more);
    const Json whole = post("/v1/completions", fields).json();
    fields.update({{"stream", true}, {"stream_options", {{"include_usage", true}}}});
    std::map<int, std::string> texts;
    std::map<int, Json> reasons, logprobs;
    Json usage;
    const std::vector<Json> events = events_of(post("/v1/completions", fields));
    for (const Json& event : events) {
      for (const Json& choice : event["choices"]) {
        texts[choice["index"]] += choice["text"];
        if (!choice["finish_reason"].is_null()) reasons[choice["index"]] = choice["finish_reason"];
        for (const auto& [name, list] : choice["logprobs"].items()) {
          Json& all = logprobs[choice["index"]][name];
          for (const Json& each : list) all.push_back(each);
        }
      }
      if (event.contains("usage")) usage = event["usage"];
    }
    for (const Json& choice : whole["choices"]) {
      EXPECT_EQ(texts[choice["index"]], choice["text"].get<std::string>()) << more;
      EXPECT_EQ(reasons[choice["index"]], choice["finish_reason"]) << more;
      expect_near(logprobs[choice["index"]], choice["logprobs"]);
    }
    EXPECT_EQ(usage, whole["usage"]);
    if (more.is_null()) {
      EXPECT_GT(events.size(), 5U);  // as it is written
    }
  }
}

TEST_F(ServeTest, IsBatchInvariant) {
  start();
  std::vector<std::string> sentences;
  for (const std::string& line : search::training_lines()) {
    sentences.push_back(line);
    if (sentences.size() == 64) break;
  }
  std::map<std::string, std::vector<Json>> expected;
  for (const char* name : {"en-de", "de-en"}) {
    TestFolder folder;
    std::string all;
    for (const std::string& sentence : sentences) all += sentence + "\n";
    expected[name] = command({"translate", "--input", folder.write("in", all), "--nbest", "2"}, name);
    ASSERT_EQ(expected[name].size(), sentences.size());
  }
  const Json sampled = command({"generate", "Once", "--max-tokens", "20", "--seed", "9"}, "text")[0];
  std::vector<std::thread> clients;
  std::atomic<int> wrong = 0, answered = 0;
  for (size_t client = 0; client < 64; ++client) {
    clients.emplace_back([&, client] {
      HttpConnection connection(port_);
      for (size_t n = 0; n < 6; ++n) {
        const size_t which = (client * 7 + n * 11) % sentences.size();
        const char* pair = (client + n) % 2 == 0 ? "en-de" : "de-en";
        if (n == 3) {
          const Json answer =
              connection
                  .post("/v1/completions",
                        {{"model", "text"}, {"prompt", "Once"}, {"max_tokens", 20}, {"seed", 9}})
                  .json();
          wrong += answer["choices"][0]["text"] != sampled["text"] ? 1 : 0;
        } else {
          const Json answer =
              connection.post("/v1/translate", {{"text", sentences[which]}, {"pair", pair}, {"nbest", 2}})
                  .json();
          wrong += answer["translations"][0] != expected[pair][which] ? 1 : 0;
        }
        ++answered;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(answered, 64 * 6);
  EXPECT_EQ(wrong, 0);
  const std::string metrics = get("/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("heed_requests_total{route=\"/v1/translate\",status=\"200\"} 320"));
  EXPECT_THAT(metrics, HasSubstr("# TYPE heed_batch_rows histogram"));
  EXPECT_THAT(metrics, HasSubstr("heed_sentences_waiting 0"));
}

TEST_F(ServeTest, RequiresApiKeys) {
  TestFolder folder;
  serve::ServerOptions chosen = options();
  chosen.api_keys = folder.write("keys", "a-key-of-20-letters!\n");
  ::chmod(chosen.api_keys.c_str(), 0600);
  chosen.access_log = folder.path("log");
  start(chosen);
  expect_error(post("/translate", kSentence), 400, "API key");
  expect_error(post("/translate", with(kSentence, {{"api_key", "another-key-12345678"}})), 403,
               "Invalid API key");
  EXPECT_EQ(post("/translate", with(kSentence, {{"api_key", "a-key-of-20-letters!"}})).status, 200);
  EXPECT_EQ(post("/translate?api_key=a-key-of-20-letters!", kSentence).status, 200);
  expect_error(post("/translate?api_key=another-key-12345678", kSentence), 403, "Invalid API key");
  expect_error(post("/v1/completions", {{"prompt", "a"}}), 401, "API key");
  expect_error(get("/metrics"), 400, "API key");
  for (const char* scheme : {"Bearer", "bearer"}) {
    const std::string header = fmt::format("Authorization: {} a-key-of-20-letters!\r\n", scheme);
    EXPECT_EQ(HttpConnection(port_).get("/metrics", header).status, 200);
  }
  EXPECT_EQ(get("/health").status, 200);
  EXPECT_EQ(get("/languages").status, 200);
  server_.reset();
  const std::string log = content_of(folder.path("log"));
  EXPECT_THAT(log, testing::Not(HasSubstr("a-key-of")));
  EXPECT_THAT(log, testing::Not(HasSubstr("teacher")));
  std::istringstream lines(log);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const Json entry = Json::parse(line);
    EXPECT_TRUE(entry.contains("status") && entry.contains("seconds") && entry.contains("id")) << line;
  }
  EXPECT_EQ(count, 11);
}

TEST_F(ServeTest, LimitsTheRateAndTheQueue) {
  serve::ServerOptions chosen = options();
  chosen.requests_per_minute = 3;
  start(chosen);
  for (int n = 0; n < 3; ++n) EXPECT_EQ(post("/translate", kSentence).status, 200);
  const HttpAnswer slow_down = post("/translate", kSentence);
  expect_error(slow_down, 429, "Slowdown");
  EXPECT_GT(std::stoi(slow_down.headers.at("retry-after")), 0);
  EXPECT_EQ(get("/health").status, 200);

  TestFolder folder;
  chosen.api_keys = folder.write("keys", "a-key-of-20-letters!\n");
  ::chmod(chosen.api_keys.c_str(), 0600);
  start(chosen);
  for (int n = 0; n < 3; ++n) EXPECT_EQ(post("/translate", kSentence).status, 400);
  const HttpAnswer guessing = post("/translate", kSentence);
  expect_error(guessing, 429, "without a valid key");
  EXPECT_GT(std::stoi(guessing.headers.at("retry-after")), 0);

  chosen = options();
  chosen.queue = 0;
  chosen.threads = 1;
  start(chosen);  // 32 requests are worked on at once
  std::vector<std::thread> clients;
  std::atomic<int> good = 0, busy = 0;
  const Json large = with(kSentence, {{"q", std::vector<std::string>(64, kSentence["q"])}});
  for (int n = 0; n < 60; ++n) {
    clients.emplace_back([&] {
      const HttpAnswer answer = post("/translate", large);
      good += answer.status == 200 ? 1 : 0;
      busy += answer.status == 503 && answer.headers.contains("retry-after") ? 1 : 0;
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_GE(good, 32);
  EXPECT_GT(busy, 0);
  EXPECT_EQ(good + busy, 60);
}

TEST_F(ServeTest, MalformedRequestsCountToo) {
  serve::ServerOptions chosen = options();
  chosen.requests_per_minute = 3;
  start(chosen);
  const std::string malformed = "{\"q\":";
  for (int n = 0; n < 3; ++n) EXPECT_EQ(HttpConnection(port_).post("/translate", malformed).status, 400);
  EXPECT_EQ(HttpConnection(port_).post("/translate", malformed).status, 429);
  EXPECT_EQ(post("/translate", kSentence).status, 429);

  const TestFolder folder;
  chosen.api_keys = folder.write("keys", "a-key-of-20-letters!\n");
  ::chmod(chosen.api_keys.c_str(), 0600);
  start(chosen);
  // Those with a key in the body count for the address until they are read, then for the key alone.
  const Json good = with(kSentence, {{"api_key", "a-key-of-20-letters!"}});
  EXPECT_EQ(post("/translate", good).status, 200);
  EXPECT_EQ(post("/translate", good).status, 200);
  expect_error(HttpConnection(port_).post("/translate", malformed), 400, "API key");
  expect_error(HttpConnection(port_).post("/translate", malformed + "\"api_key"), 400, "JSON");
  expect_error(post("/translate", with(kSentence, {{"api_key", "another-key-12345678"}})), 403, "API key");
  expect_error(post("/translate", good), 429, "valid key");
  const std::string bearer =
      "Content-Type: application/json\r\nAuthorization: Bearer a-key-of-20-letters!\r\n";
  EXPECT_EQ(HttpConnection(port_).post("/translate", kSentence.dump(), bearer).status, 200);
  expect_error(HttpConnection(port_).post("/translate", kSentence.dump(), bearer), 429, "3 requests");
}

// Requests of a client that take long neither delay those of others nor make the server refuse them, and
// those without a key are answered whatever is under way.
TEST_F(ServeTest, ClientsDoNotStarveEachOther) {
  const TestFolder folder;
  serve::ServerOptions chosen = with_long_requests();
  chosen.queue = 4;
  chosen.api_keys = folder.write("keys", "first-key-0123456789\nsecond-key-0123456789\n");
  ::chmod(chosen.api_keys.c_str(), 0600);
  start(chosen);  // 32 requests of a client are worked on at once
  const auto request = [](const char* key, const Json& body) {
    const std::string text = body.dump();
    return fmt::format(
        "POST /translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {}\r\n"
        "Authorization: Bearer {}\r\n\r\n{}",
        text.size(), key, text);
  };
  const std::string slow = request("first-key-0123456789", long_request(16, 500));
  std::vector<std::unique_ptr<HttpConnection>> waiting;
  for (int n = 0; n < 36; ++n) {
    waiting.push_back(std::make_unique<HttpConnection>(port_));
    waiting.back()->send(slow);
  }
  const std::string bearer = "Authorization: Bearer second-key-0123456789\r\n";
  const auto metric = [&](const std::string& name) { return metric_with(name, bearer); };
  ASSERT_TRUE(eventually([&] { return metric("heed_requests_queued") == 4; }));
  EXPECT_EQ(metric("heed_requests_running"), 32);
  HttpConnection other(port_);
  other.send(request("second-key-0123456789", kSentence));
  EXPECT_EQ(other.receive().status, 200);
  EXPECT_EQ(post("/translate", kSentence).status, 400);
  HttpConnection more(port_);
  more.send(slow);
  EXPECT_EQ(more.receive().status, 503);
  EXPECT_GE(metric("heed_requests_running"), 16) << "these were answered before";
}

TEST_F(ServeTest, SentencesOfAClientThatLeavesAreNotTranslated) {
  start(with_long_requests());
  const auto metric = [&](const std::string& name) { return metric_with(name, ""); };
  constexpr int kTexts = 40, kLines = 500;
  const std::string body = long_request(kTexts, kLines).dump();
  {
    HttpConnection client(port_);
    client.send("POST /translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
    ASSERT_TRUE(eventually([&] { return metric("heed_sentences_waiting") > 0; }));
  }
  EXPECT_TRUE(eventually([&] { return metric("heed_requests_running") == 0; }));
  EXPECT_EQ(metric("heed_sentences_waiting"), 0);
  EXPECT_LT(metric("heed_sentences_total"), kTexts * kLines);
  EXPECT_EQ(post("/translate", kSentence).status, 200);
}

TEST_F(ServeTest, TextWithoutLettersIsCopied) {
  start();
  std::string marks;
  for (int n = 0; n < 5000; ++n) marks += "\u202e";
  for (const std::string& text : {std::string("?!"), marks, std::string("... - ...")}) {
    const std::string expected = command({"translate", text}, "en-de")[0]["translation"];
    EXPECT_EQ(expected, text);
    EXPECT_EQ(post("/translate", with(kSentence, {{"q", text}})).json()["translatedText"], expected);
  }
  // Not as large as the limits, which count what is translated.
  std::string stops;
  for (int n = 0; n < 6000; ++n) stops += ". ";
  EXPECT_EQ(post("/translate", with(kSentence, {{"q", stops + "a"}})).status, 200);
}

TEST_F(ServeTest, LimitsTheWorkOfARequest) {
  serve::ServerOptions chosen = options();
  chosen.limits.sentences = 3;
  chosen.limits.work_tokens = 60;
  start(chosen);
  const auto lines = [](int count, const std::string& line) {
    std::string text;
    for (int n = 0; n < count; ++n) text += line + "\n";
    return text;
  };
  EXPECT_EQ(post("/translate", with(kSentence, {{"q", lines(3, "old")}})).status, 200);
  expect_error(post("/translate", with(kSentence, {{"q", lines(4, "old")}})), 400, "4 sentences");
  expect_error(
      post("/translate",
           with(kSentence, {{"q", lines(2, lines(1, kSentence["q"]) + kSentence["q"].get<std::string>() +
                                               " " + kSentence["q"].get<std::string>())}})),
      400, "at most");
  expect_error(post("/translate", with(kSentence, {{"q", {"old", "old", "old", "old"}}})), 400, "sentences");
  // Lines that are not translated, and parts of them: four times as many.
  for (const std::string copied : {"", "?!"}) {
    EXPECT_EQ(post("/translate", with(kSentence, {{"q", lines(11, copied)}})).status, 200) << copied;
    expect_error(post("/translate", with(kSentence, {{"q", lines(12, copied)}})), 400, "13 lines");
    expect_error(post("/v1/translate", {{"text", {lines(5, copied), lines(6, copied)}}}), 400, "13 lines");
  }
  std::string bars;
  for (int n = 0; n < 11; ++n) bars += "| ";
  const auto in_format = [&](const std::string& text, const char* format) {
    return post("/translate", with(kSentence, {{"q", text}, {"format", format}}));
  };
  EXPECT_EQ(in_format(bars + "a", "text").status, 200);
  expect_error(in_format(bars + "| a", "text"), 400, "13 parts");
  EXPECT_EQ(in_format("<p>" + bars + "a</p>", "html").status, 200);
  expect_error(in_format("<p>" + bars + "a</p><p>a</p>", "html"), 400, "13 parts");
  EXPECT_EQ(post("/v1/completions", {{"prompt", "a"}, {"n", 3}, {"max_tokens", 20}}).status, 200);
  expect_error(post("/v1/completions", {{"prompt", "a"}, {"n", 3}, {"max_tokens", 21}}), 400, "63 tokens");
  expect_error(post("/v1/completions", {{"prompt", {"a", "b"}}, {"n", 2}, {"max_tokens", 2}}), 400,
               "4 texts");
  // With log-probabilities, the prompt is read again for each text.
  const Json completion{{"prompt", std::string(10, 'a')}, {"n", 3}, {"max_tokens", 10}};
  EXPECT_EQ(post("/v1/completions", with(completion, {{"logprobs", 1}})).status, 200);
  expect_error(post("/v1/completions", with(completion, {{"max_tokens", 11}, {"logprobs", 1}})), 400,
               "63 tokens");
  EXPECT_EQ(post("/v1/completions", with(completion, {{"max_tokens", 11}})).status, 200);
}

TEST_F(ServeTest, LimitsTheTokensWithDetails) {
  serve::ServerOptions chosen = options();
  chosen.limits.detail_tokens = 4;
  start(chosen);
  const Json sentence{{"text", kSentence["q"]}, {"pair", "en-de"}};
  EXPECT_EQ(post("/v1/attend", sentence).status, 200);
  expect_error(post("/v1/attend", with(sentence, {{"details", true}})), 400, "'text' has");
  EXPECT_EQ(post("/v1/attend", with(sentence, {{"text", "a"}, {"details", true}})).status, 200);
  expect_error(
      post("/v1/attend", with(sentence, {{"text", "a"}, {"target", kSentence["q"]}, {"details", true}})), 400,
      "'target' has");
  expect_error(post("/v1/attend", {{"model", "text"}, {"text", "abcde"}, {"details", true}}), 400,
               "'text' has");
  expect_error(post("/v1/attend", {{"model", "classes"}, {"text", "a\tfilm"}, {"details", true}}), 400,
               "'text' has 5 tokens");
}

TEST_F(ServeTest, LimitsTheAttentionWeights) {
  serve::ServerOptions chosen = options();
  chosen.limits.attention_weights = 100;
  start(chosen);
  const auto attend = [&](const Json& fields) { return post("/v1/attend", fields); };
  const Json letters{{"model", "text"}, {"text", "abcde"}};
  EXPECT_EQ(attend(letters).status, 200);  // in two layers of two heads
  for (const Json& more : {Json::object(), Json{{"packed", true}}, Json{{"words", true}},
                           Json{{"details", true}}, Json{{"picture", {{"format", "svg"}}}}}) {
    expect_error(attend(with(with(letters, {{"text", "abcdef"}}), more)), 400, "144 attention weights");
  }
  const std::string sentence = kSentence["q"];
  expect_error(attend({{"pair", "en-de"}, {"text", sentence}}), 400, "attention weights");
  expect_error(attend({{"pair", "en-de"}, {"text", "a"}, {"target", sentence}}), 400, "attention weights");
  EXPECT_EQ(attend({{"pair", "en-de"}, {"text", "a"}, {"target", "a"}}).status, 200);
  // A translation of its own, which is known after the search.
  expect_error(attend({{"pair", "en-de"}, {"text", "a"}, {"max_length", 14}}), 400, "attention weights");
  EXPECT_EQ(attend({{"pair", "en-de"}, {"text", "a"}, {"max_length", 3}}).status, 200);
  std::string film;
  for (int n = 0; n < 14; ++n) film += "film ";
  expect_error(attend({{"model", "classes"}, {"text", film}}), 400, "1024 attention weights");
  chosen.limits.attention_weights = 1024;  // of 16 tokens, as many as the model reads
  start(chosen);
  EXPECT_EQ(attend({{"model", "classes"}, {"text", film}}).status, 200);
  expect_error(attend({{"model", "classes"}, {"text", film + "film"}}), 400, "the model's maximum is 16");
}

TEST_F(ServeTest, PagesOfOtherSitesCannotSendForms) {
  serve::ServerOptions chosen = options();
  chosen.cors = "https://friend.example";
  start(chosen);
  const std::string form = "q=garden&source=en&target=de", text = kSentence.dump();
  const auto status = [&](const std::string& origin, const std::string& type, const std::string& body) {
    const std::string origin_header = origin.empty() ? "" : "Origin: " + origin + "\r\n";
    return HttpConnection(port_)
        .post("/translate", body, origin_header + "Content-Type: " + type + "\r\n")
        .status;
  };
  const std::string url_encoded = "application/x-www-form-urlencoded";
  for (const char* foreign : {"https://evil.example", "null", "http://a.evil.example"}) {
    EXPECT_EQ(status(foreign, "text/plain", text), 415) << foreign;
    EXPECT_EQ(status(foreign, url_encoded, form), 415) << foreign;
    EXPECT_EQ(status(foreign, "application/json", text), 200) << foreign;
  }
  for (const char* own : {"", "http://localhost", "https://friend.example", "moz-extension://0a1b"}) {
    EXPECT_EQ(status(own, "text/plain", text), 200) << own;
    EXPECT_EQ(status(own, url_encoded, form), 200) << own;
  }
}

// Browsers send no Origin with what a page gets from its own site.
TEST_F(ServeTest, PagesWhoseNameLeadsHereAreOfOtherSites) {
  serve::ServerOptions chosen = options();
  const auto status = [&](const std::string& host, bool with_origin = true) {
    const std::string origin = with_origin ? "Origin: http://" + host + "\r\n" : "";
    return HttpConnection(port_)
        .post("/translate", kSentence.dump(), origin + "Content-Type: application/json\r\n", host)
        .status;
  };
  const auto status_of_get = [&](const std::string& path, const std::string& host) {
    HttpConnection client(port_);
    client.send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    return client.receive().status;
  };
  char machine[256] = {};
  ASSERT_EQ(::gethostname(machine, sizeof machine - 1), 0);
  for (const char* address : {"127.0.0.1", "0.0.0.0"}) {  // a page reaches the latter as well
    chosen.http.host = address;
    start(chosen);
    for (const char* own :
         {"localhost", "localhost:80", "a.localhost", "127.0.0.1:7333", "[::1]:7333", "heed", "Printer.LOCAL",
          "host.docker.internal:7333", "pc.home.arpa.", static_cast<const char*>(machine)}) {
      EXPECT_EQ(status(own), 200) << own;
      EXPECT_EQ(status_of_get("/v1/models", own), 200) << own;
    }
    for (const char* foreign :
         {"evil.example", "evil.example:7333", "localhost.evil.example", "local.example",
          "127.0.0.1.evil.example", "xlocal.evil", "translate.example"}) {
      EXPECT_EQ(status(foreign), 403) << foreign;
      EXPECT_EQ(status(foreign, false), 403) << foreign;
      for (const char* path : {"/", "/v1/models", "/metrics"})
        EXPECT_EQ(status_of_get(path, foreign), 403) << path;
    }
  }
  chosen.allowed_hosts = {"other.example", "Translate.example"};
  start(chosen);
  EXPECT_EQ(status("translate.example"), 200);
  EXPECT_EQ(status("translate.Example.:7333"), 200);
  EXPECT_EQ(status("evil.example"), 403);
  chosen.allowed_hosts = {};
  chosen.trust_proxy = true;
  start(chosen);
  EXPECT_EQ(status("translate.example"), 200);
  chosen.trust_proxy = false;
  for (const char* wrong : {"", "http://translate.example", "translate.example:80"}) {
    chosen.allowed_hosts = {wrong};
    EXPECT_THROW(serve::Server{chosen}, Error) << wrong;
  }
}

TEST_F(ServeTest, ChatCompletionsSayWhatToUse) {
  start();
  const HttpAnswer answer = post("/v1/chat/completions", {{"model", "text"}, {"messages", Json::array()}});
  expect_error(answer, 400, "/v1/completions");
  EXPECT_EQ(answer.json()["error"]["type"], "invalid_request_error");
}

TEST_F(ServeTest, ModelsHaveNames) {
  Command command({"serve", "--model", "mine=" + model("en-de"), "--model", "other=" + model("en-de"),
                   "--port", "0", "--threads", "1"},
                  {});
  const std::string listening = "listening on http://127.0.0.1:";
  std::string errors;
  EXPECT_TRUE(eventually([&] { return (errors = command.errors_so_far()).ends_with("/\n"); }));
  ASSERT_THAT(errors, HasSubstr(listening));
  port_ = static_cast<uint16_t>(std::stoi(errors.substr(errors.find(listening) + listening.size())));
  const Json models = get("/v1/models").json()["data"];
  EXPECT_EQ(models[0]["id"], "mine");
  EXPECT_EQ(models[1]["id"], "other");
  for (const Json& body : {Json{{"model", "other"}}, Json{{"pair", "other"}}}) {
    const HttpAnswer answer = post("/v1/translate", with(body, {{"text", "garden"}}));
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.json()["model"], "other");
  }
  EXPECT_EQ(get("/languages").json()[1]["targets"], Json::array({"de"}));
  command.send_signal(SIGTERM);
  EXPECT_EQ(command.wait().status, 0);
}

TEST_F(ServeTest, RefusesNamesThatAreNotUtf8OrUsedTwice) {
  const auto expect_refusal = [&](const std::vector<std::string>& names, const std::string& part) {
    serve::ServerOptions chosen = options();
    chosen.models.clear();
    for (const std::string& name : names) chosen.models.push_back({name, ModelInventory(model("en-de"))});
    heed::expect_error(ErrorKind::kUsage, part, [&] { serve::Server{chosen}; });
  };
  expect_refusal({"a", "a"}, "called 'a'");
  expect_refusal({"a", "\xff"}, "not valid UTF-8");
}

TEST_F(ServeTest, WarnsWithoutKeysOnAllAddresses) {
  serve::ServerOptions chosen = options();
  EXPECT_THAT(serve::Server(chosen).warnings(), testing::Each(testing::Not(HasSubstr("--api-keys"))));
  chosen.http.host = "0.0.0.0";
  EXPECT_THAT(serve::Server(chosen).warnings(), testing::Contains(HasSubstr("--api-keys")));
  const TestFolder folder;
  chosen.api_keys = folder.write("keys", "a-key-of-20-letters!\n");
  ::chmod(chosen.api_keys.c_str(), 0600);
  EXPECT_THAT(serve::Server(chosen).warnings(), testing::Each(testing::Not(HasSubstr("--api-keys"))));
}

TEST_F(ServeTest, TextsAreLoggedOnlyIfAsked) {
  for (const bool asked : {false, true}) {
    const TestFolder folder;
    serve::ServerOptions chosen = options();
    chosen.access_log = folder.path("log");
    chosen.log_text = asked;
    chosen.requests_per_minute = 1;
    start(chosen);
    EXPECT_EQ(post("/translate", kSentence).status, 200);
    EXPECT_EQ(post("/translate", with(kSentence, {{"q", "The refused text."}})).status, 429);
    server_.reset();
    const std::string log = content_of(folder.path("log"));
    EXPECT_EQ(log.find("teacher") != std::string::npos, asked);
    EXPECT_EQ(log.find("refused text"), std::string::npos);
  }
}

TEST_F(ServeTest, LogsTheTextsOfEveryRoute) {
  const TestFolder folder;
  serve::ServerOptions chosen = with_models({"en-de", "text", "vectors", "classes"});
  chosen.access_log = folder.path("log");
  chosen.log_text = true;
  start(chosen);
  const std::string text = "The teacher paints the old river.", other = "The teacher paints the new river.";
  const std::vector<std::pair<std::string, Json>> requests{
      {"/translate", kSentence},
      {"/detect", {{"q", text}}},
      {"/v1/translate",
       {{"text", {text, other}},
        {"require", "garden"},
        {"forbid", {"house"}},
        {"prefix", "The"},
        {"glossary", {{"river", "Fluss"}}}}},
      {"/v1/attend", {{"text", text}, {"target", other}}},
      {"/v1/lens", {{"text", text}, {"target", other}}},
      {"/v1/attribute", {{"text", text}, {"target", other}, {"method", "gradient"}}},
      {"/v1/patch", {{"text", text}, {"other", other}}},
      {"/v1/search", {{"text", text}, {"forbid", "house"}}},
      {"/v1/classify", {{"text", text}}},
      {"/v1/completions", {{"prompt", text.substr(0, 20)}, {"stop", {"a"}}, {"max_tokens", 2}}},
      {"/v1/embeddings", {{"input", {text, other}}}}};
  for (const auto& [path, fields] : requests) EXPECT_EQ(post(path, fields).status, 200) << path;
  server_.reset();
  std::map<std::string, Json> logged;
  std::istringstream lines(content_of(folder.path("log")));
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line);
    if (!json.contains("status")) logged[json["path"]] = json;
  }
  for (const auto& [path, fields] : requests) {
    for (const auto& [name, value] : fields.items()) {
      if (name == "source" || name == "method" || name == "max_tokens") continue;
      EXPECT_EQ(logged[path][name], value) << path << " " << name;
    }
  }
}

TEST_F(ServeTest, RefusesToLogTextsNowhere) {
  serve::ServerOptions chosen = options();
  chosen.log_text = true;
  heed::expect_error(ErrorKind::kUsage, "--log-text needs --access-log", [&] { serve::Server{chosen}; });
}

TEST_F(ServeTest, AStalledReaderOfTheLogStopsNobody) {
  const TestFolder folder;
  serve::ServerOptions chosen = options();
  chosen.access_log = folder.path("log");
  ASSERT_EQ(::mkfifo(chosen.access_log.c_str(), 0600), 0);
  const int reader = ::open(chosen.access_log.c_str(), O_RDONLY | O_NONBLOCK);
  chosen.log_text = true;
  start(chosen);
  // A pipe holds 64 KiB.
  const Json long_text = with(kSentence, {{"q", std::string(20000, '!')}});
  for (int n = 0; n < 10; ++n) EXPECT_EQ(post("/translate", long_text).status, 200);
  EXPECT_EQ(get("/health").status, 200);
  ::close(reader);
  EXPECT_TRUE(server_->drain(kPatience));
}

TEST_F(ServeTest, KeysAreNotLoggedWhereverTheyStand) {
  const TestFolder folder;
  serve::ServerOptions chosen = options();
  chosen.access_log = folder.path("log");
  start(chosen);
  for (const char* path :
       {"/translate%3Fapi_key=SECRET", "/translate&api_key=SECRET", "/api_key%3DSECRET",
        "/translate%253Fapi_key%253DSECRET", "/translate%3fSECRET", "/none?api_key=SECRET"}) {
    EXPECT_EQ(post(path, kSentence).status, 404) << path;
  }
  server_.reset();
  const std::string log = content_of(folder.path("log"));
  EXPECT_THAT(log, testing::Not(HasSubstr("SECRET")));
  EXPECT_THAT(log, HasSubstr("\"path\":\"/translate\""));
}

TEST_F(ServeTest, Cors) {
  start();
  EXPECT_EQ(post("/translate", kSentence).headers.count("access-control-allow-origin"), 0U);
  serve::ServerOptions chosen = options();
  chosen.cors = "https://example.org";
  start(chosen);
  const HttpAnswer allows = post("/translate", kSentence);
  EXPECT_EQ(allows.headers.at("access-control-allow-origin"), "https://example.org");
  // The headers that docs/server.md names, which a page may read then.
  EXPECT_EQ(allows.headers.at("access-control-expose-headers"),
            "X-Request-Id, Retry-After, X-Tokens, X-Max-Tokens");
  HttpConnection client(port_);
  const auto allowed = [&](const std::string& headers) {
    client.send("OPTIONS /translate HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n");
    const HttpAnswer preflight = client.receive();
    EXPECT_EQ(preflight.status, 204);
    return preflight.headers.at("access-control-allow-headers");
  };
  const std::string wanted = "Access-Control-Request-Headers: content-type,x-stainless-lang\r\n";
  EXPECT_EQ(allowed("Origin: https://example.org\r\n" + wanted), "content-type,x-stainless-lang");
  EXPECT_EQ(allowed("Origin: https://evil.example\r\n" + wanted), "Authorization, Content-Type");
  EXPECT_EQ(allowed(wanted), "Authorization, Content-Type");
  EXPECT_EQ(allowed("Origin: https://example.org\r\nAccess-Control-Request-Headers: a\"b\r\n"),
            "Authorization, Content-Type");
  // Answers before there is a request, too.
  client.send("POST /translate HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n");
  const HttpAnswer refused = client.receive();
  EXPECT_EQ(refused.status, 413);
  EXPECT_EQ(refused.headers.at("access-control-allow-origin"), "https://example.org");
}

TEST_F(ServeTest, CommandServesUntilSigterm) {
  Command command({"serve", "--model", model("en-de"), "--port", "0", "--threads", "1"}, {});
  const std::string listening = "listening on http://127.0.0.1:";
  std::string errors;
  EXPECT_TRUE(eventually([&] { return (errors = command.errors_so_far()).ends_with("/\n"); }));
  ASSERT_THAT(errors, HasSubstr(listening));
  port_ = static_cast<uint16_t>(std::stoi(errors.substr(errors.find(listening) + listening.size())));
  const HttpAnswer page = get("/?pair=en-de&text=x");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.headers.at("content-type"), HasSubstr("text/html"));
  EXPECT_THAT(page.headers.at("content-security-policy"), HasSubstr("default-src 'none'"));
  EXPECT_THAT(page.body, testing::Not(HasSubstr("://")));
  HttpConnection client(port_);
  const std::string body = with(kSentence, {{"q", std::vector<std::string>(40, kSentence["q"])}}).dump();
  client.send("POST /translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_TRUE(eventually([&] {  // the server has it, or is already done
    const std::string metrics = get("/metrics").body;
    return metrics.find("heed_requests_running 1") != std::string::npos ||
           metrics.find("route=\"/translate\"") != std::string::npos;
  }));
  command.send_signal(SIGTERM);
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_EQ(command.wait().status, 0);
}

/// The threads of a process that have not given up to gain rights, as those that Landlock restricts have.
int unrestricted_threads(pid_t process) {
  int count = 0;
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    if (content_of(task.path() / "status").find("NoNewPrivs:\t0") != std::string::npos) ++count;
  }
  return count;
}

// The weights are read again for int8. By then, a link to a file elsewhere is in their place.
TEST_F(ServeTest, CommandReadsNoFilesElsewhere) {
  for (const char* sandbox : {"--sandbox", "--no-sandbox"}) {
    const TestFolder folder;
    std::filesystem::copy(model("en-de"), folder.path("model"));
    Command command({"serve", sandbox, "--model", folder.path("model"), "--port", "0", "--threads", "2"}, {});
    const std::string listening = "listening on http://127.0.0.1:";
    std::string errors;
    EXPECT_TRUE(eventually([&] { return (errors = command.errors_so_far()).ends_with("/\n"); }));
    ASSERT_THAT(errors, HasSubstr(listening));
    if (errors.find("no sandbox") != std::string::npos) GTEST_SKIP() << errors;
    const bool restricted = sandbox == std::string("--sandbox");
    // The thread that waits for signals runs since the start of the command, and reads nothing; nor does that
    // of the thread sanitizer.
#if defined(__SANITIZE_THREAD__)
    constexpr int kEarly = 2;
#else
    constexpr int kEarly = 1;
#endif
    const int unrestricted = unrestricted_threads(command.process());
    EXPECT_EQ(unrestricted <= kEarly, restricted) << unrestricted;
    port_ = static_cast<uint16_t>(std::stoi(errors.substr(errors.find(listening) + listening.size())));
    const Json picture{{"model", "model"}, {"text", "garden"}, {"picture", {{"format", "svg"}}}};
    EXPECT_EQ(post("/v1/attend", picture).status, 200) << "libraries and fonts are read";
    const Json text{{"model", "model"}, {"text", "garden"}, {"precision", "int8"}};
    std::filesystem::rename(folder.path("model/model.safetensors"), folder.path("elsewhere"));
    std::filesystem::create_symlink(folder.path("elsewhere"), folder.path("model/model.safetensors"));
    EXPECT_EQ(post("/v1/translate", text).status, restricted ? 500 : 200);
    std::filesystem::rename(folder.path("elsewhere"), folder.path("model/model.safetensors"));
    EXPECT_EQ(post("/v1/translate", text).status, 200);
  }
}

TEST_F(ServeTest, CommandRefusesInvalidOptions) {
  const auto run = [](Arguments arguments) {
    arguments.insert(arguments.begin(), "serve");
    return heed_command(arguments);
  };
  expect_failure(run({"--model", "/nowhere"}), 1, {"--model", "/nowhere"});
  expect_failure(run({"--pair", "xx-yy"}), 2, {"xx-yy"});
  expect_failure(run({"--model", "=" + model("en-de")}), 2, {"--model", "empty"});
  expect_failure(run({"--model", "x=/nowhere"}), 1, {"--model", "/nowhere"});
  expect_failure(run({"--port", "70000"}), 2, {"--port"});
  for (const char* const origin :
       {"foo", "https://example.org/", "https://Example.org", "https://", "://a", "https://a b"}) {
    expect_failure(run({"--model", model("en-de"), "--cors", origin}), 2, {"--cors", origin});
  }
  expect_failure(run({"--model", model("en-de"), "--web", "/nowhere"}), 1, {"--web", "/nowhere"});
  expect_failure(run({"--model", model("en-de"), "--api-keys", "/nowhere"}), 1, {"/nowhere"});
  expect_failure(run({"--model", model("en-de"), "--model", model("en-de")}), 2, {"en-de"});
}

}  // namespace
}  // namespace heed
