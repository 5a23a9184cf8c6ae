#include "train/recipe/recipe.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "models/config/decoder_only_config.h"
#include "models/config/encoder_only_config.h"
#include "models/stacks/encoder_heads.h"
#include "models/stacks/transformer.h"
#include "models/test_models.h"
#include "test_folder.h"

namespace heed::train {
namespace {

/// Directories of untrained models with a maximum length.
class RecipeFrom : public testing::Test {
 protected:
  std::string write(const std::string& name, const models::Model& model) const {
    std::filesystem::create_directory(folder_.path(name));
    models::write_untrained(folder_.path(name), model, 1);
    return folder_.path(name);
  }
  std::string write_translator(int64_t length) const {
    models::TransformerConfig c;
    c.vocabulary = 21;
    c.width = 16;
    c.encoder_layers = c.decoder_layers = 1;
    c.encoder_heads = c.decoder_heads = 2;
    c.encoder_inner_width = c.decoder_inner_width = 24;
    c.max_length = length;
    c.padding_id = c.start_id = 20;
    return write("translator" + std::to_string(length), models::Transformer(c));
  }
  static Recipe further(const std::string& model, std::vector<Setting> more = {}) {
    more.push_back({"training.from", model, "a test"});
    return make_recipe("tiny", "", more);
  }
  TestFolder folder_;
};

TEST_F(RecipeFrom, PathsAreAbsoluteAndRelativeToTheFileThatNamesThem) {
  const std::string model = write_translator(30);
  const auto from = [&](const std::string& value, const std::string& folder) {
    return make_recipe("tiny", "", read_settings("[training]\nfrom = \"" + value + "\"", "test", folder))
        .from;
  };
  EXPECT_EQ(from("translator30", folder_.path()), model);
  EXPECT_EQ(from("../translator30/", folder_.path("recipes")), model);
  EXPECT_EQ(from(model, "elsewhere"), model);
  // An option is relative to the working directory.
  const std::string relative =
      std::filesystem::path(model).lexically_relative(std::filesystem::current_path());
  ASSERT_NE(relative, model) << "the control";
  EXPECT_EQ(further(relative).from, model);
  EXPECT_EQ(make_recipe("tiny", "", {{"training.from", "", "a test"}}).from, "");
}

// `..` behind a link leaves what the link leads to.
TEST_F(RecipeFrom, PathsBehindLinksNameTheFileThatTheSystemFinds) {
  namespace fs = std::filesystem;
  fs::create_directories(folder_.path("elsewhere/data"));
  fs::create_directories(folder_.path("here"));
  fs::create_directory_symlink("../elsewhere/data", folder_.path("here/link"));
  folder_.write("elsewhere/held-out", "");
  folder_.write("here/held-out", "");
  const auto recorded = [&](const std::string& path) {
    return make_recipe("tiny", "", {{"cleaning.held_out", path, "a test", ErrorKind::kUsage, folder_.path()}})
        .cleaning.held_out.at(0);
  };
  EXPECT_EQ(recorded("here/link/../held-out"), folder_.path("here/link/../held-out"));
  EXPECT_EQ(fs::canonical(recorded("here/link/../held-out")),
            fs::canonical(folder_.path("elsewhere/held-out")));
  EXPECT_EQ(fs::canonical(recorded("here/link/../../here/./held-out")),
            fs::canonical(folder_.path("here/held-out")));
  EXPECT_EQ(recorded("./elsewhere/data/.././/held-out"), folder_.path("elsewhere/held-out"));
  EXPECT_EQ(recorded("here/link/"), folder_.path("here/link")) << "links themselves stay";
  EXPECT_EQ(recorded("/../../held-out"), "/held-out");
}

TEST(Recipe, AnyTextIsStored) {
  for (const char* each :
       {"plain", "it's", R"(a "b" \n \\)", "a\n'''b\"\"\"", "\t\x01\x7f\r", "schön 語", "#="}) {
    const std::string text = each;
    const Recipe recipe = make_recipe("tiny", "",
                                      {{"cleaning.held_out", "/" + text, "a test"},
                                       {"cleaning.held_out", "/other", "a test"},
                                       {"corpus.1.pairs", "/" + text, "a test"},
                                       {"corpus.1.tag", text, "a test"}});
    const Recipe again = make_recipe("tiny", "", read_settings(to_toml(recipe), "a test"));
    EXPECT_EQ(again.cleaning.held_out, (std::vector<std::string>{"/" + text, "/other"})) << to_toml(recipe);
    EXPECT_EQ(again.corpora.at(0).pairs, "/" + text);
    EXPECT_EQ(again.corpora.at(0).tag, text);
    EXPECT_EQ(to_toml(again), to_toml(recipe));
  }
}

TEST(Recipe, TextThatIsNotUtf8IsRefused) {
  for (const char* key : {"cleaning.held_out", "corpus.1.pairs", "corpus.1.tag", "training.from"}) {
    expect_error(ErrorKind::kUsage, "valid UTF-8", [&] {
      make_recipe("tiny", "", {{key, "sch\xF6n", "a test"}});
    });
  }
  expect_error(ErrorKind::kUsage, "'/sch\\xf6n/a' is not valid UTF-8", [&] {
    make_recipe("tiny", "", {{"corpus.1.pairs", "a", "a test", ErrorKind::kUsage, "/sch\xF6n"}});
  });
}

TEST(Recipe, NewModelsAreTrainedWithAllTheirPositions) {
  const auto recipe = [](const std::string& task, const std::string& positions) {
    std::vector<Setting> settings;
    if (!positions.empty()) settings.push_back({"model.max_length", positions, "a test"});
    return make_recipe("tiny", task, settings);
  };
  EXPECT_EQ(recipe("lm", "").block_size, 64);
  EXPECT_EQ(recipe("lm", "256").block_size, 256);
  EXPECT_EQ(recipe("lm", "32").block_size, 32);
  EXPECT_EQ(recipe("classify", "").max_length, recipe("classify", "").model.max_length);
  EXPECT_EQ(recipe("classify", "40").max_length, 40);
  EXPECT_EQ(recipe("translation", "").max_length, 128);
  EXPECT_EQ(recipe("translation", "40").max_length, 40);
}

TEST_F(RecipeFrom, DefaultLengthsAreAtMostTheModels) {
  EXPECT_EQ(further(write_translator(30)).max_length, 30);
  EXPECT_EQ(further(write_translator(500)).max_length, Recipe().max_length);
  EXPECT_EQ(further(write_translator(30), {{"training.max_length", "20", "a test"}}).max_length, 20);
  // The recipe of a training can be read where its first model no longer exists.
  const std::vector<Setting> recorded = read_settings(to_toml(further(write_translator(30))), "test");
  std::filesystem::remove_all(folder_.path("translator30"));
  EXPECT_EQ(make_recipe("tiny", "", recorded).max_length, 30);

  models::DecoderOnlyConfig text;
  text.family = &models::gpt2_family();
  text.vocabulary = 11;
  text.width = 16;
  text.layers = text.heads = 2;
  text.inner_width = 16;
  text.max_length = 24;
  EXPECT_EQ(further(write("text", models::DecoderOnly(text))).block_size, 24);
  text.max_length = 1000;
  const std::string longer = write("longer", models::DecoderOnly(text));
  EXPECT_EQ(further(longer).block_size, 512);
  EXPECT_EQ(further(longer, {{"training.batch_tokens", "200", "a test"}}).block_size, 200);

  models::EncoderOnlyConfig classes = models::bert_config(models::EncoderHead::kClassifier);
  classes.vocabulary = 11;
  classes.width = 16;
  classes.layers = classes.heads = 2;
  classes.inner_width = 24;
  classes.max_length = 18;
  classes.labels = {"bad", "good"};
  EXPECT_EQ(further(write("classes", models::EncoderClassifier(classes))).max_length, 18);
}

}  // namespace
}  // namespace heed::train
