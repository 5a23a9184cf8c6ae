// A token that is chosen by its position or its text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace heed {

struct ChosenToken {
  size_t index = 0;
  std::vector<size_t> namesakes{};  ///< the indices of all tokens of its name, if the name alone chose it
};

/// "7" chooses the seventh token, "Hund" the first of that name, with or without the mark of a word's
/// beginning, and "Hund:2" the second. Throws kUsage, listing the tokens, if there is none.
ChosenToken choose_token(const std::string& wanted, const std::vector<std::string>& tokens);

/// Whether it chooses one of the tokens, or is the name of one with another count.
bool names_a_token(const std::string& wanted, const std::vector<std::string>& tokens);

}  // namespace heed
