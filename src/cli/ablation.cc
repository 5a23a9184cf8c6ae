#include "cli/ablation.h"

#include "inspect/head_choice.h"
#include "inspect/translation_trace.h"

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

void require_heads(const TranslationModel& model, const nn::HeadScales& scales) {
  if (scales.empty()) return;
  const std::vector<int32_t> end{model.tokenizer.end_id()};
  trace_translation(model.loaded, model.tokenizer, {end, end}, false, scales);
}

}  // namespace heed::cli
