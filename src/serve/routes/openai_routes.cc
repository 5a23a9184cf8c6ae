// OpenAI's routes: /v1/models, /v1/completions with streaming for language models, /v1/embeddings for
// encoders.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <ctime>
#include <nlohmann/json.hpp>
#include <span>

#include "base/check.h"
#include "base/stop.h"
#include "base/text/base64.h"
#include "base/thread_pool.h"
#include "models/head_names.h"
#include "serve/routes/token_probabilities.h"
#include "serve/service.h"
#include "tasks/generate_options.h"
#include "tasks/generation_settings.h"
#include "tasks/text_embedder.h"
#include "text/unicode/utf8.h"

namespace heed::serve {
namespace {

using nlohmann::ordered_json;

const char* task_name(models::Task task) {
  switch (task) {
    case models::Task::kTranslation:
      return "translation";
    case models::Task::kClassification:
      return "classification";
    case models::Task::kMaskedLanguageModel:
      return "masked";
    case models::Task::kEmbedding:
      return "embedding";
    case models::Task::kLanguageModel:
      return "text";
  }
  HEED_CHECK(false);
}

ordered_json tags_of(const std::vector<ServedLanguage>& languages) {
  ordered_json tags = ordered_json::array();
  for (const ServedLanguage& each : languages) tags.push_back(each.tag);
  return tags;
}

/// An entry of /v1/models: OpenAI's fields, then Heed's.
ordered_json describe(const ServedModels& models, const ServedModel& model) {
  const models::LoadedModel& loaded = model.loaded();
  ordered_json json{{"id", model.name},
                    {"object", "model"},
                    {"created", model.loaded_at},
                    {"owned_by", "heed"},
                    {"task", task_name(model.task)},
                    {"type", loaded.model_type},
                    {"parameters", loaded.model->table().elements()},
                    {"precision", model.precision()},
                    {"precisions", models.precisions(model)}};
  if (!model.bundled) json["path"] = model.directory;  // for the commands that the explorer shows
  if (!model.pair().empty()) {
    json.update({{"pair", model.pair()}, {"source", model.sources[0].tag}, {"target", model.targets[0].tag}});
  } else if (!model.targets.empty()) {
    json.update({{"source_languages", tags_of(model.sources)}, {"target_languages", tags_of(model.targets)}});
    // What a request without a language gets.
    const TranslationTokenizer& tokenizer = model.translation->tokenizer;
    if (const auto* usual = find_language(model.sources, tokenizer.source_language()))
      json["source"] = usual->tag;
    if (const auto* usual = find_language(model.targets, tokenizer.target_language()))
      json["target"] = usual->tag;
  }
  if (model.task == models::Task::kClassification) json["labels"] = loaded.classifier().labels();
  if (model.encoder) json["width"] = loaded.encoder().width();
  if (const auto* search = dynamic_cast<const models::AutoregressiveModel*>(loaded.model.get())) {
    json["vocabulary"] = search->vocabulary_size();
    json["max_length"] = search->max_length() > 0 ? ordered_json(search->max_length()) : ordered_json();
  }
  if (model.translation) {
    const search::SearchOptions& search = model.translator_options.search;
    json["defaults"] = {{"beam", search.beam_size}, {"length_penalty", search.length_penalty}};
  }
  return json;
}

/// Throws 400 for fields that the API does not have, and for those that are not implemented and would change
/// results, unless they have the default value.
void require_supported(const Fields& fields) {
  std::vector<std::string> names{"api_key",        "best_of",          "echo",         "frequency_penalty",
                                 "logit_bias",     "logprobs",         "model",        "n",
                                 "precision",      "presence_penalty", "prompt",       "stream",
                                 "stream_options", "suffix",           "temperatures", "user"};
  tasks::visit_generate_options([&](const search::OptionRow& row, auto, const auto&...) {
    if (row.for_requests) names.emplace_back(row.name);
  });
  fields.require_known(names);
  for (const char* name : {"presence_penalty", "frequency_penalty"}) {
    if (fields.number(name, -2, 2).value_or(0) != 0) refuse(400, "'{}' is not supported: leave it out", name);
  }
  if (!fields.text_or("suffix", "").empty()) refuse(400, "'suffix' is not supported: leave it out");
  if (const auto* bias = fields.find("logit_bias"); bias != nullptr && !bias->empty()) {
    refuse(400, "'logit_bias' is not supported: leave it out");
  }
  const int64_t best_of = fields.integer("best_of", 1, 1024).value_or(1);
  if (best_of != 1 && best_of != fields.integer("n", 1, 1024).value_or(1)) {
    refuse(400, "'best_of' is not supported: use 'n'");
  }
}

/// Whether `stream_options` asks for the usage at the end of a stream; 400 for anything else in it, and where
/// nothing is streamed.
bool streams_usage(const Fields& fields) {
  const nlohmann::json* options = fields.find("stream_options");
  if (options == nullptr) return false;
  if (!fields.flag("stream")) refuse(400, "'stream_options' only works with 'stream': leave it out");
  if (!options->is_object()) refuse(400, "'stream_options' must be an object: {{\"include_usage\": true}}");
  bool usage = false;
  for (const auto& [name, value] : options->items()) {
    if (name != "include_usage") {
      refuse(400, "'stream_options': unknown field '{}'; there is include_usage", shown(name));
    }
    if (!value.is_boolean()) refuse(400, "'stream_options': 'include_usage' must be true or false");
    usage = value.get<bool>();
  }
  return usage;
}

/// The tokens of all prompts.
size_t prompt_tokens(const ServedModel& model, const std::vector<std::string>& prompts) {
  size_t tokens = 0;
  for (const std::string& prompt : prompts)
    tokens += model.language_model->tokenizer.prompt_ids(prompt).size();
  return tokens;
}

/// What a request for completions asks for.
struct CompletionWork {
  size_t sequences = 0;     ///< 'prompt' times 'n'
  int64_t tokens_each = 0;  ///< to generate
  size_t read_again = 0;    ///< tokens of prompts that `logprobs` reads, once for each text
};

/// Throws 400 for more sequences or tokens than a request may have.
void require_bounded_work(const RequestLimits& limits, const CompletionWork& work) {
  if (work.sequences > limits.sentences) {
    refuse(400, "the request asks for {} texts ('prompt' times 'n'), and this server writes {} at once",
           work.sequences, limits.sentences);
  }
  const size_t tokens = work.sequences * static_cast<size_t>(work.tokens_each) + work.read_again;
  if (tokens > limits.work_tokens) {
    refuse(400,
           "the request asks for up to {} tokens ('prompt' times 'n' times 'max_tokens'{}), and this server "
           "generates {}: send it in parts",
           tokens, work.read_again > 0 ? ", and with 'logprobs' the tokens of each prompt 'n' times" : "",
           limits.work_tokens);
  }
}

/// Writes the answer to a request for completions, at once or as server-sent events.
class Completions {
 public:
  Completions(const Exchange& exchange, const ServedModel& model)
      : exchange_(exchange), model_(model), created_(std::time(nullptr)) {
    const Fields& fields = exchange.fields;
    stream_ = fields.flag("stream");
    echo_ = fields.flag("echo");
    if (const auto logprobs = fields.integer("logprobs", 0, 20)) {
      probabilities_.emplace(exchange, model, static_cast<size_t>(*logprobs));
    } else if (fields.has("temperatures")) {
      refuse(400, "'temperatures' only works with 'logprobs': leave it out");
    }
    usage_ = streams_usage(fields);
  }

