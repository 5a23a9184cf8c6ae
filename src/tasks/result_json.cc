#include "tasks/result_json.h"

#include <nlohmann/json.hpp>

#include "text/unicode/utf8.h"
#include "translate/words/confidence.h"

namespace heed::tasks {

using nlohmann::ordered_json;

namespace {

ordered_json to_json(const translate::Candidate& candidate, const TranslateOptions& options) {
  ordered_json json{{"translation", candidate.text},
                    {"score", candidate.score},
                    {"log_probability", candidate.log_probability},
                    {"pieces", candidate.pieces},
                    {"log_probabilities", candidate.log_probabilities}};
  if (options.alignment) json["alignment"] = candidate.alignment;
  if (options.confidence) {
    json["confidence"] = translate::text_confidence(candidate.word_confidence);
    json["word_confidence"] = candidate.word_confidence;
  }
  return json;
}

}  // namespace

ordered_json to_json(const translate::Translation& translation, const TranslateOptions& options) {
  ordered_json json{{"source", translation.source}, {"source_pieces", translation.source_pieces}};
  json.update(to_json(translation.best(), options));
  if (!translation.through.empty()) {
    json.update({{"through", translation.through}, {"intermediate", translation.intermediate}});
  }
  json["warnings"] = translation.warnings;
  json["alternatives"] = ordered_json::array();
  for (size_t rank = 1; rank < translation.candidates.size(); ++rank) {
    json["alternatives"].push_back(to_json(translation.candidates[rank], options));
  }
  return json;
}

ordered_json to_json(const ClassifierText& text, const std::vector<std::string>& labels,
                     const Classification* result) {
  ordered_json json{{"text", text.first}};
  if (text.second) json["second_text"] = *text.second;
  json["label"] = nullptr;
  json["probability"] = nullptr;
  json["probabilities"] = ordered_json::object();
  if (result == nullptr) return json;
  json["label"] = labels[result->best];
  json["probability"] = result->probabilities[result->best];
  for (size_t c = 0; c < labels.size(); ++c) json["probabilities"][labels[c]] = result->probabilities[c];
  if (result->truncated) json["truncated"] = true;
  return json;
}

ordered_json to_json(const Generation& generation, const GeneratedText& text, size_t sample) {
  return {{"prompt", replace_invalid_utf8(generation.prompt)},
          {"sample", sample + 1},
          {"text", text.text},
          {"ending", name_of(text.ending)},
          {"log_probability", text.log_probability},
          {"prompt_ids", generation.prompt_ids},
          {"ids", text.ids},
          {"tokens", text.pieces},
          {"log_probabilities", text.log_probabilities}};
}

}  // namespace heed::tasks
