#include "heed/embedder.h"

#include <mutex>

#include "api/checks.h"
#include "base/stop.h"
#include "base/thread_pool.h"
#include "inspect/trace/encoder_trace.h"
#include "inspect/trace/text_tokens.h"
#include "models/head_names.h"
#include "tasks/model_files.h"
#include "tasks/text_embedder.h"

namespace heed {

struct Embedder::State {
  State(const std::string& directory, const EmbedderOptions& options)
      : files((checked_threads(options.threads),
               tasks::encoder_model(models::load_model(directory, {.encoder = true})))),
        pool(options.threads),
        embedder(files.loaded.encoder(), files.loaded.context(), files.tokenizer,
                 tasks::embedding_settings(files.loaded, options), pool) {}

  tasks::EncoderModel files;
  ThreadPool pool;
  tasks::TextEmbedder embedder;
  std::mutex mutex;  // the embedder is used by one thread at a time
};

Pooling pooling_named(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [each, pooling] : models::pooling_names()) {
    if (each == name) return pooling;
    known.push_back(each);
  }
  fail(ErrorKind::kUsage, "unknown pooling '{}'; choose {}", name, fmt::join(known, ", "));
}

Embedder::Embedder(const std::string& directory, const EmbedderOptions& options)
    : state_(std::make_unique<State>(directory, options)) {}
Embedder::~Embedder() = default;
Embedder::Embedder(Embedder&&) noexcept = default;
Embedder& Embedder::operator=(Embedder&&) noexcept = default;

int64_t Embedder::width() const {
  return state_->embedder.width();
}

int64_t Embedder::max_length() const {
  return state_->embedder.max_length();
}

TextVectors Embedder::embed(const std::vector<std::string>& texts, const std::atomic<bool>* cancelled) const {
  require_utf8_each("text", texts);
  const std::lock_guard lock(state_->mutex);
  TextVectors found = state_->embedder.embed(texts, Stop(cancelled));
  return found;
}

Trace Embedder::attend(const std::string& text, const std::vector<std::string>& ablate) const {
  require_utf8("the text", text);
  const tasks::EncoderModel& files = state_->files;
  const Encoding encoding = state_->embedder.encode_whole(text);
  require_tokens("text", encoding.size(), max_length());
  Trace trace = trace_encoder(files.loaded, files.tokenizer, encoding, false, models::heads_off(ablate));
  trace.source = text;
  return trace;
}

}  // namespace heed
