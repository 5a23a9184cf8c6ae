// Results as JSON: what the commands print with --json, and what the server answers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "decode/text_classifier.h"
#include "decode/text_generator.h"
#include "decode/translator.h"

namespace heed::decode {

/// source, source_pieces, then of the best candidate translation, score, log_probability, pieces and
/// log_probabilities, with `alignment` alignment too, and in alternatives the same of the others.
nlohmann::ordered_json to_json(const Translation& translation, bool alignment);

/// text, second_text of a pair, label, probability and probabilities. Null for a blank text.
nlohmann::ordered_json to_json(const ClassifierText& text, const std::vector<std::string>& labels,
                               const Classification* result);

/// One of the texts behind a prompt, the number of which counts from 0.
nlohmann::ordered_json to_json(const Generation& generation, const GeneratedText& text, size_t sample);

}  // namespace heed::decode
