#include "heed/inspector.h"

#include "api/checks.h"
#include "api/findings_checks.h"
#include "base/thread_pool.h"
#include "inspect/attribution/attribution.h"
#include "inspect/attribution/attribution_table.h"
#include "inspect/json/attribution_json.h"
#include "inspect/json/lens_json.h"
#include "inspect/json/patching_json.h"
#include "inspect/lens/lens.h"
#include "inspect/lens/lens_table.h"
#include "inspect/patching/patching.h"
#include "inspect/patching/patching_table.h"
#include "inspect/reading/model_to_inspect.h"
#include "inspect/reading/token_choice.h"
#include "models/config/precision_names.h"
#include "text/unicode/whitespace.h"

namespace heed {

struct Inspector::State {
  State(const std::string& directory, int threads, const Languages& languages,
        const models::LoadOptions& options)
      : model((checked_threads(threads), models::load_model(directory, options)), languages), pool(threads) {}

  static void require_text(const char* name, const std::string& text) {
    require_utf8(name, text);
    if (strip(text).empty()) fail(ErrorKind::kUsage, "{} is empty: give a text", name);
  }
  static void require_token(const std::string& token, const std::string& instead) {
    require_utf8("the token", token);
    require_utf8("the alternative", instead);
  }
  Reading read(const std::string& text, const std::string& target) const {
    require_text("the text", text);
    require_utf8("the target", target);
    return read_text(model.view(), text, target);
  }

  ModelToInspect model;
  ThreadPool pool;
};

Inspector::Inspector(const std::string& directory, int threads, const Languages& languages,
                     const std::string& precision)
    : state_(std::make_unique<State>(directory, threads, languages,
                                     models::LoadOptions{.precision = models::precision_named(precision)})) {}
Inspector::~Inspector() = default;
Inspector::Inspector(Inspector&&) noexcept = default;
Inspector& Inspector::operator=(Inspector&&) noexcept = default;

Lens Inspector::lens(const std::string& text, const LensOptions& options) const {
  if (options.top < 0) fail(ErrorKind::kUsage, "top must be at least 0, not {}", options.top);
  return look_through(state_->model.view(), state_->read(text, options.target), options.top, state_->pool,
                      options.parts);
}

Attribution Inspector::attribute(const std::string& text, const AttributionOptions& options) const {
  State::require_token(options.token, options.instead);
  require_utf8("the baseline", options.baseline);
  return heed::attribute(state_->model.view(), state_->read(text, options.target), options, state_->pool);
}

Patching Inspector::patch(const std::string& text, const std::string& other,
                          const PatchOptions& options) const {
  State::require_text("the other text", other);
  State::require_token(options.token, options.instead);
  const Reading reading = state_->read(text, options.target);
  return heed::patch(state_->model.view(), reading, read_another(state_->model.view(), other, reading),
                     options, state_->pool);
}

std::string lens_json(const Lens& lens, bool details) {
  return lens_to_json(checked(lens), {.details = details});
}

std::string attribution_json(const Attribution& attribution) {
  return attribution_to_json(checked(attribution));
}

std::string patching_json(const Patching& patching) {
  return patching_to_json(checked(patching));
}

std::string lens_text(const Lens& lens, const LensView& view, int columns) {
  const LensStack& stack = stack_named(checked(lens), view.stack);
  return lens_table(lens, stack, lens_value_named(stack, view.show), columns);
}

std::string lens_token_text(const Lens& lens, const std::string& token, const std::string& stack) {
  const LensStack& chosen = stack_named(checked(lens), stack);
  return lens_token_table(lens, chosen, choose_token(token, chosen.tokens).index);
}

std::string attribution_text(const Attribution& attribution, int columns) {
  return attribution_table(checked(attribution), columns, TerminalColours::kNone);
}

std::string patching_text(const Patching& patching, int columns) {
  return patching_table(checked(patching), columns);
}

}  // namespace heed
