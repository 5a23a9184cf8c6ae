// A glossary: terms with required translations.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
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
  /// of a term also matches the capital letter. At each position, reads on only while a term goes on as the
  /// text does. Throws Cancelled in a scope of StopScope.
  std::vector<Match> find(std::string_view text) const;

  size_t size() const { return terms_.size(); }
  /// Source and target terms, in the order in which they were added.
  const std::vector<std::pair<std::string, std::string>>& terms() const { return terms_; }

 private:
  /// The longest term that words begin with: how many words, and its index in terms_.
  struct Longest {
    size_t words = 0, term = 0;
  };
  /// Of the words `first` and then `rest`.
  Longest longest(uint32_t first, std::span<const uint32_t> rest) const;
  /// The number of a word in source terms; 0 if it is in none.
  uint32_t number_of(const std::string& word) const;

  std::vector<std::pair<std::string, std::string>> terms_;
  std::unordered_map<std::string, uint32_t> words_;  // of source terms, numbered from 1
  // The trie of source terms. Node 0 is the root, and an edge is a node and a word (edge_of() in
  // glossary.cc).
  std::unordered_map<uint64_t, uint32_t> edges_;
  std::vector<size_t> ends_{0};  // of each node: the number of the term that ends there, from 1; 0: none
};

}  // namespace heed
