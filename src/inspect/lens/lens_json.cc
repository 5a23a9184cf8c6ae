#include "inspect/lens/lens_json.h"

#include <fmt/format.h>

#include <iterator>

#include "inspect/lens/lens.h"
#include "inspect/trace/json_lists.h"

namespace heed {
namespace {

constexpr int kLensVersion = 1;

/// [a, b] of what `write` gives for each item.
template <typename Items, typename Write>
std::string list_of(const Items& items, const std::string& between, const Write& write) {
  std::string list;
  for (const auto& item : items) list += (list.empty() ? "" : between) + write(item);
  return "[" + list + "]";
}

std::string predictions_json(const LensState& state) {
  return list_of(state.predictions, ",\n    ", [](const std::vector<TokenProbability>& each) {
    return list_of(each, ", ", [](const TokenProbability& one) {
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
  return list_of(stack.steps(), ",\n   ",
                 [&](size_t n) { return json_rows(stack.states[n].values, stack.states[n].width); });
}

}  // namespace

std::string lens_to_json(const Lens& lens, bool details) {
  std::string json = fmt::format(
      "{{\n \"version\": {},\n \"model\": {},\n \"source\": {},\n \"target\": {},\n"
      " \"tokens\": {{\"encoder\": {}, \"decoder\": {}}},\n \"expected_tokens\": {},\n",
      kLensVersion, json_text(lens.model), json_text(lens.source), json_text(lens.target),
      json_texts(lens.encoder.tokens), json_texts(lens.decoder.tokens), json_texts(lens.expected_tokens));
  const LensStack& predicting = predicting_stack(lens);
  std::vector<size_t> steps = predicting.steps();
  std::erase_if(steps, [&](size_t n) { return predicting.states[n].predictions.empty(); });
  json += " \"predictions\": " +
          list_of(steps, ",\n   ", [&](size_t n) { return predictions_json(predicting.states[n]); });
  json += ",\n \"states\": {\n  \"encoder\": " + list_of(lens.encoder.states, ",\n   ", state_json);
  json += ",\n  \"decoder\": " + list_of(lens.decoder.states, ",\n   ", state_json) + "\n }";
  if (details) {
    json += ",\n \"hidden\": {\n  \"encoder\": " + hidden_json(lens.encoder);
    json += ",\n  \"decoder\": " + hidden_json(lens.decoder) + "\n }";
  }
  return json + "\n}\n";
}

}  // namespace heed
