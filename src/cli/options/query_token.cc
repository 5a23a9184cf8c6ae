#include "cli/options/query_token.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>

#include "base/check.h"
#include "base/counted.h"
#include "base/text/printable.h"
#include "inspect/terminal/words.h"
#include "inspect/trace/label.h"

namespace heed::cli {
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

size_t find_query(const std::string& query, const std::vector<std::string>& tokens, bool quiet) {
  if (const auto number = number_in(query, tokens.size())) return *number - 1;
  const std::vector<size_t> named = tokens_named(query, tokens);
  if (named.size() > 1 && !quiet) {
    std::vector<size_t> numbers;
    for (const size_t n : named) numbers.push_back(n + 1);
    std::fprintf(
        stderr,
        "heed: several tokens are named '%s' (%s); showing the first. Use --query %s:2 for the second\n",
        shown(query).c_str(), fmt::format("{}", fmt::join(numbers, ", ")).c_str(), shown(query).c_str());
  }
  if (!named.empty()) return named.front();
  const size_t colon = query.rfind(':');
  if (colon != std::string::npos) {
    const std::string name = query.substr(0, colon);
    const std::vector<size_t> candidates = tokens_named(name, tokens);
    if (const auto which = number_in(query.substr(colon + 1), candidates.size()))
      return candidates[*which - 1];
    if (!candidates.empty()) {
      fail(ErrorKind::kUsage, "--query {}: no such token; '{}' occurs {}", shown(query), shown(name),
           counted(candidates.size(), "time"));
    }
  }
  fail(ErrorKind::kUsage, "--query {}: no such token; give one of these, or its number from 1 to {}: {}",
       shown(query), tokens.size(), shown(fmt::format("{}", fmt::join(tokens, " ")), 1000));
}

bool names_a_word(const std::string& query, const AttentionSelection& selection, const Trace& trace) {
  if (!selection.stack) return false;
  const std::string name = query.substr(0, query.rfind(':'));
  const auto named_in = [&](const Trace& each) {
    const std::vector<std::string>& tokens = query_tokens(each, *selection.stack);
    return number_in(query, tokens.size()) || !tokens_named(query, tokens).empty() ||
           !tokens_named(name, tokens).empty();
  };
  return !named_in(trace) && named_in(group_by_words(trace));
}

}  // namespace heed::cli