  bool streams() const { return stream_; }
  bool has_probabilities() const { return probabilities_.has_value(); }
  bool begun() const { return begun_; }

  /// Text of the first choice, as it is written, and before it the tokens that it consists of.
  void show_token(const std::string& prompt, int32_t id) {
    if (probabilities_ && !streamed_) streamed_.emplace(*probabilities_, prompt, echo_);
    if (streamed_) streamed_->push(id);
  }
  void show(const std::string& prompt, std::string_view text) {
    std::string all;
    if (echo_ && !shown_) all = prompt;
    shown_ = true;
    all += text;
    ordered_json logprobs = streamed_ ? streamed_->take(text) : ordered_json();
    send_event(envelope({choice(0, all, std::move(logprobs), nullptr)}));
  }

  void add(const tasks::Generation& generation) {
    prompt_tokens_ += generation.prompt_ids.size();
    for (const tasks::GeneratedText& text : generation.texts) {
      completion_tokens_ += text.ids.size();
      ordered_json logprobs = nullptr;
      if (streamed_) {
        logprobs = streamed_->take_rest(text);
      } else if (probabilities_) {
        logprobs = probabilities_->of(generation, text, echo_);
      }
      const bool stopped = text.ending == tasks::TextEnding::kEnd || text.ending == tasks::TextEnding::kStop;
      const std::string whole =
          shown_ ? "" : (echo_ ? replace_invalid_utf8(generation.prompt) : "") + text.text;
      ordered_json json = choice(index_++, whole, std::move(logprobs), stopped ? "stop" : "length");
      if (stream_) {
        send_event(envelope({std::move(json)}));
      } else {
        choices_.push_back(std::move(json));
      }
    }
  }

