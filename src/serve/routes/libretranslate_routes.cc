// The routes of LibreTranslate's API, with its field names, response formats and status codes
// (https://docs.libretranslate.com/api).
#include <algorithm>
#include <nlohmann/json.hpp>

#include "serve/service.h"
#include "text/sentences/language_codes.h"
#include "text/sentences/language_id.h"

namespace heed::serve {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const DetectedLanguage& language) {
  return {{"confidence", language.confidence}, {"language", language.code}};
}

/// Detects the language of a text among those that can be translated into `target`. Any will do for a text
/// without letters. Throws RequestError (400) if it is none of these.
DetectedLanguage detect_source(const ServedModels& models, const std::string& text,
                               const std::string& target) {
  std::vector<std::string> sources = models.sources(target);
  if (sources.empty()) sources = models.sources();
  std::vector<std::string> expected = sources;
  if (models.has_language(target)) expected.push_back(language_tag(target));
  const std::vector<DetectedLanguage> found = detect_languages(text, expected);
  if (found.empty()) {
    const bool english = std::ranges::count(sources, "en") > 0;
    return {english ? "en" : sources.empty() ? "" : sources.front(), 0};
  }
  const std::string& code = found.front().code;
  if (models.has_language(target) && std::ranges::count(expected, code) == 0) {
    refuse(400,
           "the language of the text seems to be {} ({}), from which no model here translates into {} ({}): "
           "if it is another one, name it in 'source'",
           language_name(code), code, language_name(target), target);
  }
  return found.front();
}

/// The parameters of a request, common to all its texts.
struct Wanted {
  std::string target, format;
  TranslateOptions options;
};

/// What becomes of a text.
struct Answer {
  std::vector<std::string> translations;  ///< the best first
  std::vector<std::string> warnings;
};

Answer answer_of(const TranslatedLines& lines) {
  Answer answer;
  for (size_t rank = 0; rank < lines.count(); ++rank) {
    std::string text = lines.text(rank);
    if (std::ranges::count(answer.translations, text) == 0) answer.translations.push_back(std::move(text));
  }
  for (const translate::Translation& line : lines.lines) {
    answer.warnings.insert(answer.warnings.end(), line.warnings.begin(), line.warnings.end());
  }
  return answer;
}

/// The translations of texts in one language, with alternatives.
std::vector<Answer> translate(const Exchange& exchange, const ChosenChain& chain, const Wanted& wanted,
                              const std::vector<std::string>& texts) {
  std::vector<Answer> answers;
  if (wanted.format == "html") {
    for (auto& document : translate_documents(exchange, chain, wanted.options, texts, "html")) {
      answers.push_back({{std::move(document.text)}, std::move(document.warnings)});
    }
    return answers;
  }
  for (const TranslatedLines& lines : translate_texts(exchange, chain, wanted.options, texts)) {
    answers.push_back(answer_of(lines));
  }
  return answers;
}

/// The model that translates between two languages, or several in sequence.
ChosenChain models_between(const ServedModels& models, const std::string& source, const std::string& target) {
  for (const std::string& language : {source, target}) {
    if (!models.has_language(language)) refuse(400, "{} is not supported", shown(language));
  }
  std::vector<ServedStep> chain = models.chain(source, target);
  if (const ServedModel* model = models.between(source, target)) {
    chain = {{model, *model->languages(source, target)}};
  }
  if (chain.empty()) {
    refuse(400, "{} ({}) is not available as a target language from {} ({})", language_name(target), target,
           language_name(source), source);
  }
  return in_languages(chain);
}

std::string required_text(const Fields& fields, const std::string& name) {
  std::string text = fields.text_or(name, "");
  if (text.empty()) refuse(400, "Invalid request: missing {} parameter", name);
  return text;
}

}  // namespace

