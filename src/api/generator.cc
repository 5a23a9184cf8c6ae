#include "heed/generator.h"

#include <cmath>
#include <utility>

#include "api/checks.h"
#include "base/stop.h"
#include "base/text/option_error.h"
#include "base/thread_pool.h"
#include "inspect/trace/text_trace.h"
#include "models/head_names.h"
#include "tasks/generation_settings.h"
#include "tasks/model_files.h"
#include "tasks/text_generator.h"
#include "tasks/text_scoring.h"

namespace heed {

struct Generator::State {
  State(const std::string& directory, int threads)
      : files((checked_threads(threads), tasks::with_tokenizer(models::load_model(directory)))),
        pool(threads) {}

  tasks::TextGenerator with(const GenerateOptions& options, int samples) {
    return {language_model(), files.loaded.context(), files.tokenizer, pool,
            tasks::generator_options(files.loaded, options, samples)};
  }
  tasks::TextScore score(const std::string& text) const {
    require_utf8("the text", text);
    return tasks::score_text(language_model(), files.loaded.context(), files.tokenizer, text);
  }

  const models::LanguageModel& language_model() const { return files.loaded.language_model(); }

  tasks::LanguageModelFiles files;
  ThreadPool pool;
};

Generator::Generator(const std::string& directory, int threads)
    : state_(std::make_unique<State>(directory, threads)) {}
Generator::~Generator() = default;
Generator::Generator(Generator&&) noexcept = default;
Generator& Generator::operator=(Generator&&) noexcept = default;

std::string Generator::generate(const std::string& prompt, const GenerateOptions& options,
                                const Show& show) const {
  require_utf8("the prompt", prompt);
  const tasks::TextGenerator generator = state_->with(options, 1);
  tasks::Generation generation = generator.generate(prompt, 0, {Stop(options.cancelled), show});
  return std::move(generation.texts.front().text);
}

std::vector<std::string> Generator::generate(const std::vector<std::string>& prompts,
                                             const GenerateOptions& options) const {
  require_utf8_each("prompt", prompts);
  size_t next = 0;
  const auto next_prompt = [&](std::string& prompt) {
    if (next == prompts.size()) return false;
    prompt = prompts[next++];
    return true;
  };
  std::vector<std::string> texts;
  const auto take = [&](tasks::Generation generation) {
    texts.push_back(std::move(generation.texts.front().text));
  };
  const tasks::TextGenerator generator = state_->with(options, 1);
  generator.generate(next_prompt, take, {Stop(options.cancelled), {}});
  return texts;
}

namespace {

/// Runs work of samples(), in whose errors the number of texts is called as its argument is.
template <typename Work>
auto with_count_named(const Work& work) {
  try {
    return work();
  } catch (const OptionError& error) {
    throw Error(error.kind(), error.message([](const std::string& option) {
      return option == "nbest" || option == "samples" ? std::string("count") : option;
    }));
  }
}

}  // namespace

std::vector<std::string> Generator::samples(const std::string& prompt, int count,
                                            const GenerateOptions& options) const {
  require_utf8("the prompt", prompt);
  tasks::Generation generation = with_count_named([&] {
    return state_->with(options, count).generate(prompt, 0, {Stop(options.cancelled), {}});
  });
  std::vector<std::string> texts;
  for (tasks::GeneratedText& each : generation.texts) texts.push_back(std::move(each.text));
  return texts;
}

double Generator::log_probability(const std::string& text) const {
  return state_->score(text).log_probability;
}

double Generator::perplexity(const std::string& text) const {
  const tasks::TextScore score = state_->score(text);
  if (score.ids.empty()) tasks::fail_nothing_to_score();
  return std::exp(-score.log_probability / static_cast<double>(score.ids.size()));
}

Trace Generator::attend(const std::string& text, const std::vector<std::string>& ablate) const {
  require_utf8("the text", text);
  return trace_language_model(state_->files.loaded, state_->files.tokenizer, text, false,
                              models::heads_off(ablate));
}

}  // namespace heed
