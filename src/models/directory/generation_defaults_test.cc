#include "models/directory/generation_defaults.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "test_folder.h"

namespace heed::models {
namespace {

using Ids = std::vector<int32_t>;

constexpr const char* kMarianConfig =
    R"({"vocab_size": 100, "eos_token_id": [7, 8], "decoder_start_token_id": 99,
                                    "num_beams": 6, "bad_words_ids": [[99]], "max_length": 20})";

GenerationDefaults defaults_of(const std::string& generation, Task task = Task::kTranslation,
                               const std::string& config = kMarianConfig) {
  const TestFolder folder;
  if (!generation.empty()) folder.write("generation_config.json", generation);
  return read_generation_defaults(ModelInventory(folder.path()), JsonObject::parse(config, "config.json"),
                                  task);
}

TEST(GenerationDefaults, SupportedKeys) {
  const GenerationDefaults d = defaults_of(R"({"bad_words_ids": [[99], [4]], "begin_suppress_tokens": [3],
    "decoder_start_token_id": 99, "early_stopping": "never", "eos_token_id": [1, 2, 4],
    "forced_bos_token_id": 12, "forced_eos_token_id": 2, "length_penalty": 0.6, "max_length": 64,
    "max_new_tokens": 30, "min_length": 5, "min_new_tokens": 4, "no_repeat_ngram_size": 3, "num_beams": 5,
    "renormalize_logits": true, "repetition_penalty": 1.2, "suppress_tokens": [50, 51]})");
  EXPECT_EQ(d.forbidden_ids, (Ids{99, 50, 51}));  // bad words may not forbid the end
  EXPECT_EQ(d.begin_forbidden_ids, (Ids{3}));
  EXPECT_EQ(d.early_stopping, EarlyStopping::kNever);
  EXPECT_EQ(d.end_ids, (Ids{1, 2, 4}));
  EXPECT_EQ(d.forced_begin_id, 12);
  EXPECT_EQ(d.forced_end_id, 2);
  EXPECT_EQ(d.length_penalty, 0.6);
  EXPECT_EQ(d.max_length, 64);
  EXPECT_EQ(d.max_new, 30);
  EXPECT_EQ(d.min_length, 5);
  EXPECT_EQ(d.min_new, 4);
  EXPECT_EQ(d.no_repeat_ngram_size, 3);
  EXPECT_EQ(d.beams, 5);
  EXPECT_TRUE(d.renormalize);
  EXPECT_EQ(d.repetition_penalty, 1.2);
  EXPECT_FALSE(d.sample.has_value());
}

TEST(GenerationDefaults, WritesWhatIsNotTheDefault) {
  const TestFolder folder;
  GenerationDefaults defaults;
  defaults.beams = 4;
  defaults.temperature = 0;
  write_generation_defaults(folder.path(), defaults, {.end = 7});
  EXPECT_EQ(JsonObject::read(folder.path("generation_config.json")).keys(),
            (std::vector<std::string>{"eos_token_id", "num_beams", "temperature"}));
}

TEST(GenerationDefaults, SamplingSettings) {
  EXPECT_EQ(defaults_of(R"({"temperature": 0})", Task::kLanguageModel).temperature, 0);
  const GenerationDefaults few = defaults_of(R"({"temperature": 0.6, "top_p": 0.8})", Task::kLanguageModel);
  EXPECT_FALSE(few.sample.has_value());
  EXPECT_EQ(few.temperature, 0.6);
  EXPECT_EQ(few.top_p, 0.8);
  EXPECT_FALSE(few.top_k.has_value());
  const GenerationDefaults all = defaults_of(R"({"do_sample": true, "min_p": 0.1})", Task::kLanguageModel);
  EXPECT_EQ(all.sample, true);
  EXPECT_EQ(all.temperature, 1);
  EXPECT_EQ(all.top_k, 50);
  EXPECT_EQ(all.top_p, 1);
  EXPECT_EQ(all.min_p, 0.1);
  expect_error(ErrorKind::kFormat, "'num_beams' is 3",
               [] { defaults_of(R"({"do_sample": true, "num_beams": 3})"); });
}

