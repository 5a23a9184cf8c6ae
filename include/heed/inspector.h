// What happens in a model, of any task: the states of its layers, why it predicts what it predicts, and what
// carries the difference of two texts.
#pragma once

#include <memory>
#include <string>

#include "heed/attribution.h"
#include "heed/error.h"
#include "heed/lens.h"
#include "heed/patching.h"
#include "heed/translator.h"

namespace heed {

/// A loaded model: a translation model, a language model, a classifier, a masked language model or an
/// encoder. Thread-safe.
class Inspector {
 public:
  /// Opens a model directory (docs/models.md). `threads` 0: one per processor; results do not depend on it.
  /// `languages` and `precision` as of Translator. Throws Error.
  explicit Inspector(const std::string& directory, int threads = 0, const Languages& languages = {},
                     const std::string& precision = "");
  ~Inspector();
  Inspector(Inspector&&) noexcept;
  Inspector& operator=(Inspector&&) noexcept;

  // All throw Error: kText for invalid UTF-8; kUsage for invalid options, and for a text without tokens or
  // longer than the model's maximum.

  /// The way of each token through the layers. A pair of texts of a classifier is separated by a tab.
  Lens lens(const std::string& text, const LensOptions& options = {}) const;
  /// How much each token contributes to the tokens of the target. Throws kUsage for an encoder without a
  /// head, and for a text without mask tokens in a masked language model.
  Attribution attribute(const std::string& text, const AttributionOptions& options = {}) const;
  /// Which heads, layers or positions carry the difference between a text and another one. Throws kUsage for
  /// equal texts, for texts after which the target is equally likely, for heads of a recurrent network, and
  /// like attribute().
  Patching patch(const std::string& text, const std::string& other, const PatchOptions& options = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The JSON of `heed lens --json`; `details`: with the vectors.
std::string lens_json(const Lens& lens, bool details = false);
/// The JSON of `heed attribute --json`.
std::string attribution_json(const Attribution& attribution);
/// The JSON of `heed patch --json`.
std::string patching_json(const Patching& patching);

// The tables of the commands, without colours, with at most `columns` (at least 40) characters per line.
// heed/picture.h has the pictures. Like the JSON, they throw kShape for lists whose lengths do not match, and
// kNumeric for infinite numbers, in what the caller has changed.

std::string lens_text(const Lens& lens, const LensView& view = {}, int columns = 80);
/// All states of one token of a stack as in LensView: its position, counted from 1, or the token ("bench",
/// the second of that name "bench:2"). Throws kUsage if there is none.
std::string lens_token_text(const Lens& lens, const std::string& token, const std::string& stack = "");
std::string attribution_text(const Attribution& attribution, int columns = 80);
std::string patching_text(const Patching& patching, int columns = 80);

}  // namespace heed
