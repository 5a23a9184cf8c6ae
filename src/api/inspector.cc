#include "heed/inspector.h"

#include "api/checks.h"
#include "base/thread_pool.h"
#include "inspect/attribution/attribution.h"
#include "inspect/attribution/attribution_json.h"
#include "inspect/lens/lens.h"
#include "inspect/lens/lens_json.h"
#include "inspect/reading/model_to_inspect.h"
#include "models/config/precision_names.h"
#include "text/unicode/whitespace.h"

namespace heed {

struct Inspector::State {
  State(const std::string& directory, int threads, const Languages& languages,
        const models::LoadOptions& options)
      : model((checked_threads(threads), models::load_model(directory, options)), languages), pool(threads) {}

  Reading read(const std::string& text, const std::string& target) const {
    require_utf8("the text", text);
    require_utf8("the target", target);
    if (strip(text).empty()) fail(ErrorKind::kUsage, "the text is empty: give a text");
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
  return look_through(state_->model.view(), state_->read(text, options.target), options.top, state_->pool);
}

Attribution Inspector::attribute(const std::string& text, const AttributionOptions& options) const {
  require_utf8("the alternative", options.instead);
  return heed::attribute(state_->model.view(), state_->read(text, options.target), options, state_->pool);
}

std::string lens_json(const Lens& lens, bool details) {
  return lens_to_json(lens, details);
}

std::string attribution_json(const Attribution& attribution) {
  return attribution_to_json(attribution);
}

}  // namespace heed
