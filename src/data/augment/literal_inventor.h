// Generates random language-independent strings: addresses, file names, versions, dates, codes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"

namespace heed {

class LiteralInventor {
 public:
  /// Collects a random lower-case ASCII word of a text for building addresses; keeps a uniform sample of
  /// 4,096.
  void learn(std::string_view text, Random& random);

  /// A URL, an e-mail address, a file name or path, a handle, a hashtag, a version, a phone number, a date in
  /// ISO 8601, a hexadecimal id, or a piece of code. Without white space, except some phone numbers.
  std::string invent(Random& random) const;

 private:
  std::string word(Random& random) const;
  void append(std::string& text, std::string_view pattern, Random& random) const;

  std::vector<std::string> words_;
  uint64_t learnt_ = 0;
};

/// One to three emojis, mostly of one kind.
std::string invent_emoji(Random& random);

}  // namespace heed
