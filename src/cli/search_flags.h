// Search options shared by all subcommands that translate. They override the model's generation settings.
#pragma once

#include "cli/command_line.h"
#include "decode/constraints.h"
#include "decode/translation_settings.h"

namespace heed::cli {

/// What was given on the command line; the model directory decides the rest.
using SearchFlags = decode::SearchChoices;

/// Adds --beam, --length-penalty, --max-length, --no-repeat-ngram and --batch-tokens.
void add_search_options(Command& app, SearchFlags& flags);

/// Adds --prefix, --require and --forbid.
void add_constraint_options(Command& app, decode::Constraints& constraints);

/// The model's generation settings, overridden by `flags`. Sentence splitting, protection of spans such as
/// URLs and true-casing are on.
decode::TranslatorOptions translator_options(const SearchFlags& flags, const models::LoadedModel& model);

}  // namespace heed::cli
