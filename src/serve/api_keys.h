// API keys: who may send requests.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed::serve {

class ApiKeys {
 public:
  /// One key a line, at least 16 characters; empty lines and lines that begin with # are none. Throws kFile
  /// if the file belongs to somebody else or others may read or write it, and kFormat for a short key, naming
  /// its line and not the key.
  static ApiKeys load(const std::string& path);

  /// The number of the key, from 1; nothing for another text. Takes as long for every text of a length,
  /// whatever keys there are.
  std::optional<size_t> find(std::string_view key) const;
  size_t size() const { return keys_.size(); }

 private:
  std::vector<std::string> keys_;
};

/// Whether the texts are the same, in time that depends on the length of `given` alone.
bool equal_in_constant_time(std::string_view given, std::string_view secret);

}  // namespace heed::serve
