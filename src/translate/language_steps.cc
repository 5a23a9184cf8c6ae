#include "translate/language_steps.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

namespace heed::translate {

LanguageSteps::LanguageSteps(std::vector<LanguageStep> steps) {
  std::set<std::string> languages;
  for (LanguageStep& step : steps) {
    languages.insert({step.source, step.target});
    std::vector<LanguageStep>& same_source = from_[step.source];
    same_source.push_back(std::move(step));
  }
  languages_ = languages.size();
}

LanguageSteps::Reached LanguageSteps::search(const std::string& source, const std::string& target) const {
  Reached reached{{source, nullptr}};
  std::deque<std::string> left{source};
  while (!left.empty() && !reached.contains(target) && reached.size() < languages_) {
    if (const auto steps = from_.find(left.front()); steps != from_.end()) {
      for (const LanguageStep& step : steps->second) {
        if (reached.emplace(step.target, &step).second) left.push_back(step.target);
      }
    }
    left.pop_front();
  }
  return reached;
}

std::vector<LanguageStep> LanguageSteps::between(const std::string& source, const std::string& target) const {
  const Reached reached = search(source, target);
  std::vector<LanguageStep> chain;
  if (!reached.contains(target)) return chain;
  for (const LanguageStep* step = reached.at(target); step != nullptr; step = reached.at(step->source)) {
    chain.push_back(*step);
  }
  std::ranges::reverse(chain);
  return chain;
}

std::vector<std::string> LanguageSteps::targets(const std::string& source) const {
  std::vector<std::string> targets;
  for (const auto& [language, step] : search(source, "")) {
    if (step != nullptr) targets.push_back(language);
  }
  return targets;
}

}  // namespace heed::translate
