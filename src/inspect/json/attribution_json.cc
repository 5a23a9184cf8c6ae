#include "inspect/json/attribution_json.h"

#include <fmt/format.h>

#include "inspect/json/json_lists.h"

namespace heed {
namespace {

constexpr int kAttributionVersion = 1;

/// [..., ...] of what `write` gives for each explained token.
template <typename Write>
std::string for_each_token(const Attribution& attribution, const char* between, const Write& write) {
  std::string list;
  for (const TokenAttribution& each : attribution.tokens) list += (list.empty() ? "" : between) + write(each);
  return "[" + list + "]";
}

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
  add("tokens", for_each_token(a, ", ", [](const Token& t) { return std::to_string(t.token + 1); }) + ",\n");
  add("instead", for_each_token(a, ", ", [](const Token& t) {
                   return t.instead.empty() ? std::string("null") : json_text(t.instead);
                 }) + ",\n");
  const bool rollout = a.method == AttributionMethod::kRollout;
  add("log_probability", for_each_token(a, ", ", [&](const Token& t) {
                           return rollout ? std::string("null") : number(t.log_probability);
                         }) + ",\n");
  add("attributions",
      for_each_token(a, ",\n  ", [](const Token& t) { return json_numbers(t.values); }) + ",\n");
  add("sum", for_each_token(a, ", ", [&](const Token& t) { return number(t.sum); }) + ",\n");
  add("difference", for_each_token(a, ", ", [&](const Token& t) {
                      return t.difference ? number(*t.difference) : std::string("null");
                    }) + ",\n");
  add("evaluations",
      for_each_token(a, ", ", [](const Token& t) { return std::to_string(t.evaluations); }) + "\n}\n");
  return json;
}

}  // namespace heed
