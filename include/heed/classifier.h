// Text classification with an encoder-only model.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/cancel.h"
#include "heed/error.h"
#include "heed/trace.h"

namespace heed {

/// A text, or two for models that classify pairs.
struct ClassifierText {
  std::string first;
  std::optional<std::string> second{};
};

/// The class of a text.
struct TextClass {
  std::string label;                 ///< of the most probable class; ties: the first
  double probability = 0;            ///< of that class
  std::vector<float> probabilities;  ///< of all classes, in the order of Classifier::labels(); their sum is 1
  bool truncated = false;            ///< the text was longer than the maximum of the model
};

/// A loaded classifier. Thread-safe.
class Classifier {
 public:
  /// Opens the directory of an encoder-only model with classes (docs/classification.md). `threads` 0: one per
  /// processor; results do not depend on it. Throws Error.
  explicit Classifier(const std::string& directory, int threads = 0);
  ~Classifier();
  Classifier(Classifier&&) noexcept;
  Classifier& operator=(Classifier&&) noexcept;

  /// The names of the classes.
  const std::vector<std::string>& labels() const;

  // The functions below throw Error: kText for invalid UTF-8, kUsage for a pair if the model takes single
  // texts.

  /// One result per text; independent of the other texts. Throws Cancelled soon after `cancelled` is set.
  std::vector<TextClass> classify(const std::vector<ClassifierText>& texts,
                                  const std::atomic<bool>* cancelled = nullptr) const;

  /// The attention weights of all heads and layers, in the trace's `encoder`; its `target` is the label.
  /// `ablate` as in Translator::attend. Throws kUsage for texts longer than the model's maximum, of which a
  /// part alone would be shown.
  Trace attend(const ClassifierText& text, const std::vector<std::string>& ablate = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heed
