#include "text/unicode/clean_up.h"

#include <string_view>
#include <utility>

namespace heed {

std::string cleaned_up(std::string token) {
  static constexpr std::pair<std::string_view, std::string_view> kShorter[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kShorter) {
    for (size_t at = token.find(from); at != std::string::npos; at = token.find(from, at + to.size())) {
      token.replace(at, from.size(), to);
    }
  }
  return token;
}

}  // namespace heed