// Older directories have these settings in config.json, with the library's defaults for missing keys.
TEST(GenerationDefaults, ConfigJsonIsUsedWithoutGenerationConfig) {
  const GenerationDefaults old = defaults_of("");
  EXPECT_EQ(old.beams, 6);
  EXPECT_EQ(old.forbidden_ids, Ids{99});
  EXPECT_EQ(old.end_ids, (Ids{7, 8}));
  EXPECT_FALSE(old.max_length.has_value());
  EXPECT_EQ(defaults_of("", Task::kTranslation, R"({"vocab_size": 9, "max_length": 40})").max_length, 40);
  const GenerationDefaults file = defaults_of(R"({"max_length": 20})");
  EXPECT_EQ(file.beams, 1);
  EXPECT_TRUE(file.forbidden_ids.empty());
  EXPECT_EQ(file.max_length, 20);
  EXPECT_EQ(file.end_ids, (Ids{7, 8}));
}

TEST(GenerationDefaults, UnsupportedKeysAreNamed) {
  const std::vector<std::pair<std::string, std::string>> cases{{"num_beams", "4096"},
                                                               {"num_beams", "0"},
                                                               {"max_length", "1"},
                                                               {"max_length", "10000000"},
                                                               {"num_beam_groups", "2"},
                                                               {"diversity_penalty", "0.5"},
                                                               {"typical_p", "0.9"},
                                                               {"penalty_alpha", "0.6"},
                                                               {"epsilon_cutoff", "0.1"},
                                                               {"eta_cutoff", "0.1"},
                                                               {"guidance_scale", "1.5"},
                                                               {"encoder_no_repeat_ngram_size", "2"},
                                                               {"stop_strings", "[\"x\"]"},
                                                               {"exponential_decay_length_penalty", "[1, 2]"},
                                                               {"suppress_tokens", "[100]"},
                                                               {"bad_words_ids", "[[1, 2]]"},
                                                               {"sequence_bias", "[[[1],2]]"},
                                                               {"force_words_ids", "[[1]]"},
                                                               {"repetition_penalty", "0"},
                                                               {"temperature", "-0.5"},
                                                               {"top_p", "0"},
                                                               {"eos_token_id", "100"},
                                                               {"decoder_start_token_id", "5"},
                                                               {"top_h", "0.4"},
                                                               {"frequency_penalty", "0.4"},
                                                               {"watermarking_config", "{\"bias\": 2}"}};
  for (const auto& [key, value] : cases) {
    const std::string text = "{\"" + key + "\": " + value + "}";
    expect_error(ErrorKind::kFormat, key, [&] { defaults_of(text); });
  }
  expect_error(ErrorKind::kFormat, "forced_bos_token_id",
               [] { defaults_of(R"({"forced_bos_token_id": 3})", Task::kLanguageModel); });
}

TEST(GenerationDefaults, ReadsFilesOfTransformers) {
  for (const char* text :
       {R"({"_from_model_config": true, "bos_token_id": 0, "eos_token_id": 0, "output_attentions": false,
            "output_hidden_states": false, "transformers_version": "5.23.0", "use_cache": true})",
        R"({"bos_token_id": 1, "do_sample": true, "eos_token_id": [2, 3], "temperature": 0.6, "top_p": 0.9,
            "transformers_version": "4.45.0.dev0"})",
        R"({"max_length": 20, "max_new_tokens": null, "min_length": 0, "min_new_tokens": null,
            "early_stopping": false, "max_time": null, "stop_strings": null, "do_sample": false,
            "num_beams": 1, "use_cache": true, "cache_implementation": null, "temperature": 1.0,
            "top_k": 50, "top_p": 1.0, "min_p": null, "typical_p": 1.0, "epsilon_cutoff": 0.0,
            "eta_cutoff": 0.0, "repetition_penalty": 1.0, "encoder_repetition_penalty": 1.0,
            "length_penalty": 1.0, "no_repeat_ngram_size": 0, "renormalize_logits": false,
            "remove_invalid_values": false, "token_healing": false, "num_return_sequences": 1,
            "encoder_no_repeat_ngram_size": 0, "is_assistant": false, "num_assistant_tokens": 20,
            "num_assistant_tokens_schedule": "constant", "assistant_confidence_threshold": 0.4,
            "assistant_lookbehind": 10, "target_lookbehind": 10, "disable_compile": false,
            "diversity_penalty": 0.0, "num_beam_groups": 1, "_from_model_config": false})"}) {
    EXPECT_NO_THROW(defaults_of(text, Task::kLanguageModel)) << text;
  }
}

