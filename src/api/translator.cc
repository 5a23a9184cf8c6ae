#include "heed/translator.h"

#include <utility>

#include "base/thread_pool.h"
#include "decode/translator.h"
#include "inspect/translation_trace.h"
#include "models/model_directory.h"
#include "text/tokenizer.h"

namespace heed {

struct Translator::State {
  State(const std::string& directory, int threads)
      : model(load(directory)), tokenizer(Tokenizer::load(directory)), pool(threads) {}

  /// Throws for a model that does not translate, which has no such tokenizer either.
  static models::LoadedModel load(const std::string& directory) {
    models::LoadedModel loaded = models::load_model(directory);
    loaded.seq2seq();
    return loaded;
  }

  decode::Translator with(const TranslateOptions& options) {
    decode::TranslatorOptions o;
    o.search = decode::search_options_of(model);
    if (options.beam > 0) o.search.beam_size = options.beam;
    if (options.length_penalty) o.search.length_penalty = *options.length_penalty;
    o.search.nbest = options.nbest;
    o.split_sentences = options.split_sentences;
    return {model.seq2seq(), model.context(), tokenizer, pool, o};
  }

  models::LoadedModel model;
  Tokenizer tokenizer;
  ThreadPool pool;
};

Translator::Translator(const std::string& directory, int threads)
    : state_(std::make_unique<State>(directory, threads)) {}
Translator::~Translator() = default;
Translator::Translator(Translator&&) noexcept = default;
Translator& Translator::operator=(Translator&&) noexcept = default;

std::vector<std::string> Translator::translate(const std::vector<std::string>& lines,
                                               const TranslateOptions& options) const {
  std::vector<std::string> texts;
  for (const decode::Translation& line : state_->with(options).translate(lines))
    texts.push_back(line.best().text);
  return texts;
}

std::string Translator::translate(const std::string& line, const TranslateOptions& options) const {
  return state_->with(options).translate(line).best().text;
}

std::vector<TranslatedText> Translator::alternatives(const std::string& line,
                                                     const TranslateOptions& options) const {
  decode::Translation translation = state_->with(options).translate(line);
  std::vector<TranslatedText> texts;
  for (decode::Candidate& c : translation.candidates) {
    texts.push_back({std::move(c.text), c.log_probability, c.score, std::move(c.pieces)});
  }
  return texts;
}

Trace Translator::attend(const std::string& source, const std::string& target) const {
  return trace_text(state_->model, state_->tokenizer,
                    {source, target, decode::search_options_of(state_->model)});
}

double Translator::log_probability(const std::string& source, const std::string& target) const {
  return state_->with({}).score({{source, target}}).front().log_probability;
}

}  // namespace heed
