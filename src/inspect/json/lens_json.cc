#include "inspect/json/lens_json.h"

#include <fmt/format.h>

#include <iterator>
#include <span>

#include "base/check.h"
#include "inspect/json/json_lists.h"
#include "inspect/lens/lens.h"

namespace heed {
namespace {

constexpr int kLensVersion = 1;

std::string predictions_json(const LensState& state) {
  return json_list(state.predictions, ",\n    ", [](const std::vector<TokenProbability>& each) {
    return json_list(each, ", ", [](const TokenProbability& one) {
      return fmt::format("{{\"token\": {}, \"probability\": {}}}", json_text(one.token), one.probability);
    });
  });
}

std::string state_json(const LensState& state) {
  std::string json = fmt::format("{{\"layer\": {}, \"part\": \"{}\", \"norms\": {}", state.layer, state.part,
                                 json_numbers(state.norms));
  if (!state.added_norms.empty()) json += ", \"added_norms\": " + json_numbers(state.added_norms);
  if (!state.predictions.empty()) {
    json += ",\n   \"expected\": " + json_numbers(state.expected);
    json += ",\n   \"predictions\": " + predictions_json(state);
  }
  return json + "}";
}

std::string hidden_json(const LensStack& stack) {
  return json_list(stack.steps(), ",\n   ",
                   [&](size_t n) { return json_rows(stack.states[n].values, stack.states[n].width); });
}

/// The vector of a token, counted from 1; [] where nothing was recorded.
std::string vector_of(const std::vector<float>& values, const LensStack& stack, int position) {
  const size_t width = values.size() / stack.tokens.size();
  return json_numbers(std::span(values).subspan((static_cast<size_t>(position) - 1) * width, width));
}

std::string ids_json(const LensStack& stack) {
  return json_list(stack.ids, ",", [](int32_t id) { return std::to_string(id); });
}

std::string parts_json(const LensStack& stack, int position, const char* name,
                       const std::vector<float>& log_sums) {
  if (position == 0) return "null";
  const auto index = static_cast<size_t>(position) - 1;
  if (position < 0 || index >= stack.tokens.size()) {
    fail(ErrorKind::kUsage, "the {} has no token {}: it reads {}", name, position, stack.tokens.size());
  }
  const auto state = [&](const LensState& each) {
    std::string json = "{\"vector\": " + vector_of(each.values, stack, position);
    if (!each.heads.empty()) json += ", \"heads\": " + vector_of(each.heads, stack, position);
    if (!each.added.empty()) json += ", \"added\": " + vector_of(each.added, stack, position);
    if (!each.log_sums.empty()) json += fmt::format(", \"log_sum\": {}", each.log_sums[index]);
    return json + "}";
  };
  return fmt::format("{{\"position\": {}, \"ids\": {}, \"embedding\": {},\n   \"states\": {}{}}}", position,
                     ids_json(stack), vector_of(stack.embeddings, stack, position),
                     json_list(stack.states, ",\n    ", state),
                     log_sums.empty() ? "" : ",\n   \"log_sums\": " + json_numbers(log_sums));
}

}  // namespace

std::string lens_to_json(const Lens& lens, const LensJsonOptions& options) {
  std::string json = fmt::format(
      "{{\n \"version\": {},\n \"model\": {},\n \"source\": {},\n \"target\": {},\n"
      " \"tokens\": {{\"encoder\": {}, \"decoder\": {}}},\n \"expected_tokens\": {},\n",
      kLensVersion, json_text(lens.model), json_text(lens.source), json_text(lens.target),
      json_texts(lens.encoder.tokens), json_texts(lens.decoder.tokens), json_texts(lens.expected_tokens));
  const LensStack& predicting = predicting_stack(lens);
  std::vector<size_t> steps = predicting.steps();
  std::erase_if(steps, [&](size_t n) { return predicting.states[n].predictions.empty(); });
  json += " \"predictions\": " +
          json_list(steps, ",\n   ", [&](size_t n) { return predictions_json(predicting.states[n]); });
  json += ",\n \"states\": {\n  \"encoder\": " + json_list(lens.encoder.states, ",\n   ", state_json);
  json += ",\n  \"decoder\": " + json_list(lens.decoder.states, ",\n   ", state_json) + "\n }";
  if (options.encoder_position != 0 || options.decoder_position != 0) {
    const auto parts = [&](const LensStack& stack, int position, const char* name) {
      const bool predicts = &stack == &predicting;
      return parts_json(stack, position, name, predicts ? options.log_sums : std::vector<float>());
    };
    json += ",\n \"parts\": {\n  \"encoder\": " + parts(lens.encoder, options.encoder_position, "encoder");
    json += ",\n  \"decoder\": " + parts(lens.decoder, options.decoder_position, "decoder") + "\n }";
  }
  if (options.details) {
    json += ",\n \"hidden\": {\n  \"encoder\": " + hidden_json(lens.encoder);
    json += ",\n  \"decoder\": " + hidden_json(lens.decoder) + "\n }";
  }
  return json + "\n}\n";
}

}  // namespace heed
