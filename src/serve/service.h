// What all routes share: models, the engine, limits. One object for the life of the server.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "decode/shared_search.h"
#include "serve/fields.h"
#include "serve/http_message.h"
#include "serve/metrics.h"
#include "serve/request_error.h"
#include "serve/served_models.h"

namespace heed::serve {

/// Limits of single requests.
struct RequestLimits {
  size_t characters = 20000;  ///< of a text
  size_t texts = 64;          ///< of a request
  int json_depth = 32;
  int alternatives = 16;  ///< of a translation
  int beam = 64;
  int64_t tokens = 4096;  ///< that a language model writes for a request
};

struct Service {
  RequestLimits limits;
  bool keys_required = false;
  std::unique_ptr<ServedModels> models;
  std::unique_ptr<decode::SharedSearch> engine;
  Metrics metrics;
};

/// Thrown where a request is cancelled: the client is gone, or the server ends.
class Cancelled : public RequestError {
 public:
  Cancelled() : RequestError(503, "the request was cancelled") {}
};

/// A request in the hands of a route.
struct Exchange {
  Service& service;
  const HttpRequest& request;
  const Fields& fields;
  HttpReply& reply;
};

/// Answers a request through `exchange.reply`, or throws RequestError, heed::Error or another exception.
using Route = void (*)(const Exchange& exchange);

// LibreTranslate's.
void route_translate(const Exchange& exchange);
void route_languages(const Exchange& exchange);
void route_detect(const Exchange& exchange);
void route_frontend_settings(const Exchange& exchange);
void route_health(const Exchange& exchange);
// Heed's own.
void route_v1_translate(const Exchange& exchange);
void route_v1_attend(const Exchange& exchange);
void route_v1_search(const Exchange& exchange);
void route_v1_classify(const Exchange& exchange);
// OpenAI's.
void route_v1_models(const Exchange& exchange);
void route_v1_completions(const Exchange& exchange);
void route_v1_embeddings(const Exchange& exchange);

/// A field of one text or several, within the limits on number and length of texts; the RequestError is 400.
Fields::Texts required_texts(const Exchange& exchange, const std::string& name);
/// Code points of valid UTF-8.
size_t count_characters(std::string_view text);
void require_length(const RequestLimits& limits, const std::string& text, const std::string& name);

/// The model that `model` or `pair` names, the first one for the task if the request names none; 400 for
/// neither, or one for another task.
const ServedModel& model_for(const Exchange& exchange, models::Task task);

/// Sends JSON with status 200.
void send_json(const Exchange& exchange, const nlohmann::ordered_json& json);
void send_text(const Exchange& exchange, std::string text, const std::string& content_type);

/// A text, line by line, translated as the command does.
struct TranslatedLines {
  std::vector<decode::Translation> lines;
  /// The n-th best translation of the whole text: line ends as they were, and where a line has fewer
  /// translations, its last. For n below count().
  std::string text(size_t rank) const;
  size_t count() const;
  std::vector<std::string> line_ends = {};  ///< of each line: "\n", "\r\n", or nothing for the last
};

/// All lines of all texts share batches. Throws Cancelled when the client is gone, and what Translator
/// throws.
std::vector<TranslatedLines> translate_texts(const Exchange& exchange, const ServedModel& model,
                                             const decode::TranslationChoices& choices,
                                             const std::vector<std::string>& texts);
/// The same for a document, "html" or "markdown".
std::string translate_document(const Exchange& exchange, const ServedModel& model,
                               const decode::TranslationChoices& choices, const std::string& document,
                               const std::string& format);

}  // namespace heed::serve
