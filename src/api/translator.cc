#include "heed/translator.h"

#include <memory>
#include <optional>
#include <utility>

#include "api/checks.h"
#include "base/stop.h"
#include "base/thread_pool.h"
#include "inspect/trace/translation_trace.h"
#include "models/config/precision_names.h"
#include "models/directory/loaded_model.h"
#include "models/head_names.h"
#include "tasks/model_files.h"
#include "text/tokenizers/translation_tokenizer.h"
#include "text/unicode/whitespace.h"
#include "translate/documents/document.h"
#include "translate/translation_settings.h"
#include "translate/translator_chain.h"
#include "translate/words/confidence.h"

namespace heed {

struct Translator::State {
  State(const std::vector<std::string>& directories, int threads, const models::LoadOptions& options)
      : pool((checked_threads(threads), threads)) {
    if (directories.empty()) fail(ErrorKind::kUsage, "a translation needs at least one model directory");
    for (const std::string& directory : directories) {
      files.push_back(tasks::translation_model(models::load_model(directory, options)));
    }
  }

  translate::TranslatorChain with(const TranslateOptions& options) {
    return {tasks::chain_steps(files, options), pool};
  }
  /// Throws kUsage if there are several.
  tasks::TranslationModel& one_model(const char* what) {
    if (files.size() == 1) return files[0];
    fail(
        ErrorKind::kUsage,
        "{} is that of one model, and this translator goes through {} of them: open '{}' alone for its step, "
        "or another one",
        what, files.size(), files[0].loaded.directory());
  }

  std::vector<tasks::TranslationModel> files;
  ThreadPool pool;
};

Translator::Translator(const std::string& directory, int threads, const Languages& languages,
                       const std::string& precision, std::optional<bool> shortlist)
    : state_(std::make_unique<State>(
          std::vector{directory}, threads,
          models::LoadOptions{.precision = models::precision_named(precision), .shortlist = shortlist})) {
  if (!languages.source.empty() || !languages.target.empty()) {
    tasks::choose_languages(state_->files[0], languages.source, languages.target);
  }
}
Translator::Translator(std::unique_ptr<State> state) : state_(std::move(state)) {}
Translator Translator::chain(const std::vector<std::string>& directories, int threads,
                             const std::string& precision, std::optional<bool> shortlist) {
  auto state = std::make_unique<State>(
      directories, threads,
      models::LoadOptions{.precision = models::precision_named(precision), .shortlist = shortlist});
  state->with({});  // checks that the models fit together
  return Translator(std::move(state));
}
Translator::~Translator() = default;
Translator::Translator(Translator&&) noexcept = default;
Translator& Translator::operator=(Translator&&) noexcept = default;

namespace {

TranslatedText text_of(translate::Candidate&& candidate) {
  const double confidence = translate::text_confidence(candidate.word_confidence);
  return {.text = std::move(candidate.text),
          .log_probability = candidate.log_probability,
          .score = candidate.score,
          .pieces = std::move(candidate.pieces),
          .alignment = std::move(candidate.alignment),
          .word_confidence = std::move(candidate.word_confidence),
          .confidence = confidence,
          .intermediate = {},
          .warnings = {}};
}

}  // namespace

std::vector<std::string> Translator::translate(const std::vector<std::string>& lines,
                                               const TranslateOptions& options) const {
  require_utf8_each("line", lines);
  const translate::TranslatorChain translator = state_->with(options);
  std::vector<std::string> texts;
  const auto take = [&](translate::Translation translation) {
    texts.push_back(std::move(translation.candidates.front().text));
  };
  translator.translate(lines, take, {.stop = Stop(options.cancelled)});
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
  require_utf8_each("line", lines);
  const translate::TranslatorChain translator = state_->with(options);
  std::vector<std::vector<TranslatedText>> found;
  const auto take = [&](translate::Translation translation) {
    std::vector<TranslatedText>& texts = found.emplace_back();
    for (translate::Candidate& each : translation.candidates) texts.push_back(text_of(std::move(each)));
    texts.front().warnings = std::move(translation.warnings);
    for (TranslatedText& text : texts) text.intermediate = translation.intermediate;
  };
  translator.translate(lines, take, {.stop = Stop(options.cancelled)});
  return found;
}

std::string Translator::translate_document(const std::string& document, const std::string& format,
                                           const TranslateOptions& options) const {
  std::vector<std::string> warnings;
  return translate_document(document, format, options, warnings);
}

std::string Translator::translate_document(const std::string& document, const std::string& format,
                                           const TranslateOptions& options,
                                           std::vector<std::string>& warnings) const {
  if (format != "html" && format != "markdown") {
    fail(ErrorKind::kUsage, "unknown format '{}'; choose html or markdown", format);
  }
  require_utf8("the document", document);
  const translate::TranslatorChain translator = state_->with(translate::options_for_document(options));
  translate::TranslatedDocument translated = translate::translate_document(
      translator, document,
      format == "html" ? translate::DocumentFormat::kHtml : translate::DocumentFormat::kMarkdown,
      Stop(options.cancelled));
  warnings = std::move(translated.warnings);
  return std::move(translated.text);
}

Trace Translator::attend(const std::string& source, const std::string& target,
                         const std::vector<std::string>& ablate) const {
  require_utf8("the source", source);
  require_utf8("the target", target);
  if (strip(source).empty()) fail(ErrorKind::kUsage, "the source is empty: give a text");
  const tasks::TranslationModel& model = state_->one_model("attention");
  TraceRequest request{source, target, search::search_options_of(model.loaded)};
  request.head_scales = models::heads_off(ablate);
  return trace_text(model.loaded, model.tokenizer, request);
}

double Translator::log_probability(const std::string& source, const std::string& target) const {
  require_utf8("the source", source);
  require_utf8("the target", target);
  const tasks::TranslationModel& model = state_->one_model("the probability of a translation");
  const translate::Translator translator(model.loaded, model.tokenizer, state_->pool,
                                         translate::translator_options(model.loaded, {}));
  return translator.score({{source, target}}).front().log_probability;
}

}  // namespace heed
