// Why a model predicts a token: how much each token that it reads contributes.
//
// Explained is f = ln P(token), or with an alternative f = ln P(token) - ln P(alternative). x_j is the
// embedding of token j, before positions are added.
//
//   integrated  (x_j - b_j) . integral of df/dx_j along the straight line from a baseline b to x; the sum
//               over j is f(x) - f(b) (Sundararajan, Taly and Yan, "Axiomatic attribution for deep
//               networks", 2017)
//   gradient    x_j . df/dx_j at x (Shrikumar, Greenside and Kundaje, "Learning important features through
//               propagating activation differences", 2017)
//   rollout     the product over layers of 1/2 A + 1/2 I, A the mean attention of the heads (Abnar and
//               Zuidema, "Quantifying attention flow in transformers", 2020); says nothing of the token
//   leave-out   f(x) - f(x without token j) (Li, Monroe and Jurafsky, "Understanding neural networks through
//               representation erasure", 2016)
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace heed {

enum class AttributionMethod { kIntegrated, kGradient, kRollout, kLeaveOut };

/// "integrated", "gradient", "rollout" or "leave-out".
const char* attribution_method_name(AttributionMethod method);
/// Throws kUsage for another name.
AttributionMethod attribution_method_named(const std::string& name);

struct AttributionOptions {
  /// Of a translation model: this instead of its own translation. Of a language model: what follows the text
  /// [the likeliest token]. Of a classifier: the label [the predicted one]. Of a masked language model: the
  /// tokens for the masks [the likeliest].
  std::string target{};
  /// The target token to explain: its position, counted from 1, or the token ("bench", the
  /// second of that name "bench:2"); "all": all.
  std::string token = "all";
  /// The alternative, as the model's vocabulary spells it or a text of one token; needs `token`, unless there
  /// is only one. Empty: none.
  std::string instead{};
  AttributionMethod method = AttributionMethod::kIntegrated;
  /// Of kIntegrated: "zero", or a token that takes the place of all others, as the vocabulary spells it.
  /// Empty: the mask token, or else the unknown token, or else zero. Special tokens around a text stay.
  std::string baseline{};
  /// Of kIntegrated: an interval of the path is divided while the estimated error on it is larger than this
  /// share of the sum of all magnitudes. Smaller is more exact and takes longer.
  double tolerance = 0.06;
};

/// The contributions to one target token.
struct TokenAttribution {
  int token = 0;               ///< its index in Attribution::target_tokens, counted from 0
  std::string instead{};       ///< the alternative; empty: none
  double log_probability = 0;  ///< f(x), in natural logarithms, in float32 whatever the model's precision
  /// Of each of Attribution::source_tokens, then of the target tokens before this one, if the model reads
  /// them.
  std::vector<float> values{};
  double sum = 0;                      ///< of `values`
  std::optional<double> difference{};  ///< of kIntegrated: f(x) - f(b), what the sum should be
  int evaluations = 0;  ///< passes over the sentence that this took, of kIntegrated forward and backward
};

struct Attribution {
  std::string model{}, source{}, target{};
  std::vector<std::string> source_tokens{}, target_tokens{};
  AttributionMethod method = AttributionMethod::kIntegrated;
  std::string baseline{};  ///< of kIntegrated: "zero" or the token
  std::vector<TokenAttribution> tokens{};
};

}  // namespace heed
