#include "cli/ablation.h"

#include "cli/command.h"

namespace heed::cli {

void add_ablate_option(Command& app, std::vector<std::string>& heads) {
  app.group("Attention heads");
  app.add_option("--ablate", heads,
                 "Switch off this head: its output becomes zeros; layer and head may be all; may be repeated")
      ->repeatable()
      ->type_name("STACK:LAYER:HEAD");
}

}  // namespace heed::cli
