// What all routes share: models, the engine, limits. One object per server.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "base/stop.h"
#include "nn/head_scales.h"
#include "search/rules/option_row.h"
#include "search/shared_search.h"
#include "serve/http/fields.h"
#include "serve/http/http_message.h"
#include "serve/http/metrics.h"
#include "serve/http/request_error.h"
#include "serve/served_models.h"
#include "tasks/generation_settings.h"
#include "translate/documents/document.h"
#include "translate/translation_settings.h"

namespace heed::serve {

/// Limits of single requests.
struct RequestLimits {
  size_t characters = 20000;  ///< per text
  size_t texts = 64;          ///< per request
  int json_depth = 32;
  int alternatives = 16;  ///< per translation
  int beam = 64;
  int64_t tokens = 4096;  ///< generated per sequence
  /// Per request: sentences to translate, or sequences to generate.
  size_t sentences = 4096;
  /// Per request: source tokens to translate, or tokens to generate for all sequences.
  size_t work_tokens = 131072;
  /// Per request: lines, or parts of them, with those that are blank or copied, which take little time but
  /// some memory.
  size_t lines() const { return 4 * sentences; }
  /// Source or target tokens of /v1/attend with details, whose size grows with their square.
  size_t detail_tokens = 256;
  /// Attention weights of /v1/attend. As JSON, each has up to 16 bytes.
  int64_t attention_weights = int64_t{1} << 24;
  /// Source or target tokens of /v1/attribute and /v1/patch, whose time grows with their square.
  size_t attributed_tokens = 64;
};

struct Service {
  RequestLimits limits;
  bool keys_required = false;
  std::unique_ptr<ServedModels> models;
  std::unique_ptr<search::SharedSearch> engine;
  Metrics metrics;
};

/// A request with its reply and context, as routes receive it.
struct Exchange {
  Service& service;
  const HttpRequest& request;
  const Fields& fields;
  HttpReply& reply;
  std::string client = {};  ///< whom the request is counted for

  /// Requested when the client is gone.
  Stop stop() const { return Stop(request.gone.get()); }
};

/// Answers a request through `exchange.reply`, or throws RequestError, heed::Error or another exception.
using Route = void (*)(const Exchange& exchange);

// LibreTranslate's.
void route_translate(const Exchange& exchange);
void route_languages(const Exchange& exchange);
void route_detect(const Exchange& exchange);
/// 403, as from a LibreTranslate that does not offer files and suggestions.
void route_unavailable(const Exchange& exchange);
void route_frontend_settings(const Exchange& exchange);
void route_health(const Exchange& exchange);
// Heed's own.
void route_v1_translate(const Exchange& exchange);
void route_v1_attend(const Exchange& exchange);
void route_v1_lens(const Exchange& exchange);
void route_v1_attribute(const Exchange& exchange);
void route_v1_patch(const Exchange& exchange);
void route_v1_search(const Exchange& exchange);
void route_v1_classify(const Exchange& exchange);
// OpenAI's.
void route_v1_models(const Exchange& exchange);
void route_v1_completions(const Exchange& exchange);
/// 400: there are no chat completions here.
void route_v1_chat_completions(const Exchange& exchange);
void route_v1_embeddings(const Exchange& exchange);

/// A field of one text or several. Throws RequestError (400) beyond the limits on number and length of texts.
Fields::Texts required_texts(const Exchange& exchange, const std::string& name);
void require_length(const RequestLimits& limits, const std::string& text, const std::string& name);

/// The model that `model`, `pair` or both languages name, or the first one for the task, in the precision
/// that `precision` names; 400 if there is none, for a pair that needs several models, for a model of another
/// task, and for a precision that it does not have here.
const ServedModel& model_for(const Exchange& exchange, models::Task task);

/// A text of a request that looks into a model; 400 if it is missing, empty or too long.
std::string required_sentence(const Exchange& exchange, const std::string& name = "text");
/// The task of the named model; without a name translation, or the first model's if none translates.
models::Task task_to_look_into(const Exchange& exchange);

/// A translation model as a request uses it. The model must outlive it.
struct ChosenTranslation {
  const ServedModel& model;
  TranslationTokenizer tokenizer;  ///< for the chosen languages
  translate::TranslatorOptions options;
};
/// With languages of the model, which count where it has several; empty: those of its files.
ChosenTranslation in_languages(const ServedModel& model, const LanguagePair& languages);
/// The models through which a text passes, in order.
using ChosenChain = std::vector<ChosenTranslation>;
ChosenChain in_languages(const std::vector<ServedStep>& chain);
/// The chain for `pair`, or for `source_language` and `target_language`, where no single model translates
/// between them and no `model` is named, in the precision that `precision` names; else translation_for().
ChosenChain chain_for(const Exchange& exchange);
/// The model of model_for() with the languages of `pair`, or of `source_language` and `target_language`; 400
/// for languages that it does not have.
ChosenTranslation translation_for(const Exchange& exchange);

/// The heads of `ablate`: a list of {"stack", "layer", "head"}, counted from 1, optionally with a `scale`
/// other than 0; 400 for another form.
nn::HeadScales head_scales_of(const Fields& fields);

/// The numbers of `temperatures`, at which probabilities are wanted; 400 for too many, and for those out of
/// range.
std::vector<double> temperatures_of(const Fields& fields);

/// The options of `heed translate` in these groups that a request gives; 400 for one out of range, and for
/// too many or too long texts.
TranslateOptions translate_options(const Exchange& exchange,
                                   std::initializer_list<search::OptionGroup> groups);
/// The options of `heed generate` that a request gives; 400 as above. Empty stop texts are left out. With
/// `echo`, max_tokens may be 0.
GenerateOptions generate_options(const Exchange& exchange);
/// Throws 400 for fields other than `names`, those of these options, those that translation_for() reads, and
/// api_key.
void require_known(const Fields& fields, std::vector<std::string> names,
                   std::initializer_list<search::OptionGroup> groups);

/// Throws Cancelled if the client is gone.
void require_present(const Exchange& exchange);
/// Runs `work`, which tokenizes and computes without a search, on a thread of the engine for that, and throws
/// its errors. If the client leaves or the server ends, tokenizing stops with Cancelled.
void compute(const Exchange& exchange, const std::function<void()>& work);

/// Sends JSON with status 200.
void send_json(const Exchange& exchange, const nlohmann::ordered_json& json);
void send_text(const Exchange& exchange, std::string text, const std::string& content_type);

/// A text translated line by line, like `heed translate`.
struct TranslatedLines {
  std::vector<translate::Translation> lines;
  /// The n-th best translation of the whole text, n < count(), with its line ends. Lines with fewer
  /// translations use their last one.
  std::string text(size_t rank) const;
  size_t count() const;
  std::vector<std::string> line_ends = {};  ///< of each line: "\n", "\r\n", or nothing for the last
};

/// All lines of all texts share batches. Throws Cancelled if the client has disconnected, and the errors of
/// Translator.
std::vector<TranslatedLines> translate_texts(const Exchange& exchange, const ChosenChain& chain,
                                             const TranslateOptions& options,
                                             const std::vector<std::string>& texts);
/// The same for documents, "html" or "markdown": the parts of all of them share batches.
std::vector<translate::TranslatedDocument> translate_documents(const Exchange& exchange,
                                                               const ChosenChain& chain,
                                                               const TranslateOptions& options,
                                                               const std::vector<std::string>& documents,
                                                               const std::string& format);

}  // namespace heed::serve
