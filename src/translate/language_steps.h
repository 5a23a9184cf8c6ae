// Which models lead from one language to another.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace heed::translate {

/// A model that translates between two languages, by their tags.
struct LanguageStep {
  std::string source = {}, target = {};
  size_t model = 0;  ///< a number that the caller knows
};

/// The steps that there are.
class LanguageSteps {
 public:
  LanguageSteps() = default;
  explicit LanguageSteps(std::vector<LanguageStep> steps);

  /// The fewest steps that lead from one language to another, in order; of several ways, the one whose steps
  /// were given first. Empty if there is none, or if both languages are the same.
  std::vector<LanguageStep> between(const std::string& source, const std::string& target) const;
  /// The languages to which steps lead, sorted, without the source itself.
  std::vector<std::string> targets(const std::string& source) const;

 private:
  /// The step by which a breadth-first search reaches each language first, null for its beginning; it ends at
  /// `target`, or when all are reached.
  using Reached = std::map<std::string, const LanguageStep*>;
  Reached search(const std::string& source, const std::string& target) const;

  std::map<std::string, std::vector<LanguageStep>> from_;
  size_t languages_ = 0;
};

}  // namespace heed::translate
