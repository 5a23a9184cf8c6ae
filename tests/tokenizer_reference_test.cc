// The public tokenizer on the reference cases of Hugging Face's tokenizers: ids, offsets and text.
#include "heed/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/text/json_file.h"
#include "models/test_models.h"
#include "reference.h"
#include "test_folder.h"

namespace heed {
namespace {

size_t code_points_in(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; }));
}

/// Offsets in code points, one pair after the other.
std::vector<size_t> in_code_points(const std::string& text, const Tokens& tokens) {
  std::vector<size_t> offsets;
  for (const auto& [begin, end] : tokens.offsets) {
    offsets.push_back(code_points_in(text.substr(0, begin)));
    offsets.push_back(code_points_in(text.substr(0, end)));
  }
  return offsets;
}

/// A directory of a language model without weights, with the tokenizer of a case.
void write_language_model(const ReferenceCase& reference, const TestFolder& folder) {
  const auto files = reference.folder() / "model";
  copy_folder(files, folder.path());
  write_json(folder.path("config.json"),
             models::small_llama(reference.hyperparameters().at("vocabulary").get<int64_t>()).config_json());
}

TEST(PublicTokenizerReference, LanguageModels) {
  if (fixture_cases("tokenizer_json", families_folder()).empty()) GTEST_SKIP() << missing_families();
  for (const char* name : {"gpt2", "smollm2", "llama3", "qwen2", "llama2", "gemma"}) {
    SCOPED_TRACE(name);
    const ReferenceCase reference(std::string("tokenizer_json/") + name, "", families_folder());
    const TestFolder folder;
    write_language_model(reference, folder);
    const Tokenizer tokenizer(folder.path());
    int not_ascii = 0;
    for (const auto& row : reference.json().at("texts")) {
      const auto text = row.at("text").get<std::string>();
      const Tokens tokens = tokenizer.encode(text, {.special_tokens = true});
      EXPECT_EQ(tokens.ids, ids_of(row.at("ids"))) << text;
      EXPECT_EQ(in_code_points(text, tokens), row.at("offsets").get<std::vector<size_t>>()) << text;
      not_ascii += code_points_in(text) < text.size() ? 1 : 0;
    }
    EXPECT_GT(not_ascii, 20);
  }
}

TEST(PublicTokenizerReference, TranslationModels) {
  const auto cases = fixture_cases("marian");
  if (cases.empty()) GTEST_SKIP() << missing_fixtures();
  const ReferenceCase reference("marian");
  const Tokenizer tokenizer((reference.folder() / "model").string());
  const auto expect_ids = [&](const char* rows, TextSide side) {
    for (const auto& row : reference.json().at(rows).at("rows")) {
      const auto text = row.at("text").get<std::string>();
      const Tokens tokens = tokenizer.encode(text, {.side = side});
      EXPECT_EQ(tokens.ids, ids_of(row.at("ids"))) << text;
      EXPECT_EQ(tokens.offsets.size(), tokens.ids.size());
    }
  };
  expect_ids("source_tokens", TextSide::kSource);
  expect_ids("target_tokens", TextSide::kTarget);
  EXPECT_EQ(tokenizer.special_tokens().end, reference.hyperparameters().at("end_id").get<int32_t>());
  EXPECT_EQ(tokenizer.special_tokens().padding, reference.hyperparameters().at("padding_id").get<int32_t>());
}

TEST(PublicTokenizerReference, Encoders) {
  if (fixture_cases("bert").empty()) GTEST_SKIP() << missing_fixtures();
  for (const char* name : {"bert/classifier", "bert/masked_lm"}) {
    const ReferenceCase reference(name);
    const Tokenizer tokenizer((reference.folder() / "model").string());
    const auto longest = reference.hyperparameters().at("longest").get<size_t>();
    for (const auto& row : reference.json().at("texts")) {
      const Tokens tokens = tokenizer.encode(row.at("text").get<std::string>(), {.special_tokens = true});
      EXPECT_EQ(tokens.texts.front(), -1);
      if (row.at("ids").size() == longest) continue;  // truncated
      EXPECT_EQ(tokens.ids, ids_of(row.at("ids")));
    }
    for (const auto& row : reference.json().value("pairs", nlohmann::json::array())) {
      if (row.at("ids").size() == longest) continue;
      const Tokens tokens =
          tokenizer.encode_pair(row.at("first").get<std::string>(), row.at("second").get<std::string>());
      EXPECT_EQ(tokens.ids, ids_of(row.at("ids")));
      EXPECT_EQ(tokens.types, ids_of(row.at("types")));
    }
  }
}

/// With a tokenizer.json, of all families that the tokenizer of encoders reads.
TEST(PublicTokenizerReference, FamiliesOfEncoders) {
  const auto cases = fixture_cases("encoder_families", families_folder());
  if (cases.empty()) GTEST_SKIP() << missing_families();
  for (const std::string& name : cases) {
    SCOPED_TRACE(name);
    const ReferenceCase reference(name, "", families_folder());
    const Tokenizer tokenizer((reference.folder() / "model").string());
    for (const auto& row : reference.json().at("texts")) {
      EXPECT_EQ(tokenizer.encode(row.at("text").get<std::string>(), {.special_tokens = true}).ids,
                ids_of(row.at("ids")));
    }
  }
}

TEST(PublicTokenizerReference, FamiliesOfTranslationModels) {
  const auto cases = fixture_cases("seq2seq_families", families_folder());
  if (cases.empty()) GTEST_SKIP() << missing_families();
  for (const std::string& name : cases) {
    SCOPED_TRACE(name);
    const ReferenceCase reference(name, "", families_folder());
    const std::string directory = (reference.folder() / "model").string();
    const Tokenizer tokenizer(directory);
    for (const auto& row : reference.json().at("encoder_texts")) {
      const auto text = row.at("text").get<std::string>();
      const Tokens tokens = tokenizer.encode(text);
      EXPECT_EQ(tokens.ids, ids_of(row.at("ids"))) << text;
      EXPECT_EQ(tokens.texts.back(), -1);
    }
  }
}

}  // namespace
}  // namespace heed
