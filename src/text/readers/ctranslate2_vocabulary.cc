#include "text/readers/ctranslate2_vocabulary.h"

#include <algorithm>

#include "base/text/string_list.h"

namespace heed {

std::vector<std::string> read_ctranslate2_vocabulary(const ModelInventory& files, const std::string& name,
                                                     const std::string& pad) {
  std::vector<std::string> pieces = read_string_list(files, name.c_str());
  if (std::ranges::count(pieces, pad) == 0) pieces.push_back(pad);
  return pieces;
}

}  // namespace heed
