// Terms whose translation is given.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heed {

class Glossary {
 public:
  /// Lines of source term, tab, target term; empty lines and lines that begin with # are none. `name` stands
  /// in errors. Throws kFormat for a line that is not like this or repeats a source term with another target,
  /// and kText for what is not UTF-8, with the number of the line.
  static Glossary parse(std::string_view content, const std::string& name);
  /// Throws kUsage for an empty term, and for one that is there with another target.
  void add(std::string_view source, std::string_view target);
  /// Throws kNotFound or kFile, and what parse() throws.
  static Glossary load(const std::string& path);

  /// A term in a text: bytes [begin, end) and what it must become.
  struct Match {
    size_t begin = 0, end = 0;
    std::string target;
  };
  /// The terms of a text, in order, as whole words; the longest of those that begin at the same place. The
  /// first letter of a term may be capital in the text though it is not in the glossary.
  std::vector<Match> find(std::string_view text) const;

  size_t size() const { return targets_.size(); }

 private:
  std::unordered_map<std::string, std::string> targets_;  // by source
  size_t longest_ = 0;                                    // words of a source term
};

}  // namespace heed