// A fine-tuned model keeps the settings of the original one.
TEST(GenerationDefaults, AreWrittenAsTheyWereRead) {
  const GenerationDefaults read = defaults_of(R"({"alignment_heads": [[1, 0], [2, 7]],
    "begin_suppress_tokens": [3], "early_stopping": true,
    "eos_token_id": [7, 8], "forced_bos_token_id": 12, "forced_eos_token_id": 7, "length_penalty": 2.0,
    "max_new_tokens": 30, "min_length": 5, "min_new_tokens": 4, "no_repeat_ngram_size": 3, "num_beams": 5,
    "repetition_penalty": 1.2, "temperature": 0.5})");
  const TestFolder folder;
  write_generation_defaults(folder.path(), read, {.padding = 1, .end = 7, .start = 99});
  const GenerationDefaults again = read_generation_defaults(
      ModelInventory(folder.path()), JsonObject::parse(kMarianConfig, "config.json"), Task::kTranslation);
  EXPECT_EQ(again.alignment_heads, (std::vector<AlignmentHead>{{1, 0}, {2, 7}}));
  EXPECT_EQ(again.begin_forbidden_ids, read.begin_forbidden_ids);
  EXPECT_EQ(again.early_stopping, EarlyStopping::kTrue);
  EXPECT_EQ(again.end_ids, read.end_ids);
  EXPECT_EQ(again.forced_begin_id, 12);
  EXPECT_EQ(again.forced_end_id, 7);
  EXPECT_EQ(again.max_new, 30);
  EXPECT_EQ(again.min_length + again.min_new, 9);
  EXPECT_EQ(again.no_repeat_ngram_size, 3);
  EXPECT_EQ(again.repetition_penalty, 1.2);
  EXPECT_EQ(again.temperature, 0.5);
}

TEST(GenerationDefaults, OneEndTokenIsWritten) {
  const TestFolder folder;
  write_generation_defaults(folder.path(), defaults_of(R"({"eos_token_id": 5})"), {.end = 7});
  EXPECT_EQ(JsonObject::read(folder.path("generation_config.json")).integer("eos_token_id"), 5);
}

// The defaults of the config classes, which hold where there is no generation_config.json.
TEST(GenerationDefaults, OldDirectories) {
  const auto of = [](const std::string& more) {
    return defaults_of(
        "", Task::kTranslation,
        R"({"model_type": "bart", "vocab_size": 100, "eos_token_id": 2, "bos_token_id": 0)" + more + "}");
  };
  EXPECT_EQ(of("").forced_end_id, 2);
  EXPECT_EQ(of(", \"forced_eos_token_id\": null").forced_end_id, -1);
  EXPECT_EQ(of("").forced_begin_id, -1);
  EXPECT_EQ(of(", \"force_bos_token_to_be_generated\": true").forced_begin_id, 0);
  const auto of_marian = [](const std::string& more) {
    return defaults_of("", Task::kTranslation, R"({"model_type": "marian", "vocab_size": 100)" + more + "}");
  };
  EXPECT_EQ(of_marian("").forced_end_id, 0);
  EXPECT_EQ(of_marian(", \"eos_token_id\": 3").forced_end_id, 3);
  EXPECT_EQ(of_marian(", \"forced_eos_token_id\": null").forced_end_id, -1);
  const std::string config = R"({"model_type": "m2m_100", "vocab_size": 100, "pad_token_id": 1})";
  defaults_of(R"({"decoder_start_token_id": 2})", Task::kTranslation, config);
  expect_error(ErrorKind::kFormat, "'decoder_start_token_id'",
               [&] { defaults_of(R"({"decoder_start_token_id": 1})", Task::kTranslation, config); });
}

TEST(GenerationDefaults, DanglingLinksAreErrors) {
  const TestFolder folder;
  std::filesystem::create_symlink("elsewhere.json", folder.path("generation_config.json"));
  expect_error(ErrorKind::kNotFound, "generation_config.json", [&] {
    read_generation_defaults(ModelInventory(folder.path()), JsonObject::parse(kMarianConfig, "config.json"),
                             Task::kTranslation);
  });
}

}  // namespace
}  // namespace heed::models
