// Recipes as TOML.
#include <toml++/toml.h>

#include <type_traits>

#include "base/check.h"
#include "train/recipe/recipe_fields.h"

namespace heed::train {
namespace {

/// A basic string of TOML. toml++ chooses among kinds of strings, and some texts have no literal string.
std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') all += '\\';
    if (byte < 0x20 || byte == 0x7f) {
      all += fmt::format("\\u{:04X}", byte);
    } else {
      all += c;
    }
  }
  return all + '"';
}

/// Collects key and value of every field as text.
struct Writer {
  std::vector<std::pair<RecipeKey, std::string>> fields;
  template <typename Number>
  requires std::is_arithmetic_v<Number>
  void operator()(const RecipeKey& key, const Number& field, Limits) {
    fields.emplace_back(key, fmt::format("{}", field));
  }
  void operator()(const RecipeKey& key, const bool& field) {
    fields.emplace_back(key, field ? "true" : "false");
  }
  void operator()(const RecipeKey& key, const std::string& field) { fields.emplace_back(key, quoted(field)); }
  template <typename Value>
  void operator()(const RecipeKey& key, const Value& field, const Words<Value>& words) {
    for (const auto& [word, meaning] : words) {
      if (meaning == field) {
        fields.emplace_back(key, fmt::format("\"{}\"", word));
        return;
      }
    }
    HEED_CHECK(false);
  }
};

std::string text_of(const toml::node& node, const std::string& key, const std::string& origin) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  fail(ErrorKind::kFormat, "{}: '{}' must be a single value", origin, key);
}

std::string held_out_to_toml(const std::vector<std::string>& files) {
  std::vector<std::string> list;
  for (const std::string& file : files) list.push_back(quoted(file));
  return fmt::format("held_out = [ {} ]\n", fmt::join(list, ", "));
}

/// [[corpus]] tables with the fields that differ from their defaults.
std::string corpora_to_toml(const std::vector<CorpusSettings>& corpora) {
  Writer defaults;
  const CorpusSettings default_settings;
  visit_corpus(default_settings, defaults);
  std::string text;
  for (const CorpusSettings& corpus : corpora) {
    Writer writer;
    visit_corpus(corpus, writer);
    text += fmt::format("\n[[{}]]\n", kCorpus);
    for (size_t n = 0; n < writer.fields.size(); ++n) {
      const auto& [key, value] = writer.fields[n];
      if (value != defaults.fields[n].second) text += fmt::format("{} = {}\n", key.name, value);
    }
  }
  return text;
}

}  // namespace

std::vector<Setting> read_settings(const std::string& text, const std::string& origin,
                                   const std::string& folder) {
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    fail(ErrorKind::kFormat, "{}, line {}: {}", origin, error.source().begin.line, error.description());
  }
  std::vector<Setting> settings;
  const auto add = [&](const std::string& key, const toml::node& value) {
    const std::string where = fmt::format("{}, line {}", origin, value.source().begin.line);
    settings.push_back({key, text_of(value, key, where), where, ErrorKind::kFormat, folder});
  };
  const auto add_corpora = [&](const toml::array& corpora) {
    for (size_t n = 0; n < corpora.size(); ++n) {
      const std::string each = fmt::format("{}.{}", kCorpus, n + 1);
      const toml::table* fields = corpora[n].as_table();
      if (fields == nullptr) fail(ErrorKind::kFormat, "{}: '{}' must be a table: [[corpus]]", origin, each);
      for (const auto& [key, value] : *fields) add(each + "." + std::string(key.str()), value);
    }
  };
  for (const auto& [section, content] : table) {
    const std::string name(section.str());
    if (const toml::array* corpora = content.as_array(); corpora != nullptr && name == kCorpus) {
      add_corpora(*corpora);
    } else if (const toml::table* fields = content.as_table()) {
      for (const auto& [key, value] : *fields) {
        const std::string each = name + "." + std::string(key.str());
        if (const toml::array* files = value.as_array(); files != nullptr && each == kHeldOut) {
          for (const toml::node& file : *files) add(each, file);
        } else {
          add(each, value);
        }
      }
    } else {
      add(name, content);
    }
  }
  return settings;
}

std::string to_toml(const Recipe& recipe) {
  Writer writer;
  visit_recipe(recipe, writer);
  std::string text, section;
  for (const auto& [key, value] : writer.fields) {
    if (!has_field(recipe, key) || keeps_model_value(recipe, key)) continue;
    const size_t dot = key.name.find('.');
    if (key.name.substr(0, dot) != section) {
      section = key.name.substr(0, dot);
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", section);
    }
    text += fmt::format("{} = {}\n", key.name.substr(dot + 1), value);
    if (key.name == "cleaning.drop_other_languages" && !recipe.cleaning.held_out.empty())
      text += held_out_to_toml(recipe.cleaning.held_out);
  }
  return text + corpora_to_toml(recipe.corpora);
}

std::vector<std::string> differences(const Recipe& before, const Recipe& now) {
  Writer first, second;
  visit_recipe(before, first);
  visit_recipe(now, second);
  std::vector<std::string> found;
  for (size_t n = 0; n < first.fields.size(); ++n) {
    const auto& key = first.fields[n].first;
    const std::string& value = first.fields[n].second;
    const std::string& other = second.fields[n].second;
    if (value == other || !(has_field(before, key) || has_field(now, key))) continue;
    const auto shown = [&](const Recipe& recipe, const std::string& text) {
      return keeps_model_value(recipe, key) ? "the model's value" : text;
    };
    found.push_back(fmt::format("{} ({}, now {})", key.name, shown(before, value), shown(now, other)));
  }
  return found;
}

}  // namespace heed::train
