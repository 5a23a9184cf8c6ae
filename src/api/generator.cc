#include "heed/generator.h"

#include <cmath>
#include <utility>

#include "base/thread_pool.h"
#include "decode/text_generator.h"
#include "decode/text_scoring.h"
#include "inspect/text_trace.h"
#include "models/model_directory.h"
#include "text/text_tokenizer.h"

namespace heed {

struct Generator::State {
  State(const std::string& directory, int threads)
      : model(models::load_model(directory)),
        language_model(model.language_model()),
        tokenizer(TextTokenizer::load(directory)),
        pool(threads) {}

  decode::TextGenerator with(const GenerateOptions& o, int count) {
    decode::TextGeneratorOptions options;
    options.search.nbest = count;
    options.search.sample = !o.greedy && o.beam == 0;
    options.search.beam_size = o.greedy || o.beam == 0 ? 1 : o.beam;
    options.search.max_new = o.max_tokens;
    options.search.repetition_penalty = o.repetition_penalty;
    options.search.sampling = {
        .temperature = o.temperature, .top_k = o.top_k, .top_p = o.top_p, .min_p = o.min_p, .seed = o.seed};
    options.stops = o.stops;
    return {language_model, model.context(), *tokenizer, pool, options};
  }
  decode::TextScore score(const std::string& text) const {
    return decode::score_text(language_model, model.context(), *tokenizer, text);
  }

  models::LoadedModel model;
  const models::LanguageModel& language_model;
  std::unique_ptr<TextTokenizer> tokenizer;
  ThreadPool pool;
};

Generator::Generator(const std::string& directory, int threads)
    : state_(std::make_unique<State>(directory, threads)) {}
Generator::~Generator() = default;
Generator::Generator(Generator&&) noexcept = default;
Generator& Generator::operator=(Generator&&) noexcept = default;

std::string Generator::generate(const std::string& prompt, const GenerateOptions& options,
                                const Show& show) const {
  return state_->with(options, 1).generate(prompt, 0, {.show = show}).texts.front().text;
}

std::vector<std::string> Generator::samples(const std::string& prompt, int count,
                                            const GenerateOptions& options) const {
  std::vector<std::string> texts;
  for (decode::GeneratedText& each : state_->with(options, count).generate(prompt).texts) {
    texts.push_back(std::move(each.text));
  }
  return texts;
}

double Generator::log_probability(const std::string& text) const {
  return state_->score(text).log_probability;
}

double Generator::perplexity(const std::string& text) const {
  const decode::TextScore score = state_->score(text);
  return std::exp(-score.log_probability / static_cast<double>(score.ids.size()));
}

Trace Generator::attend(const std::string& text) const {
  return trace_language_model(state_->model, *state_->tokenizer, text);
}

}  // namespace heed
