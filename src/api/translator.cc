#include "heed/translator.h"

#include <utility>

#include "api/checks.h"
#include "base/thread_pool.h"
#include "decode/translator.h"
#include "inspect/translation_trace.h"
#include "models/model_directory.h"
#include "text/tokenizer.h"

namespace heed {

struct Translator::State {
  State(const std::string& directory, int threads)
      : model((checked_threads(threads), load(directory))),
        tokenizer(Tokenizer::load(directory)),
        pool(threads) {}

  /// Throws for a model that does not translate, which has no such tokenizer either.
  static models::LoadedModel load(const std::string& directory) {
    models::LoadedModel loaded = models::load_model(directory);
    loaded.seq2seq();
    return loaded;
  }

  static void require_valid(const TranslateOptions& o) {
    if (o.beam < 0 || o.beam > models::kMaxBeamSize) {
      fail(ErrorKind::kUsage, "TranslateOptions: beam must be from 1 to {}, or 0 for the directory's, not {}",
           models::kMaxBeamSize, o.beam);
    }
    if (o.nbest < 1 || o.nbest > models::kMaxBeamSize) {
      fail(ErrorKind::kUsage, "TranslateOptions: nbest must be from 1 to {}, not {}", models::kMaxBeamSize,
           o.nbest);
    }
  }

  static Glossary glossary_of(const std::vector<std::pair<std::string, std::string>>& terms) {
    Glossary glossary;
    for (const auto& [source, target] : terms) {
      require_utf8("a glossary's term", source);
      require_utf8("a glossary's term", target);
      glossary.add(source, target);
    }
    return glossary;
  }

  decode::Translator with(const TranslateOptions& options) {
    require_valid(options);
    decode::TranslatorOptions o;
    o.search = decode::search_options_of(model);
    if (options.beam > 0) {
      o.search.beam_size = options.beam;
      o.search.sample = false;
    }
    if (options.length_penalty) o.search.length_penalty = *options.length_penalty;
    o.search.nbest = options.nbest;
    o.split_sentences = options.split_sentences;
    o.protect_spans = options.placeholders;
    o.true_case = true;
    if (!options.glossary.empty())
      o.glossary = std::make_shared<const Glossary>(glossary_of(options.glossary));
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
  for (const std::string& line : lines) require_utf8("a line", line);
  std::vector<std::string> texts;
  for (const decode::Translation& line : state_->with(options).translate(lines))
    texts.push_back(line.best().text);
  return texts;
}

std::string Translator::translate(const std::string& line, const TranslateOptions& options) const {
  require_utf8("the line", line);
  return state_->with(options).translate(line).best().text;
}

std::vector<TranslatedText> Translator::alternatives(const std::string& line,
                                                     const TranslateOptions& options) const {
  require_utf8("the line", line);
  decode::Translation translation = state_->with(options).translate(line);
  std::vector<TranslatedText> texts;
  for (decode::Candidate& c : translation.candidates) {
    texts.push_back({std::move(c.text), c.log_probability, c.score, std::move(c.pieces)});
  }
  return texts;
}

Trace Translator::attend(const std::string& source, const std::string& target) const {
  require_utf8("the source", source);
  require_utf8("the target", target);
  return trace_text(state_->model, state_->tokenizer,
                    {source, target, decode::search_options_of(state_->model)});
}

double Translator::log_probability(const std::string& source, const std::string& target) const {
  require_utf8("the source", source);
  require_utf8("the target", target);
  return state_->with({}).score({{source, target}}).front().log_probability;
}

}  // namespace heed
