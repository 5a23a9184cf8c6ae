#include "cli/ablation.h"

#include "inspect/head_ablation.h"

namespace heed::cli {

void add_ablate_option(Command& app, std::vector<std::string>& heads) {
  app.add_option(
         "--ablate", heads,
         "Switch this head off: its output counts as zeros; layer and head may be all; may be repeated")
      ->repeatable()
      ->type_name("STACK:LAYER:HEAD");
}

nn::HeadScales ablation_of(const std::vector<std::string>& heads) {
  std::vector<nn::HeadScale> scales;
  for (const std::string& head : heads) scales.push_back(parse_head(head));
  return nn::HeadScales(std::move(scales));
}

}  // namespace heed::cli
