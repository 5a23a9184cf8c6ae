#include "text/pipeline/segmentation/space_mark.h"

namespace heed {

std::string marks_to_spaces(std::string_view text) {
  std::string result;
  size_t begin = 0;
  for (size_t at = text.find(kSpaceMark); at != std::string_view::npos; at = text.find(kSpaceMark, begin)) {
    result.append(text.substr(begin, at - begin)).push_back(' ');
    begin = at + kSpaceMark.size();
  }
  return result.append(text.substr(begin));
}

}  // namespace heed
