#include "heed/classifier.h"

#include <mutex>
#include <utility>

#include "api/checks.h"
#include "base/stop.h"
#include "base/thread_pool.h"
#include "inspect/trace/encoder_trace.h"
#include "models/head_names.h"
#include "tasks/model_files.h"
#include "tasks/text_classifier.h"

namespace heed {

struct Classifier::State {
  State(const std::string& directory, int threads)
      : files((checked_threads(threads), tasks::classifier_model(models::load_model(directory)))),
        pool(threads),
        classifier(files.loaded.classifier(), files.loaded.context(), files.tokenizer, pool) {}

  tasks::EncoderModel files;
  ThreadPool pool;
  tasks::TextClassifier classifier;
  std::mutex mutex;  // the classifier is used by one thread at a time
};

namespace {

/// One of `count` texts.
tasks::ClassifierText checked(const ClassifierText& text, size_t index = 0, size_t count = 1) {
  require_utf8("text", index, count, text.first);
  if (text.second) require_utf8("second text", index, count, *text.second);
  return {text.first, text.second};
}

}  // namespace

Classifier::Classifier(const std::string& directory, int threads)
    : state_(std::make_unique<State>(directory, threads)) {}
Classifier::~Classifier() = default;
Classifier::Classifier(Classifier&&) noexcept = default;
Classifier& Classifier::operator=(Classifier&&) noexcept = default;

const std::vector<std::string>& Classifier::labels() const {
  return state_->files.loaded.classifier().labels();
}

std::vector<TextClass> Classifier::classify(const std::vector<ClassifierText>& texts,
                                            const std::atomic<bool>* cancelled) const {
  std::vector<tasks::ClassifierText> inputs;
  for (size_t n = 0; n < texts.size(); ++n) inputs.push_back(checked(texts[n], n, texts.size()));
  std::vector<TextClass> classes;
  const std::lock_guard lock(state_->mutex);
  for (tasks::Classification& each : state_->classifier.classify(inputs, Stop(cancelled))) {
    TextClass& found = classes.emplace_back();
    found.label = labels()[each.best];
    found.probability = static_cast<double>(each.probabilities[each.best]);
    found.probabilities = std::move(each.probabilities);
    found.truncated = each.truncated;
  }
  return classes;
}

Trace Classifier::attend(const ClassifierText& text, const std::vector<std::string>& ablate) const {
  return trace_classification(state_->files.loaded, state_->files.tokenizer, checked(text), false,
                              models::heads_off(ablate));
}

}  // namespace heed
