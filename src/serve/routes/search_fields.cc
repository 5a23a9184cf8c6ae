// The fields of a request that are options of translation (translate/translate_options.h), the same on all of
// Heed's own routes, or of text generation (tasks/generate_options.h).
#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/stop.h"
#include "serve/service.h"
#include "tasks/generate_options.h"
#include "text/unicode/utf8.h"
#include "translate/translate_options.h"

namespace heed::serve {
namespace {

using search::OptionGroup;
using search::OptionRow;
using search::ValueRange;
using Groups = std::initializer_list<OptionGroup>;

bool is_field(const OptionRow& row, Groups groups) {
  return row.for_requests && std::ranges::find(groups, row.group) != groups.end();
}

/// Reads the field of an option. Searches take longer the wider their beam, and the more words they look for.
class OptionReader {
 public:
  explicit OptionReader(const Exchange& exchange)
      : fields_(exchange.fields), limits_(exchange.service.limits) {}

  template <typename Value, typename Number>
  void read(const OptionRow& row, Value& value, const ValueRange<Number>& range) const {
    const std::string name(row.name);
    if constexpr (std::is_same_v<Number, uint64_t>) {  // seeds, which may be negative
      const auto given = fields_.integer(name, INT64_MIN, INT64_MAX);
      if (given) value = static_cast<uint64_t>(*given);
    } else if constexpr (std::is_integral_v<Number>) {
      const auto given =
          fields_.integer(name, least_of(row, range.least), std::min(most_of(row), int64_t{range.most}));
      if (given) value = static_cast<Number>(*given);
    } else {
      const auto given = fields_.number(name, range.least, range.most, range.above_least);
      if (given) value = *given;
    }
  }
  void read(const OptionRow& row, bool& value) const {
    if (fields_.has(std::string(row.name))) value = fields_.flag(std::string(row.name));
  }
  void read(const OptionRow& row, std::string& value) const {
    value = fields_.text_or(std::string(row.name), "");
    require_length(limits_, value, std::string(row.name));
  }
  void read(const OptionRow& row, std::vector<std::string>& values) const {
    values = fields_.texts(std::string(row.name)).value_or(Fields::Texts{}).texts;
    require_count(row, values.size(), row.name == "forbid" ? 64 : 16);
    for (const std::string& text : values) require_short(row, text);
  }
  void read(const OptionRow& row, std::vector<std::pair<std::string, std::string>>& values) const {
    const nlohmann::json* terms = fields_.find(std::string(row.name));
    if (terms == nullptr) return;
    if (!terms->is_object()) {
      refuse(400, "'{}' must be an object: {{\"source term\": \"target term\"}}", row.name);
    }
    require_count(row, terms->size(), 1024);
    for (const auto& [source, target] : terms->items()) {
      if (!target.is_string()) {
        refuse(400, "'{}': the target of '{}' must be a text", row.name, shown(source));
      }
      values.emplace_back(source, target.get<std::string>());
      for (const std::string& text : {values.back().first, values.back().second}) require_short(row, text);
    }
  }

 private:
  static void require_count(const OptionRow& row, size_t count, size_t most) {
    if (count > most) refuse(400, "'{}' has {} texts, and this server takes {}", row.name, count, most);
  }
  static void require_short(const OptionRow& row, const std::string& text) {
    constexpr size_t kCharacters = 200;
    const size_t characters = count_characters(text);
    if (characters <= kCharacters) return;
    refuse(400, "'{}' has a text of {} characters, and this server takes {}", row.name, characters,
           kCharacters);
  }
  /// With `echo`, a completion may be the prompt alone.
  int64_t least_of(const OptionRow& row, int64_t least) const {
    return row.name == "max_tokens" && fields_.flag("echo") ? 0 : least;
  }
  int64_t most_of(const OptionRow& row) const {
    if (row.name == "beam" || row.name == "nbest") return limits_.beam;
    return row.name == "max_tokens" ? limits_.tokens : INT64_MAX;
  }

  const Fields& fields_;
  const RequestLimits& limits_;
};

}  // namespace

void require_known(const Fields& fields, std::vector<std::string> names, Groups groups) {
  translate::visit_translate_options([&](const OptionRow& row, auto, const auto&...) {
    if (is_field(row, groups)) names.emplace_back(row.name);
  });
  names.insert(names.end(), {"model", "pair", "precision", "source_language", "target_language", "api_key"});
  fields.require_known(names);
}

TranslateOptions translate_options(const Exchange& exchange, Groups groups) {
  const OptionReader reader(exchange);
  TranslateOptions options;
  translate::visit_translate_options([&](const OptionRow& row, auto field, const auto&... range) {
    // head_scales_of() reads the heads.
    if (is_field(row, groups) && row.group != OptionGroup::kHeads) reader.read(row, options.*field, range...);
  });
  return options;
}

GenerateOptions generate_options(const Exchange& exchange) {
  const OptionReader reader(exchange);
  GenerateOptions options;
  tasks::visit_generate_options([&](const OptionRow& row, auto field, const auto&... range) {
    if (row.for_requests) reader.read(row, options.*field, range...);
  });
  std::erase(options.stop, "");
  return options;
}

std::vector<double> temperatures_of(const Fields& fields) {
  constexpr size_t kMost = 64;
  const nlohmann::json* list = fields.find("temperatures");
  if (list == nullptr) return {};
  const auto is_temperature = [](const nlohmann::json& each) {
    return each.is_number() && each.get<double>() >= 0.01 && each.get<double>() <= 100;
  };
  if (!list->is_array() || list->size() > kMost || !std::ranges::all_of(*list, is_temperature)) {
    refuse(400, "'temperatures' must be a list of at most {} numbers from 0.01 to 100", kMost);
  }
  return list->get<std::vector<double>>();
}

void require_present(const Exchange& exchange) {
  exchange.stop().check();
}

void compute(const Exchange& exchange, const std::function<void()>& work) {
  exchange.service.engine->call(exchange.client, [&] {
    require_present(exchange);
    const StopScope stop{exchange.stop()};
    work();
  });
}

}  // namespace heed::serve
