// Interrupts tokenization.
#pragma once

#include "base/stop.h"

namespace heed {

/// In this scope, the tokenizers of tokenizer.json throw Stopped on this thread soon after `stop` is
/// requested: at each step of the pipeline, each search of a regular expression, and each piece of the text.
/// A server makes one of the flag that is set when a client leaves or the server ends. Scopes nest; the
/// innermost counts.
class TokenizingStop {
 public:
  explicit TokenizingStop(const Stop& stop);
  ~TokenizingStop();
  TokenizingStop(const TokenizingStop&) = delete;
  TokenizingStop& operator=(const TokenizingStop&) = delete;

  /// Throws Stopped if the `stop` of this thread's innermost scope is requested.
  static void check();

 private:
  Stop outer_;
};

}  // namespace heed
