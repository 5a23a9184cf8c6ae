// Results as JSON, for --json and for the server.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "heed/translator.h"
#include "tasks/text_classifier.h"
#include "tasks/text_generator.h"
#include "translate/translator.h"

namespace heed::tasks {

/// The fields source and source_pieces; for the best candidate translation, score, log_probability, pieces,
/// log_probabilities and, if the options ask for them, alignment, confidence and word_confidence; the same
/// for the other candidates in alternatives; warnings; and, of a translation in several steps, the languages
/// between as through, and what the steps before the last say as intermediate.
nlohmann::ordered_json to_json(const translate::Translation& translation, const TranslateOptions& options);

/// The fields text, second_text (of a pair), label, probability and probabilities. Null for a blank text.
nlohmann::ordered_json to_json(const ClassifierText& text, const std::vector<std::string>& labels,
                               const Classification* result);

/// Sample `number`, from 0, of a prompt.
nlohmann::ordered_json to_json(const Generation& generation, const GeneratedText& text, size_t sample);

}  // namespace heed::tasks
