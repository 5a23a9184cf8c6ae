// A model of many languages for command tests.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/files/file.h"
#include "models/test_models.h"
#include "search/test_seq2seq.h"

namespace heed {

/// Writes an untrained Marian model that translates into the languages of two codes.
inline void write_with_codes(const std::string& path) {
  std::filesystem::create_directory(path);
  const TranslationTokenizer& tokenizer = search::small_tokenizer();
  tokenizer.save(path);
  auto vocabulary = nlohmann::json::parse(tokenizer.vocabulary().to_json());
  for (const char* code : {">>fra<<", ">>spa<<"}) vocabulary[code] = vocabulary.size();
  write_file(path + "/vocab.json", vocabulary.dump());
  models::TransformerConfig config = search::small_translator_config();
  config.vocabulary += 2;
  models::write_untrained(path, models::Transformer(config), 8);
}

}  // namespace heed
