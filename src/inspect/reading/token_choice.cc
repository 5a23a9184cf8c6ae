#include "inspect/reading/token_choice.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "base/check.h"
#include "base/counted.h"
#include "base/text/printable.h"
#include "inspect/trace/label.h"

namespace heed {
namespace {

/// Indices of the tokens with this name, with or without the word boundary marker.
std::vector<size_t> tokens_named(std::string_view name, const std::vector<std::string>& tokens) {
  std::vector<size_t> found;
  for (size_t n = 0; n < tokens.size(); ++n) {
    std::string_view token = tokens[n];
    if (token == name || (strip_word_mark(token) && token == name)) found.push_back(n);
  }
  return found;
}

/// A number from 1 to `max`; empty for other text.
std::optional<size_t> number_in(std::string_view text, size_t max) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > max) return {};
  return number;
}

}  // namespace

ChosenToken choose_token(const std::string& wanted, const std::vector<std::string>& tokens) {
  if (const auto number = number_in(wanted, tokens.size())) return {*number - 1};
  if (const std::vector<size_t> named = tokens_named(wanted, tokens); !named.empty())
    return {named.front(), named};
  const size_t colon = wanted.rfind(':');
  if (colon != std::string::npos) {
    const std::string name = wanted.substr(0, colon);
    const std::vector<size_t> named = tokens_named(name, tokens);
    if (const auto which = number_in(wanted.substr(colon + 1), named.size())) return {named[*which - 1]};
    if (!named.empty()) {
      fail(ErrorKind::kUsage, "there is no token '{}': '{}' occurs {}", shown(wanted), shown(name),
           counted(named.size(), "time"));
    }
  }
  fail(ErrorKind::kUsage, "there is no token '{}': give one of these, or its number from 1 to {}: {}",
       shown(wanted), tokens.size(), shown(fmt::format("{}", fmt::join(tokens, " ")), 1000));
}

bool names_a_token(const std::string& wanted, const std::vector<std::string>& tokens) {
  return number_in(wanted, tokens.size()) || !tokens_named(wanted, tokens).empty() ||
         !tokens_named(wanted.substr(0, wanted.rfind(':')), tokens).empty();
}

}  // namespace heed
