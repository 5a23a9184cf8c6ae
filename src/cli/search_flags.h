// The options of every subcommand that searches for translations, and what they change in the model's own
// settings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command_line.h"
#include "decode/translator.h"

namespace heed::cli {

/// What was given on the command line; the model directory decides the rest.
struct SearchFlags {
  std::optional<int> beam, no_repeat_ngram;
  std::optional<double> length_penalty;
  std::optional<int64_t> max_length;
  std::optional<uint64_t> batch_tokens;
};

/// Adds --beam, --length-penalty, --max-length, --no-repeat-ngram and --batch-tokens.
void add_search_options(Command& app, SearchFlags& flags);

/// What the model directory says, overridden by what was given. Lines are split into sentences,
/// and what a translation keeps is protected.
decode::TranslatorOptions translator_options(const SearchFlags& flags, const models::LoadedModel& model);

}  // namespace heed::cli
