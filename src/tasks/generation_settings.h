// The options of a text generator: the settings of a model directory, overridden by heed::GenerateOptions.
#pragma once

#include "heed/generator.h"
#include "tasks/text_generator.h"

namespace heed::tasks {

/// For this number of samples per prompt. Throws an OptionError for options that are invalid or exclude each
/// other.
TextGeneratorOptions generator_options(const models::LoadedModel& model, const GenerateOptions& choices,
                                       int samples = 1);

}  // namespace heed::tasks
