// Keys of tokenizer_config.json: all defaults of libraries are read, and unsupported keys that can change ids
// are refused by name.
#include "text/tokenizers/config/tokenizer_config_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/check.h"
#include "test_folder.h"
#include "text/tokenizers/config/encoder_tokenizer_config.h"
#include "text/tokenizers/config/language_tokenizer_config.h"
#include "text/tokenizers/config/translation_tokenizer_config.h"
#include "text/tokenizers/encoder_tokenizer.h"

namespace heed {
namespace {

using testing::HasSubstr;

// As transformers 4.57 and 5.23 write them, in one.
constexpr const char* kMarian = R"({"added_tokens_decoder": {"0": {"content": "</s>", "lstrip": false,
  "normalized": false, "rstrip": false, "single_word": false, "special": true}, "1": {"content": "<unk>"}},
  "additional_special_tokens": [], "backend": "custom", "clean_up_tokenization_spaces": false,
  "eos_token": "</s>", "extra_special_tokens": {}, "is_local": true, "local_files_only": false,
  "model_max_length": 512, "name_or_path": "x/y", "pad_token": "<pad>", "separate_vocabs": false,
  "source_lang": "de", "sp_model_kwargs": {}, "special_tokens_map_file": null, "target_lang": "en",
  "tokenizer_class": "MarianTokenizer", "tokenizer_file": null, "unk_token": "<unk>"})";
constexpr const char* kBert =
    R"({"added_tokens_decoder": {"0": {"content": "[PAD]"}, "3": {"content": "[MASK]"}},
  "backend": "tokenizers", "clean_up_tokenization_spaces": true, "clean_text": true, "cls_token": "[CLS]",
  "do_basic_tokenize": true, "do_lower_case": true, "extra_special_tokens": {}, "is_local": false,
  "mask_token": "[MASK]", "max_len": 512, "max_length": 128, "model_max_length": 512, "never_split": null,
  "pad_to_multiple_of": null, "pad_token": "[PAD]", "pad_token_type_id": 0, "padding_side": "right",
  "sep_token": "[SEP]", "stride": 0, "strip_accents": null, "tokenize_chinese_chars": true,
  "tokenizer_class": "BertTokenizer", "truncation_side": "right", "truncation_strategy": "longest_first",
  "unk_token": "[UNK]", "wordpieces_prefix": "##"})";
constexpr const char* kText = R"({"add_bos_token": false, "add_eos_token": false, "add_prefix_space": false,
  "added_tokens_decoder": {"0": {"content": "<|endoftext|>", "special": true}},
  "additional_special_tokens": ["<|endoftext|>"], "backend": "tokenizers", "bos_token": "<|endoftext|>",
  "chat_template": "{{ x }}", "clean_up_tokenization_spaces": true, "eos_token": {"content": "<|endoftext|>"},
  "errors": "replace", "extra_special_tokens": [], "is_local": true, "legacy": false,
  "local_files_only": true, "model_input_names": ["input_ids"], "model_max_length": 1e30, "pad_token": null,
  "padding_side": "left", "sp_model_kwargs": {}, "spaces_between_special_tokens": false,
  "split_special_tokens": false, "tokenizer_class": "GPT2Tokenizer", "trim_offsets": true,
  "unk_token": "<|endoftext|>", "use_default_system_prompt": false, "_note": "private"})";

/// `file` with one more member, before the others.
std::string with(const char* file, const std::string& member) {
  return "{" + member + ", " + std::string(file).substr(1);
}

/// Reads a file of one of the three kinds.
void read(const char* kind, const std::string& text) {
  if (kind == kMarian) {
    read_tokenizer_config(text, "tokenizer_config.json");
  } else if (kind == kBert) {
    read_wordpiece_config(text, "tokenizer_config.json");
  } else {
    const TestFolder folder;
    folder.write("tokenizer_config.json", text);
    read_text_tokenizer_config(ModelInventory(folder.path()));
  }
}

void expect_key_refused(const char* kind, const std::string& text, const std::string& key) {
  try {
    read(kind, text);
    ADD_FAILURE() << "not refused: " << key;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kFormat);
    EXPECT_THAT(error.what(), HasSubstr("'" + key + "'"));
  }
}

TEST(TokenizerConfigKeys, ReadsFilesOfLibraries) {
  for (const char* file : {kMarian, kBert, kText}) EXPECT_NO_THROW(read(file, file)) << file;
}

TEST(TokenizerConfigKeys, UnsupportedKeysAreNamed) {
  for (const char* file : {kMarian, kBert, kText}) {
    for (const std::string member :
         {R"("split_special_tokens": true)", R"("sp_model_kwargs": {"enable_sampling": true})",
          R"("remove_space": true)", R"("normalization": true)", R"("word_tokenizer_type": "mecab")",
          R"("extra_ids": 100)", R"("never_split": ["[X]"])", R"("wordpieces_prefix": "@@")"}) {
      const std::string key = member.substr(1, member.find('"', 1) - 1);
      std::string text = file;
      if (const size_t own = text.find("\"" + key + "\": "); own != std::string::npos) {
        text.replace(own, 1, "\"_");  // another value takes the place of the file's own
      }
      expect_key_refused(file, with(text.c_str(), member), key);
    }
    EXPECT_NO_THROW(read(file, with(file, R"("remove_space": false, "never": null, "word": "", "x": {})")));
  }
  expect_key_refused(kMarian, with(kMarian, R"("do_lower_case": true)"), "do_lower_case");
  expect_key_refused(kMarian, with(kMarian, R"("add_prefix_space": true)"), "add_prefix_space");
  expect_key_refused(kBert, with(kBert, R"("add_bos_token": true)"), "add_bos_token");
}

TEST(TokenizerConfigKeys, TokensMustBeInTheVocabulary) {
  const auto tokens = [](const char* key) { return "\"" + std::string(key) + R"(": ["<extra>"])"; };
  for (const char* key : {"additional_special_tokens", "extra_special_tokens"}) {
    expect_key_refused(kMarian, "{" + tokens(key) + "}", key);
    expect_key_refused(kText, "{" + tokens(key) + "}", key);
  }
  const std::string added = R"({"added_tokens_decoder": {"7": {"content": "<extra>"}}})";
  expect_key_refused(kMarian, added, "added_tokens_decoder");
  EXPECT_NO_THROW(read(kText, added));
  // tokenizer.json has them.
  const TestFolder folder;
  folder.write("tokenizer_config.json", "{" + tokens("additional_special_tokens") + "}");
  folder.write("tokenizer.json", "{}");
  EXPECT_NO_THROW(read_text_tokenizer_config(ModelInventory(folder.path())));

  const TestFolder bert;
  wordpiece_tokenizer({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"}, {}).save(bert.path());
  EXPECT_NO_THROW(load_encoder_tokenizer(bert.path()));
  bert.write("tokenizer_config.json", added);
  std::filesystem::remove(bert.path("tokenizer.json"));
  EXPECT_THROW(load_encoder_tokenizer(bert.path()), Error);
}

}  // namespace
}  // namespace heed
