#include "heed/translator.h"

#include <memory>
#include <optional>
#include <utility>

#include "api/checks.h"
#include "base/thread_pool.h"
#include "decode/document.h"
#include "decode/model_files.h"
#include "decode/translation_settings.h"
#include "decode/translator.h"
#include "inspect/trace/head_ablation.h"
#include "inspect/trace/translation_trace.h"
#include "models/model_directory.h"
#include "models/precision_names.h"
#include "text/tokenizer.h"
#include "text/whitespace.h"

namespace heed {

namespace {

/// The rest is checked with the search.
void require_valid(const TranslateOptions& o) {
  if (o.beam < 0 || o.beam > models::kMaxBeamSize) {
    fail(ErrorKind::kUsage, "TranslateOptions: beam must be from 1 to {}, or 0 for the directory's, not {}",
         models::kMaxBeamSize, o.beam);
  }
  if (o.nbest < 1 || o.nbest > models::kMaxBeamSize) {
    fail(ErrorKind::kUsage, "TranslateOptions: nbest must be from 1 to {}, not {}", models::kMaxBeamSize,
         o.nbest);
  }
  if (o.max_length && *o.max_length < 2) {
    fail(ErrorKind::kUsage, "TranslateOptions: max_length must be at least 2, not {}", *o.max_length);
  }
  if (o.no_repeat_ngram && (*o.no_repeat_ngram < 0 || *o.no_repeat_ngram > 1000)) {
    fail(ErrorKind::kUsage, "TranslateOptions: no_repeat_ngram must be from 0 to 1000, not {}",
         *o.no_repeat_ngram);
  }
  if (!o.sample && (o.temperature || o.top_k || o.top_p)) {
    fail(ErrorKind::kUsage, "TranslateOptions: temperature, top_k and top_p are for sampling: set sample");
  }
  require_utf8("the prefix", o.prefix);
  for (const std::string& text : o.require) require_utf8("a required text", text);
  for (const std::string& text : o.forbid) require_utf8("a forbidden text", text);
}

/// The same for documents.
void require_valid_for_documents(const TranslateOptions& o) {
  if (o.nbest > 1 || !o.prefix.empty() || !o.require.empty() || o.sample || o.alignment || !o.placeholders ||
      !o.split_sentences) {
    fail(ErrorKind::kUsage,
         "TranslateOptions: a document has no nbest, prefix, require, sample or alignment, and needs "
         "placeholders and split_sentences: leave them as they are");
  }
}

decode::TranslationChoices choices_of(const TranslateOptions& o) {
  decode::TranslationChoices choices;
  if (o.beam > 0) choices.search.beam = o.beam;
  choices.search.length_penalty = o.length_penalty;
  choices.search.max_length = o.max_length;
  choices.search.no_repeat_ngram = o.no_repeat_ngram;
  choices.nbest = o.nbest;
  choices.sample = o.sample;
  choices.temperature = o.temperature;
  choices.top_k = o.top_k;
  choices.top_p = o.top_p;
  choices.seed = o.seed;
  choices.whole_lines = !o.split_sentences;
  choices.no_placeholders = !o.placeholders;
  choices.constraints = {o.prefix, o.require, o.forbid};
  choices.align = o.alignment;
  return choices;
}

}  // namespace

struct Translator::State {
  State(const std::string& directory, int threads, const Languages& languages,
        const models::LoadOptions& options)
      : files((checked_threads(threads), decode::translation_model(models::load_model(directory, options)))),
        pool(threads) {
    if (!languages.source.empty() || !languages.target.empty()) {
      decode::choose_languages(files, languages.source, languages.target);
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

  /// A translator with these options, and what it refers to.
  struct Configured {
    Configured(State& state, const TranslateOptions& options) : heads(heads_off(options.ablate)) {
      require_valid(options);
      require_heads(state.model.seq2seq(), heads);
      nn::Context context = state.model.context();
      context.head_scales = &heads;
      decode::TranslationChoices choices = choices_of(options);
      if (!options.glossary.empty()) {
        choices.glossary = std::make_shared<const Glossary>(glossary_of(options.glossary));
      }
      decode::TranslatorOptions o = decode::default_translator_options(state.model);
      decode::apply(choices, o);
      translator.emplace(state.model.seq2seq(), context, state.tokenizer, state.pool, o);
    }
    Configured(const Configured&) = delete;
    Configured& operator=(const Configured&) = delete;

    const nn::HeadScales heads;
    std::optional<decode::Translator> translator;
  };

  decode::TranslationModel files;
  models::LoadedModel& model = files.loaded;
  Tokenizer& tokenizer = files.tokenizer;
  ThreadPool pool;
};

Translator::Translator(const std::string& directory, int threads, const Languages& languages,
                       const std::string& precision, std::optional<bool> shortlist)
    : state_(std::make_unique<State>(
          directory, threads, languages,
          models::LoadOptions{.precision = models::precision_named(precision), .shortlist = shortlist})) {}
Translator::~Translator() = default;
Translator::Translator(Translator&&) noexcept = default;
Translator& Translator::operator=(Translator&&) noexcept = default;

namespace {

TranslatedText text_of(decode::Candidate&& candidate) {
  return {std::move(candidate.text), candidate.log_probability, candidate.score, std::move(candidate.pieces),
          std::move(candidate.alignment)};
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
  const State::Configured configured(*state_, options);
  std::vector<std::string> texts;
  translate_all(*configured.translator, lines, options.cancelled, [&](decode::Translation translation) {
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
  const State::Configured configured(*state_, options);
  std::vector<std::vector<TranslatedText>> found;
  translate_all(*configured.translator, lines, options.cancelled, [&](decode::Translation translation) {
    std::vector<TranslatedText>& texts = found.emplace_back();
    for (decode::Candidate& each : translation.candidates) texts.push_back(text_of(std::move(each)));
  });
  return found;
}

std::string Translator::translate_document(const std::string& document, const std::string& format,
                                           const TranslateOptions& options) const {
  if (format != "html" && format != "markdown") {
    fail(ErrorKind::kUsage, "unknown format '{}'; choose html or markdown", format);
  }
  require_utf8("the document", document);
  require_valid_for_documents(options);
  TranslateOptions aligned = options;
  aligned.alignment = true;
  const State::Configured configured(*state_, aligned);
  std::string translation = decode::translate_document(
      *configured.translator, document,
      format == "html" ? decode::DocumentFormat::kHtml : decode::DocumentFormat::kMarkdown,
      options.cancelled);
  if (options.cancelled != nullptr && options.cancelled->load()) throw Cancelled();
  return translation;
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
  const State::Configured configured(*state_, {});
  return configured.translator->score({{source, target}}).front().log_probability;
}

}  // namespace heed
