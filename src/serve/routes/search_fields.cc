// The fields of a request that choose how a translation is searched for, the same on all of Heed's own
// routes.
#include <algorithm>

#include "serve/service.h"
#include "text/pipeline/tokenizing_stop.h"

namespace heed::serve {

std::vector<std::string> with_search_fields(std::vector<std::string> names) {
  for (const char* name : {"beam", "length_penalty", "max_length", "no_repeat_ngram", "prefix", "require",
                           "forbid", "precision", "source_language", "target_language", "api_key"}) {
    names.emplace_back(name);
  }
  return names;
}

decode::SearchChoices search_choices(const Exchange& exchange) {
  const Fields& fields = exchange.fields;
  decode::SearchChoices choices;
  const auto small = [&](const char* name, int64_t least, int64_t most) -> std::optional<int> {
    const auto value = fields.integer(name, least, most);
    if (!value) return {};
    return static_cast<int>(*value);
  };
  choices.beam = small("beam", 1, exchange.service.limits.beam);
  choices.no_repeat_ngram = small("no_repeat_ngram", 0, 1000);
  choices.length_penalty = fields.number("length_penalty", -100, 100);
  choices.max_length = fields.integer("max_length", 2, 1 << 20);
  return choices;
}

namespace {

/// A list of words or phrases, each of which costs the search time.
std::vector<std::string> phrases(const Exchange& exchange, const char* name, size_t most) {
  constexpr size_t kCharacters = 200;
  std::vector<std::string> found = exchange.fields.texts(name).value_or(Fields::Texts{}).texts;
  if (found.size() > most)
    refuse(400, "'{}' has {} texts, and this server takes {}", name, found.size(), most);
  for (const std::string& text : found) {
    if (count_characters(text) <= kCharacters) continue;
    refuse(400, "'{}' has a text of {} characters, and this server takes {}", name, count_characters(text),
           kCharacters);
  }
  return found;
}

}  // namespace

decode::Constraints constraints_of(const Exchange& exchange) {
  decode::Constraints constraints{.prefix = exchange.fields.text_or("prefix", ""),
                                  .required = phrases(exchange, "require", 16),
                                  .forbidden = phrases(exchange, "forbid", 64)};
  require_length(exchange.service.limits, constraints.prefix, "prefix");
  return constraints;
}

void require_present(const Exchange& exchange) {
  if (*exchange.request.gone) throw Cancelled();
}

void compute(const Exchange& exchange, const std::function<void()>& work) {
  exchange.service.engine->call([&] {
    require_present(exchange);
    const TokenizingStop stop{Stop(exchange.request.gone.get())};
    work();
  });
}

}  // namespace heed::serve
