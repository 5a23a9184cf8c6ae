#include "heed/translator.h"

#include <utility>

#include "api/checks.h"
#include "base/thread_pool.h"
#include "decode/model_files.h"
#include "decode/translation_settings.h"
#include "decode/translator.h"
#include "inspect/head_ablation.h"
#include "inspect/translation_trace.h"
#include "models/model_directory.h"
#include "text/tokenizer.h"
#include "text/whitespace.h"

namespace heed {

struct Translator::State {
  State(const std::string& directory, int threads, const Languages& languages)
      : files((checked_threads(threads), decode::translation_model(models::load_model(directory)))),
        pool(threads) {
    if (!languages.source.empty() || !languages.target.empty()) {
      decode::choose_languages(files, languages.source, languages.target);
    }
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
    decode::TranslationChoices choices;
    if (options.beam > 0) choices.search.beam = options.beam;
    choices.search.length_penalty = options.length_penalty;
    choices.nbest = options.nbest;
    choices.whole_lines = !options.split_sentences;
    choices.no_placeholders = !options.placeholders;
    if (!options.glossary.empty()) {
      choices.glossary = std::make_shared<const Glossary>(glossary_of(options.glossary));
    }
    decode::TranslatorOptions o = decode::default_translator_options(model);
    decode::apply(choices, o);
    return {model.seq2seq(), model.context(), tokenizer, pool, o};
  }

  decode::TranslationModel files;
  models::LoadedModel& model = files.loaded;
  Tokenizer& tokenizer = files.tokenizer;
  ThreadPool pool;
};

Translator::Translator(const std::string& directory, int threads, const Languages& languages)
    : state_(std::make_unique<State>(directory, threads, languages)) {}
Translator::~Translator() = default;
Translator::Translator(Translator&&) noexcept = default;
Translator& Translator::operator=(Translator&&) noexcept = default;

namespace {

TranslatedText text_of(decode::Candidate&& candidate) {
  return {std::move(candidate.text), candidate.log_probability, candidate.score, std::move(candidate.pieces)};
}

/// Translates lines and calls take(translation) for each, in order.
template <typename Take>
void translate_all(const decode::Translator& translator, const std::vector<std::string>& lines,
                   const std::atomic<bool>* cancelled, const Take& take) {
  size_t next = 0;
  const auto next_line = [&](std::string& line) {
    if (next == lines.size()) return false;
    line = lines[next++];
    return true;
  };
  decode::Translator::Control control;
  control.cancelled = cancelled;
  if (!translator.translate(next_line, take, control)) throw Cancelled();
}

}  // namespace

std::vector<std::string> Translator::translate(const std::vector<std::string>& lines,
                                               const TranslateOptions& options) const {
  for (const std::string& line : lines) require_utf8("a line", line);
  std::vector<std::string> texts;
  translate_all(state_->with(options), lines, options.cancelled, [&](decode::Translation translation) {
    texts.push_back(std::move(translation.candidates.front().text));
  });
  return texts;
}

std::string Translator::translate(const std::string& line, const TranslateOptions& options) const {
  return translate(std::vector<std::string>{line}, options).front();
}

std::vector<TranslatedText> Translator::alternatives(const std::string& line,
                                                     const TranslateOptions& options) const {
  return alternatives(std::vector<std::string>{line}, options).front();
}

std::vector<std::vector<TranslatedText>> Translator::alternatives(const std::vector<std::string>& lines,
                                                                  const TranslateOptions& options) const {
  for (const std::string& line : lines) require_utf8("a line", line);
  std::vector<std::vector<TranslatedText>> found;
  translate_all(state_->with(options), lines, options.cancelled, [&](decode::Translation translation) {
    std::vector<TranslatedText>& texts = found.emplace_back();
    for (decode::Candidate& each : translation.candidates) texts.push_back(text_of(std::move(each)));
  });
  return found;
}

Trace Translator::attend(const std::string& source, const std::string& target,
                         const std::vector<std::string>& ablate) const {
  require_utf8("the source", source);
  require_utf8("the target", target);
  if (strip(source).empty()) fail(ErrorKind::kUsage, "the source is empty: give a text");
  TraceRequest request{source, target, decode::search_options_of(state_->model)};
  request.head_scales = heads_off(ablate);
  return trace_text(state_->model, state_->tokenizer, request);
}

double Translator::log_probability(const std::string& source, const std::string& target) const {
  require_utf8("the source", source);
  require_utf8("the target", target);
  return state_->with({}).score({{source, target}}).front().log_probability;
}

}  // namespace heed
