// The options of translation (translate/translate_options.h) as flags. They override the model's generation
// settings.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "cli/options/command_line.h"
#include "search/rules/option_row.h"
#include "translate/translation_settings.h"

namespace heed::cli {

/// What is given on the command line; the model directory decides the rest.
struct TranslateFlags {
  TranslateOptions options = {};
  std::string glossary = {};  ///< the file with its terms
};

/// Adds the options of these groups, under their titles.
void add_translate_options(Command& app, TranslateFlags& flags,
                           std::initializer_list<search::OptionGroup> groups);

/// The flags of these groups, such as "--beam".
std::vector<std::string> translate_flags(std::initializer_list<search::OptionGroup> groups);

/// The options with the terms of the glossary. Throws the errors of Glossary::load().
TranslateOptions read_options(const TranslateFlags& flags);

}  // namespace heed::cli
