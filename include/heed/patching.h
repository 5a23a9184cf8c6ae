// What carries a difference: activation patching.
//
// Two texts, one clean and one corrupted, differ in a word, and a target is likelier after the clean one.
// With f the log-probability of the target, activations of the clean run replace those of the corrupted run,
// whose forward pass then continues:
//
//   effect = (f(patched) - f(corrupted)) / (f(clean) - f(corrupted))
//
// 1: all of the difference comes back, 0: nothing, below 0: the target becomes less likely (Vig et al.,
// "Investigating gender bias in language models using causal mediation analysis", 2020; Meng et al.,
// "Locating and editing factual associations in GPT", 2022; Zhang and Nanda, "Towards best practices of
// activation patching in language models", 2024).
//
// A position of the corrupted text takes the state of its counterpart in the clean one. Texts with equally
// many tokens are aligned position by position; else the tokens of their common prefix and suffix are, and
// those between have no counterpart.
#pragma once

#include <string>
#include <vector>

namespace heed {

/// What is replaced at a time.
enum class PatchedPart {
  kHeads,      ///< the output of one attention head, at all positions
  kLayers,     ///< what one sub-layer adds to the residual stream, or all of a layer, at all positions
  kPositions,  ///< the residual stream before or after one layer, at one position
};

/// "heads", "layers" or "positions".
const char* patched_part_name(PatchedPart part);
/// Throws kUsage for another name.
PatchedPart patched_part_named(const std::string& name);

struct PatchOptions {
  /// Of a translation model: this instead of its own translation of the clean text. Of a language model: what
  /// follows the texts [the likeliest token]. Of a classifier: the label [the predicted one]. Of a masked
  /// language model: the tokens for the masks [the likeliest].
  std::string target{};
  /// The target token whose log-probability is looked at: its position, counted from 1, or the token
  /// ("bench", the second of that name "bench:2"); "all": the sum of all.
  std::string token = "all";
  /// An alternative to that token, as the model's vocabulary spells it or a text of one token: f is the
  /// difference of their log-probabilities. Empty: none.
  std::string instead{};
  PatchedPart what = PatchedPart::kHeads;
};

/// The effects of one stack. Without rows, the model does not have it, or there is nothing of this kind.
struct PatchMap {
  /// Layers, counted from 1; of positions, "embedding" comes first.
  std::vector<std::string> rows{};
  /// Of heads their numbers, counted from 1; of layers "layer" (all of it) and its sub-layers as in
  /// LensState::part, or "recurrence"; of positions the tokens of the clean text that the stack reads.
  std::vector<std::string> columns{};
  /// (rows, columns), row-major; NaN for a position without a counterpart.
  std::vector<float> effects{};
};

struct Patching {
  std::string model{};
  std::string source{}, other{};  ///< the clean and the corrupted text
  std::string target{};
  std::vector<std::string> source_tokens{}, other_tokens{}, target_tokens{};
  /// Of each source token, the index in `other_tokens` of its counterpart; -1: none.
  std::vector<int> counterparts{};
  std::vector<int> tokens{};  ///< the target tokens that f is of, as indices of `target_tokens`
  std::string instead{};      ///< the alternative; empty: none
  PatchedPart what = PatchedPart::kHeads;
  /// f in natural logarithms, in the model's precision.
  double clean = 0, corrupted = 0;
  PatchMap encoder{}, decoder{};
  PatchMap cross{};     ///< of heads alone: those of cross-attention
  int evaluations = 0;  ///< forward passes over a text that this took
};

}  // namespace heed
