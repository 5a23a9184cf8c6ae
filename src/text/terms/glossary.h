// A glossary: terms with required translations.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heed {

class Glossary {
 public:
  /// Parses lines of source term, tab, target term; ignores empty lines and lines that begin with #. `name`
  /// is used in errors. Throws kFormat for a malformed line or a source term with two targets, and kText for
  /// invalid UTF-8, with the line number.
  static Glossary parse(std::string_view content, const std::string& name);
  /// Throws kUsage for an empty term, or a source term that has another target.
  void add(std::string_view source, std::string_view target);
  /// Throws kNotFound or kFile, and the errors of parse().
  static Glossary load(const std::string& path);

  /// A term in a text, bytes [begin, end), and its required translation.
  struct Match {
    size_t begin = 0, end = 0;
    std::string target;
  };
  /// The terms in a text, in order: whole words only, the longest at each position. A lower-case first letter
  /// of a term also matches the capital letter.
  std::vector<Match> find(std::string_view text) const;

  size_t size() const { return targets_.size(); }
  /// Source and target terms, in no order.
  std::vector<std::pair<std::string, std::string>> terms() const {
    return {targets_.begin(), targets_.end()};
  }

 private:
  std::unordered_map<std::string, std::string> targets_;  // by source
  size_t max_words_ = 0;                                  // of a source term
};

}  // namespace heed
