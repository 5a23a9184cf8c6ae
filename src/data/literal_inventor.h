// Text that is the same in every language, made up: addresses, names of files, versions, dates, codes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"

namespace heed {

class LiteralInventor {
 public:
  /// Remembers one of the words of a text, in small ASCII letters, to make addresses of; of very many, a
  /// sample.
  void learn(std::string_view text, Random& random);

  /// A URL, an e-mail address, a file name or path, a handle, a hashtag, a version, a phone number, a date in
  /// ISO 8601, a hexadecimal id, or a piece of code. Without white space, but for some phone numbers.
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