void route_translate(const Exchange& exchange) {
  const Fields& fields = exchange.fields;
  const ServedModels& models = *exchange.service.models;
  const Fields::Texts q = required_texts(exchange, "q");
  const std::string source = required_text(fields, "source");
  Wanted wanted;
  wanted.target = required_text(fields, "target");
  wanted.format = fields.choice("format", {"text", "html"});
  // LibreTranslate reads this field with Python's int(), and its clients send texts, too.
  const auto alternatives = fields.spelled_integer("alternatives", 0, exchange.service.limits.alternatives);
  if (wanted.format == "text") wanted.options.nbest = static_cast<int>(alternatives.value_or(0)) + 1;

  std::vector<DetectedLanguage> detected;
  for (const std::string& text : q.texts) {
    detected.push_back(source == "auto" ? detect_source(models, text, wanted.target)
                                        : DetectedLanguage{source, 100});
  }
  // Texts of the same language are translated together.
  std::vector<Answer> results(q.texts.size());
  for (size_t first = 0; first < q.texts.size(); ++first) {
    if (!results[first].translations.empty()) continue;
    const std::string& language = detected[first].code;
    std::vector<size_t> indices;
    std::vector<std::string> texts;
    for (size_t n = first; n < q.texts.size(); ++n) {
      if (detected[n].code != language) continue;
      indices.push_back(n);
      texts.push_back(q.texts[n]);
    }
    std::vector<Answer> translated;
    if (source == "auto" && language == language_tag(wanted.target)) {
      for (std::string& text : texts)
        translated.push_back({{std::move(text)}, {}});  // already in the target language
    } else {
      translated = translate(exchange, models_between(models, language, wanted.target), wanted, texts);
    }
    for (size_t n = 0; n < indices.size(); ++n) results[indices[n]] = std::move(translated[n]);
  }

  ordered_json all_texts = ordered_json::array(), all_detected = all_texts, all_alternatives = all_texts,
               all_warnings = all_texts;
  const auto wanted_count = static_cast<size_t>(wanted.options.nbest);
  bool warned = false;
  for (size_t n = 0; n < results.size(); ++n) {
    const auto& [translations, warnings] = results[n];
    all_texts.push_back(translations[0]);
    all_detected.push_back(to_json(detected[n]));
    const size_t count = std::min(translations.size(), wanted_count);
    all_alternatives.push_back(
        std::vector(translations.begin() + 1, translations.begin() + static_cast<std::ptrdiff_t>(count)));
    all_warnings.push_back(warnings);
    warned = warned || !warnings.empty();
  }
  ordered_json json = ordered_json::object();
  const auto add = [&](const char* name, ordered_json& list) { json[name] = q.is_list ? list : list[0]; };
  if (alternatives.value_or(0) > 0) add("alternatives", all_alternatives);
  if (source == "auto") add("detectedLanguage", all_detected);
  add("translatedText", all_texts);
  if (warned) add("warnings", all_warnings);
  send_json(exchange, json);
}

void route_languages(const Exchange& exchange) {
  ordered_json list = ordered_json::array();
  for (const ServedModels::Language& language : exchange.service.models->languages()) {
    list.push_back({{"code", language.code}, {"name", language.name}, {"targets", language.targets}});
  }
  send_json(exchange, list);
}

void route_detect(const Exchange& exchange) {
  const Fields::Texts q = required_texts(exchange, "q");
  std::string all;
  for (const std::string& text : q.texts) all += text + "\n";
  ordered_json list = ordered_json::array();
  for (const DetectedLanguage& language : detect_languages(all)) list.push_back(to_json(language));
  if (list.empty()) list.push_back(to_json({"en", 0}));  // as LibreTranslate: clients read the first one
  send_json(exchange, list);
}

void route_unavailable(const Exchange& exchange) {
  if (exchange.request.path == "/suggest") refuse(403, "Suggestions are disabled on this server.");
  refuse(403,
         "Files are not translated on this server: send their text to /translate, or use heed translate "
         "--format html|markdown");
}

void route_frontend_settings(const Exchange& exchange) {
  const Service& service = exchange.service;
  const auto language = [&](const std::string& code) {
    return ordered_json{{"code", code}, {"name", code == "auto" ? "Auto Detect" : language_name(code)}};
  };
  const ServedModel* first = service.models->first(models::Task::kTranslation);
  std::string target = "en";
  if (first != nullptr && !first->targets.empty() && find_language(first->targets, target) == nullptr) {
    target = first->targets[0].tag;
  }
  send_json(exchange, {{"apiKeys", service.keys_required},
                       {"charLimit", service.limits.characters},
                       {"frontendTimeout", 500},
                       {"keyRequired", service.keys_required},
                       {"language", {{"source", language("auto")}, {"target", language(target)}}},
                       {"suggestions", false},
                       {"supportedFilesFormat", ordered_json::array()},
                       {"filesTranslation", false}});
}

void route_health(const Exchange& exchange) {
  send_json(exchange, {{"status", "ok"}});
}

}  // namespace heed::serve
