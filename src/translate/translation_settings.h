// The options of a translator: the settings of a model directory, overridden by heed::TranslateOptions.
#pragma once

#include "heed/translator.h"
#include "translate/translator.h"

namespace heed::translate {

/// The settings of the model directory, with lines split into sentences and spans such as URLs protected.
/// Throws the errors of reading generation_config.json.
TranslatorOptions default_translator_options(const models::LoadedModel& model);

/// Overrides the settings with the options that are given. Throws an OptionError for options that are invalid
/// or exclude each other, and the errors of Glossary::add() and heads_off().
void apply(const TranslateOptions& choices, TranslatorOptions& options);
/// default_translator_options() with apply().
TranslatorOptions translator_options(const models::LoadedModel& model, const TranslateOptions& choices);

/// The options for the lines of a document, whose markup moves along with the alignment. Throws an
/// OptionError for options that have a meaning for lines only.
TranslateOptions options_for_document(TranslateOptions options);

}  // namespace heed::translate
