#include "inspect/json/attribution_json.h"

#include <fmt/format.h>

#include "inspect/json/json_lists.h"

namespace heed {
namespace {

constexpr int kAttributionVersion = 1;

}  // namespace

std::string attribution_to_json(const Attribution& a) {
  std::string json = fmt::format(
      "{{\n \"version\": {},\n \"model\": {},\n \"source\": {},\n \"target\": {},\n \"source_tokens\": {},\n"
      " \"target_tokens\": {},\n \"method\": \"{}\",\n \"baseline\": {},\n",
      kAttributionVersion, json_text(a.model), json_text(a.source), json_text(a.target),
      json_texts(a.source_tokens), json_texts(a.target_tokens), attribution_method_name(a.method),
      a.baseline.empty() ? "null" : json_text(a.baseline));
  using Token = TokenAttribution;
  const auto add = [&](const char* name, const std::string& list) {
    json += fmt::format(" \"{}\": {}", name, list);
  };
  const auto number = [](double value) { return fmt::format("{}", value); };
  add("tokens",
      json_list(a.tokens, ", ", [](const Token& t) { return std::to_string(t.token + 1); }) + ",\n");
  add("instead", json_list(a.tokens, ", ", [](const Token& t) {
                   return t.instead.empty() ? std::string("null") : json_text(t.instead);
                 }) + ",\n");
  const bool rollout = a.method == AttributionMethod::kRollout;
  add("log_probability", json_list(a.tokens, ", ", [&](const Token& t) {
                           return rollout ? std::string("null") : number(t.log_probability);
                         }) + ",\n");
  add("attributions",
      json_list(a.tokens, ",\n  ", [](const Token& t) { return json_numbers(t.values); }) + ",\n");
  add("sum", json_list(a.tokens, ", ", [&](const Token& t) { return number(t.sum); }) + ",\n");
  add("difference", json_list(a.tokens, ", ", [&](const Token& t) {
                      return t.difference ? number(*t.difference) : std::string("null");
                    }) + ",\n");
  add("evaluations",
      json_list(a.tokens, ", ", [](const Token& t) { return std::to_string(t.evaluations); }) + "\n}\n");
  return json;
}

}  // namespace heed
