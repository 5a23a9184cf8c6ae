#include "api/findings_checks.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "base/check.h"

namespace heed {
namespace {

void require_count(const std::string& where, const char* what, size_t count, size_t expected) {
  if (count != expected) {
    fail(ErrorKind::kShape, "{}: {} has {} entries, not {}", where, what, count, expected);
  }
}

/// Of lists that may be empty.
template <typename Each>
void require_none_or(const std::string& where, const char* what, const std::vector<Each>& list,
                     size_t expected) {
  if (!list.empty()) require_count(where, what, list.size(), expected);
}

/// A vector of equal width for each token, or none.
void require_vectors(const std::string& where, const char* what, const std::vector<float>& numbers,
                     size_t tokens) {
  if (numbers.empty() || (tokens > 0 && numbers.size() % tokens == 0)) return;
  fail(ErrorKind::kShape, "{}: {} numbers of {} cannot be divided among {} tokens", where, numbers.size(),
       what, tokens);
}

void require_index(const std::string& where, int index, size_t count) {
  if (index >= 0 && static_cast<size_t>(index) < count) return;
  fail(ErrorKind::kShape, "{}: there is no token with the index {} of {}", where, index, count);
}

template <typename Number>
void require_finite(const std::string& where, Number number) {
  if (!std::isfinite(number))
    fail(ErrorKind::kNumeric, "{}: there is {}, not a finite number", where, number);
}

void require_state(const std::string& where, const LensState& state, size_t tokens) {
  if (state.width < 0) fail(ErrorKind::kShape, "{}: a width cannot be {}", where, state.width);
  require_count(where, "values", state.values.size(), tokens * static_cast<size_t>(state.width));
  require_count(where, "norms", state.norms.size(), tokens);
  require_none_or(where, "added_norms", state.added_norms, tokens);
  require_vectors(where, "heads", state.heads, tokens);
  require_vectors(where, "added", state.added, tokens);
  require_none_or(where, "log_sums", state.log_sums, tokens);
  require_none_or(where, "predictions", state.predictions, tokens);
  require_count(where, "expected", state.expected.size(), state.predictions.size());
  for (const auto& each : state.predictions) {
    if (each.empty())
      fail(ErrorKind::kShape, "{}: predictions of a token are empty: give one at least", where);
  }
}

void require_stack(const char* name, const LensStack& stack, const std::vector<std::string>& expected) {
  const size_t tokens = stack.tokens.size();
  const std::string where = fmt::format("the lens of the {}", name);
  require_none_or(where, "ids", stack.ids, tokens);
  require_vectors(where, "embeddings", stack.embeddings, tokens);
  for (size_t n = 0; n < stack.states.size(); ++n) {
    const LensState& state = stack.states[n];
    require_state(fmt::format("{}, state {}", where, n + 1), state, tokens);
    if (!state.predictions.empty()) require_count(where, "expected_tokens", expected.size(), tokens);
  }
}

void require_map(const char* name, const PatchMap& map) {
  const std::string where = fmt::format("the effects of the {}", name);
  require_count(where, "effects", map.effects.size(), map.rows.size() * map.columns.size());
  for (const float effect : map.effects) {
    if (!std::isnan(effect)) require_finite(where, effect);
  }
}

}  // namespace

const Lens& checked(const Lens& lens) {
  require_stack("encoder", lens.encoder, lens.expected_tokens);
  require_stack("decoder", lens.decoder, lens.expected_tokens);
  return lens;
}

const Attribution& checked(const Attribution& attribution) {
  const size_t most = attribution.source_tokens.size() + attribution.target_tokens.size();
  for (const TokenAttribution& each : attribution.tokens) {
    require_index("the attribution", each.token, attribution.target_tokens.size());
    const std::string where = fmt::format("the attribution of target token {}", each.token + 1);
    if (each.values.size() > most) require_count(where, "values", each.values.size(), most);
    for (const float value : each.values) require_finite(where, value);
    for (const double number : {each.log_probability, each.sum, each.difference.value_or(0)}) {
      require_finite(where, number);
    }
  }
  return attribution;
}

const Patching& checked(const Patching& patching) {
  for (const int token : patching.tokens) {
    require_index("the patching, tokens", token, patching.target_tokens.size());
  }
  for (const int other : patching.counterparts) {
    if (other != -1) require_index("the patching, counterparts", other, patching.other_tokens.size());
  }
  for (const double number : {patching.clean, patching.corrupted}) require_finite("the patching", number);
  require_map("encoder", patching.encoder);
  require_map("decoder", patching.decoder);
  require_map("cross-attention", patching.cross);
  return patching;
}

}  // namespace heed
