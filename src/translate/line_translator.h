// What translates lines of text: one model (translator.h), or several in sequence (translator_chain.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/stop.h"
#include "text/terms/glossary.h"
#include "text/tokenizers/translation_tokenizer.h"
#include "translate/translation.h"

namespace heed::translate {

class LineTranslator {
 public:
  /// Progress so far.
  struct Progress {
    size_t lines = 0;  ///< complete lines
    /// Source bytes, including parts of lines. Lines are processed longest first, so this measures progress
    /// better than `lines`.
    double bytes = 0;
  };

  /// Cancellation and progress.
  struct Control {
    /// Called when a part of a line is finished, serialized, from any thread.
    std::function<void(const Progress& done)> progress = {};
    Stop stop = {};
    /// Number of the first line, from 0. With the seed and a line's text, its number selects its samples.
    uint64_t first_line = 0;
    /// Of each line, glossary terms by position, in order and without overlap, instead of those that the
    /// glossary finds; null: none.
    const std::vector<std::vector<Glossary::Match>>* terms = nullptr;
  };

  virtual ~LineTranslator() = default;

  /// Translates all lines; `take` receives the results in order on the calling thread. Throws
  /// Cancelled soon after control.stop is requested; then the lines of the last window are missing. A
  /// translation does not depend on other lines or threads; samples depend on the number of the line.
  virtual void translate(const NextLine& next, const std::function<void(Translation)>& take,
                         const Control& control) const = 0;
  void translate(const NextLine& next, const std::function<void(Translation)>& take) const {
    translate(next, take, {});
  }
  void translate(const std::vector<std::string>& lines, const std::function<void(Translation)>& take,
                 const Control& control) const;
  /// Translates all lines, in order.
  std::vector<Translation> translate(const std::vector<std::string>& lines) const;
  Translation translate(const std::string& line) const;
};

}  // namespace heed::translate
