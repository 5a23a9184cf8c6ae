// Test helper: a small tokenizer that trains quickly.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "text/tokenizers/translation_tokenizer.h"

namespace heed::search {

inline const std::vector<std::string>& training_lines() {
  static const std::vector<std::string> lines = [] {
    const std::vector<std::string> nouns{"house",  "garden", "river",   "teacher",
                                         "window", "letter", "mountain"};
    const std::vector<std::string> verbs{"sees", "finds", "likes", "forgets", "paints"};
    std::vector<std::string> made;
    for (const std::string& a : nouns) {
      for (const std::string& verb : verbs) {
        for (const std::string& b : nouns) made.push_back(fmt::format("The {} {} the old {}.", a, verb, b));
      }
    }
    return made;
  }();
  return lines;
}

/// Trains on training_lines() for both sides.
inline TranslationTokenizer train_tokenizer(const TokenizerTrainOptions& options) {
  const auto lines = [] {
    return [at = size_t{0}](std::string& line) mutable {
      if (at == training_lines().size()) return false;
      line = training_lines()[at++];
      return true;
    };
  };
  return TranslationTokenizer::train(options, lines(), lines());
}

inline const TranslationTokenizer& small_tokenizer() {
  static const TranslationTokenizer tokenizer = [] {
    TokenizerTrainOptions options;
    options.source.vocabulary_size = 330;  // 256 of them are bytes
    options.source_language = "en";
    options.target_language = "de";
    return train_tokenizer(options);
  }();
  return tokenizer;
}

/// The same with two placeholder pieces.
inline const TranslationTokenizer& small_tokenizer_with_placeholders() {
  static const TranslationTokenizer tokenizer = [] {
    TokenizerTrainOptions options;
    options.source.vocabulary_size = 340;
    options.source.symbols = {"⟦0⟧", "⟦1⟧"};
    options.source_language = "en";
    options.target_language = "de";
    return train_tokenizer(options);
  }();
  return tokenizer;
}

}  // namespace heed::search
