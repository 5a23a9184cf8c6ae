// Search options shared by all subcommands that translate. They override the model's generation settings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command_line.h"
#include "decode/translator.h"

namespace heed::cli {

/// Options given on the command line. Empty ones keep the model's settings.
struct SearchFlags {
  std::optional<int> beam, no_repeat_ngram;
  std::optional<double> length_penalty;
  std::optional<int64_t> max_length;
  std::optional<uint64_t> batch_tokens;
};

/// Adds --beam, --length-penalty, --max-length, --no-repeat-ngram and --batch-tokens.
void add_search_options(Command& app, SearchFlags& flags);

/// The model's generation settings, overridden by `flags`. Sentence splitting, protection of spans such as
/// URLs and true-casing are on.
decode::TranslatorOptions translator_options(const SearchFlags& flags, const models::LoadedModel& model);

}  // namespace heed::cli