  void end() {
    const ordered_json usage{{"prompt_tokens", prompt_tokens_},
                             {"completion_tokens", completion_tokens_},
                             {"total_tokens", prompt_tokens_ + completion_tokens_}};
    if (!stream_) {
      ordered_json json = envelope(choices_);
      json["usage"] = usage;
      return send_json(exchange_, json);
    }
    if (usage_) {
      ordered_json json = envelope({});
      json["usage"] = usage;
      send_event(json);
    }
    exchange_.reply.write("data: [DONE]\n\n");
    exchange_.reply.end();
  }

  /// Reports an error in a response that has begun.
  void fail(const std::string& message) {
    send_event({{"error", {{"message", message}, {"type", "server_error"}}}});
    exchange_.reply.end();
  }

 private:
  static ordered_json choice(size_t index, const std::string& text, ordered_json logprobs,
                             ordered_json reason) {
    return {{"text", text},
            {"index", index},
            {"logprobs", std::move(logprobs)},
            {"finish_reason", std::move(reason)}};
  }
  ordered_json envelope(const std::vector<ordered_json>& choices) const {
    return {{"id", "cmpl-" + exchange_.request.id},
            {"object", "text_completion"},
            {"created", created_},
            {"model", model_.name},
            {"choices", choices}};
  }
  void send_event(const ordered_json& json) {
    if (!begun_) exchange_.reply.begin({.status = 200, .content_type = "text/event-stream"});
    begun_ = true;
    exchange_.reply.write("data: " + json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
                          "\n\n");
  }

