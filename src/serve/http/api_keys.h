// API keys, which authorize requests.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed::serve {

class ApiKeys {
 public:
  /// Reads one key per line, of at least 16 characters; skips empty lines and lines that begin with #.
  /// Throws kFile if the file has another owner or is accessible to others, and kFormat for a short key,
  /// with its line number but not the key.
  static ApiKeys load(const std::string& path);

  /// The number of the key, from 1; empty for an unknown key. The time depends only on the length of the
  /// text.
  std::optional<size_t> find(std::string_view key) const;
  size_t size() const { return keys_.size(); }

 private:
  std::vector<std::string> keys_;
};

/// Whether the texts are equal; the time depends only on the length of `given`.
bool equal_in_constant_time(std::string_view given, std::string_view secret);

}  // namespace heed::serve
