// What may be meant by a recipe key that does not exist.
#pragma once

#include <string>
#include <vector>

namespace heed::train {

/// The end of a message: "; did you mean 'model.width'?". Of `keys`, those that other toolkits call `key`
/// ("model.dim", "d_model"), else those of this name in another section ("width"), else the nearest one; ""
/// if there is none.
std::string suggest_setting(const std::string& key, const std::vector<std::string>& keys);

}  // namespace heed::train