  const Exchange& exchange_;
  const ServedModel& model_;
  int64_t created_;
  bool stream_ = false, echo_ = false, usage_ = false, shown_ = false, begun_ = false;
  std::optional<TokenProbabilities> probabilities_;
  std::optional<StreamedProbabilities> streamed_;
  std::vector<ordered_json> choices_;
  size_t index_ = 0, prompt_tokens_ = 0, completion_tokens_ = 0;
};

}  // namespace

void route_v1_models(const Exchange& exchange) {
  const ServedModels& models = *exchange.service.models;
  const std::string name = exchange.request.path.substr(
      std::min(exchange.request.path.size(), std::string_view("/v1/models/").size()));
  if (!name.empty()) {
    const ServedModel* model = models.named(name);
    if (model == nullptr) refuse(404, "there is no model '{}' here: GET /v1/models lists them", shown(name));
    return send_json(exchange, describe(models, *model));
  }
  ordered_json list = ordered_json::array();
  for (const auto& model : models.all()) list.push_back(describe(models, *model));
  ordered_json json{{"object", "list"}, {"data", list}};
  // The language pairs of /translate and /v1/translate for which no single model is here.
  for (const ServedModels::Chain& chain : models.chains()) {
    json["chains"].push_back({{"pair", chain.source + "-" + chain.target},
                              {"source", chain.source},
                              {"target", chain.target},
                              {"through", chain.through}});
  }
  send_json(exchange, json);
}

void route_v1_chat_completions(const Exchange&) {
  refuse(
      400,
      "chat completions are not supported: language models here continue a text. Write the conversation as "
      "one text, in the form that the model was trained on, and send it as 'prompt' to POST /v1/completions");
}

void route_v1_completions(const Exchange& exchange) {
  const Fields& fields = exchange.fields;
  require_supported(fields);
  if (const auto* prompt = fields.find("prompt");
      prompt != nullptr && prompt->is_array() && !prompt->empty() && !prompt->front().is_string()) {
    refuse(400, "'prompt' must be a text or a list of texts; lists of token ids are not supported");
  }
  const Fields::Texts prompts = required_texts(exchange, "prompt");
  const ServedModel& model = model_for(exchange, models::Task::kLanguageModel);
  GenerateOptions given = generate_options(exchange);
  const bool only_reads = given.max_tokens == 0;
  if (only_reads) given.max_tokens.reset();
  const int samples = static_cast<int>(fields.integer("n", 1, exchange.service.limits.beam).value_or(1));
  tasks::TextGeneratorOptions options = tasks::generator_options(model.loaded(), given, samples);
  if (!given.max_tokens && options.search.max_new > exchange.service.limits.tokens) {
    options.search.max_new = exchange.service.limits.tokens;
  }
  const RequestLimits& limits = exchange.service.limits;
  Completions completions(exchange, model);
  CompletionWork work{.sequences = prompts.texts.size() * static_cast<size_t>(samples)};
  if (!only_reads) work.tokens_each = options.search.max_new > 0 ? options.search.max_new : limits.tokens;
  if (completions.has_probabilities()) {
    work.read_again = static_cast<size_t>(samples) * prompt_tokens(model, prompts.texts);
  }
  require_bounded_work(limits, work);
  options.executor = exchange.service.engine.get();
  ThreadPool here(1);
  const tasks::TextGenerator generator(model.loaded().language_model(), model.loaded().context(),
                                       model.language_model->tokenizer, here, options);
  tasks::TextGenerator::Control control{.stop = exchange.stop()};
  try {
    if (only_reads) {
      for (size_t n = 0; n < prompts.texts.size(); ++n) {
        completions.add(generator.without_tokens(prompts.texts[n], n));
      }
    } else if (completions.streams() && prompts.texts.size() == 1 && samples == 1) {
      control.show = [&](std::string_view text) { completions.show(prompts.texts[0], text); };
      control.show_token = [&](int32_t id) { completions.show_token(prompts.texts[0], id); };
      const tasks::Generation made = generator.generate(prompts.texts[0], 0, control);
      completions.add(made);
    } else {
      size_t taken = 0;
      const auto next = [&](std::string& prompt) {
        if (taken == prompts.texts.size()) return false;
        prompt = prompts.texts[taken++];
        return true;
      };
      const auto take = [&](const tasks::Generation& made) { completions.add(made); };
      generator.generate(next, take, control);
    }
  } catch (const std::exception& error) {
    if (!completions.begun()) throw;
    return completions.fail(error.what());  // the status line is already sent
  }
  completions.end();
}

namespace {

/// The double with the shortest digits that identify a float32, which JSON shows then.
double with_shortest_digits(float number) {
  std::array<char, 32> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  double result = 0;
  std::from_chars(digits.data(), written.ptr, result);
  return result;
}

/// A vector as a list of numbers, or as base64 of its float32 in little-endian order.
ordered_json to_json(std::span<const float> vector, bool base64) {
  static_assert(std::endian::native == std::endian::little);
  if (base64) return to_base64(vector.data(), vector.size_bytes());
  ordered_json numbers = ordered_json::array();
  for (const float number : vector) numbers.push_back(with_shortest_digits(number));
  return numbers;
}

}  // namespace

void route_v1_embeddings(const Exchange& exchange) {
  const Fields& fields = exchange.fields;
  fields.require_known({"input", "model", "encoding_format", "dimensions", "user", "prompt", "precision",
                        "ablate", "api_key"});
  if (const auto* input = fields.find("input");
      input != nullptr && input->is_array() && !input->empty() && !input->front().is_string()) {
    refuse(400, "'input' must be a text or a list of texts; lists of token ids are not supported");
  }
  const Fields::Texts texts = required_texts(exchange, "input");
  const bool base64 = fields.choice("encoding_format", {"float", "base64"}) == "base64";
  const ServedModel& model = model_for(exchange, models::Task::kEmbedding);
  const models::LoadedModel& loaded = model.loaded();
  const nn::HeadScales heads = head_scales_of(fields);
  models::require_heads(loaded.encoder(), heads);
  nn::Context context = loaded.context();
  context.head_scales = &heads;
  ThreadPool here(1);
  const tasks::TextEmbedder embedder(loaded.encoder(), context, model.encoder->tokenizer,
                                     tasks::embedding_settings(loaded, {.prompt = fields.text("prompt")}),
                                     here);
  const int64_t width = embedder.width();
  if (fields.integer("dimensions", 1, INT32_MAX).value_or(width) != width) {
    refuse(400, "'dimensions': the vectors of the model '{}' have {}", model.name, width);
  }
  TextVectors found;
  size_t tokens = 0;
  compute(exchange, [&] {
    for (const std::string& text : texts.texts) tokens += embedder.encode(text).ids.size();
    found = embedder.embed(texts.texts, exchange.stop());
    require_present(exchange);
  });
  ordered_json data = ordered_json::array();
  for (size_t n = 0; n < texts.texts.size(); ++n) {
    const std::span vector(found.vectors.data<float>() + static_cast<int64_t>(n) * width,
                           static_cast<size_t>(width));
    data.push_back({{"object", "embedding"}, {"index", n}, {"embedding", to_json(vector, base64)}});
    if (found.truncated[n]) data.back()["truncated"] = true;
  }
  send_json(exchange, {{"object", "list"},
                       {"data", std::move(data)},
                       {"model", model.name},
                       {"usage", {{"prompt_tokens", tokens}, {"total_tokens", tokens}}}});
}

}  // namespace heed::serve
