// OpenAI's routes for language models: /v1/models, /v1/completions with streaming, /v1/embeddings.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/thread_pool.h"
#include "decode/generation_settings.h"
#include "decode/scoring.h"
#include "serve/service.h"
#include "text/utf8.h"

namespace heed::serve {
namespace {

using nlohmann::ordered_json;

const char* task_name(models::Task task) {
  switch (task) {
    case models::Task::kTranslation:
      return "translation";
    case models::Task::kClassification:
      return "classification";
    default:
      return "text";
  }
}

/// Fields of the API that are not implemented and would change results: rejected unless they have the default
/// value.
void require_supported(const Fields& fields) {
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

decode::GenerationChoices generation_choices(const Exchange& exchange) {
  const Fields& fields = exchange.fields;
  const RequestLimits& limits = exchange.service.limits;
  decode::GenerationChoices choices;
  choices.samples = static_cast<int>(fields.integer("n", 1, limits.beam).value_or(1));
  choices.max_tokens = fields.integer("max_tokens", 1, limits.tokens);
  choices.temperature = fields.number("temperature", 0, 1e6);
  choices.greedy = choices.temperature == 0.0;
  if (choices.greedy) choices.temperature.reset();
  choices.top_p = fields.number("top_p", 0, 1, true);
  choices.min_p = fields.number("min_p", 0, 1);
  if (const auto top_k = fields.integer("top_k", 0, INT32_MAX)) choices.top_k = static_cast<int>(*top_k);
  if (const auto beam = fields.integer("beam", 1, limits.beam)) choices.beam = static_cast<int>(*beam);
  choices.repetition_penalty = fields.number("repetition_penalty", 0, 100, true);
  if (const auto seed = fields.integer("seed", INT64_MIN, INT64_MAX)) {
    choices.seed = static_cast<uint64_t>(*seed);
  }
  if (const auto stops = fields.texts("stop")) {
    for (const std::string& stop : stops->texts) {
      require_length(limits, stop, "stop");
      if (!stop.empty()) choices.stops.push_back(stop);
    }
    if (choices.stops.size() > 16) refuse(400, "'stop' may hold 16 texts");
  }
  return choices;
}

/// The `logprobs` object: the tokens of a text, and the most probable tokens at each position.
class TokenProbabilities {
 public:
  TokenProbabilities(const Exchange& exchange, const ServedModel& model, size_t alternatives)
      : exchange_(exchange), files_(*model.language_model), alternatives_(alternatives) {}

  /// For the generated tokens and, with `echo`, those of the prompt; not for the tokens after a stop text.
  ordered_json of(const std::vector<int32_t>& prompt, const std::string& prompt_text,
                  const decode::GeneratedText& text, bool echo) const {
    std::vector<int32_t> ids = prompt;
    ids.insert(ids.end(), text.ids.begin(), text.ids.end());
    ordered_json tokens = ordered_json::array(), each = tokens, top = tokens, offsets = tokens;
    const size_t limit = count_characters(prompt_text) + count_characters(text.text);
    size_t offset = echo ? 0 : count_characters(prompt_text);
    const auto add = [&](int32_t id, ordered_json value, ordered_json likeliest) {
      const std::string token = name_of(id);
      tokens.push_back(token);
      each.push_back(std::move(value));
      top.push_back(std::move(likeliest));
      offsets.push_back(offset);
      offset = std::min(limit, offset + count_characters(replace_invalid_utf8(files_.tokenizer->bytes(id))));
    };
    exchange_.service.engine->call([&] {
      if (*exchange_.request.gone) throw Cancelled();
      models::Sequences read;
      read.append(std::span(ids).first(ids.size() - 1));
      nn::Context context = files_.loaded.context();
      const models::LanguageModel& model = files_.loaded.language_model();
      const Tensor logits = model.logits(context, read);  // (ids.size() - 1, V)
      const std::vector<float> log_sums = decode::log_sums_of(logits);
      const bool start_token = !prompt.empty() && files_.tokenizer->is_special(prompt[0]);
      if (echo && !start_token) add(ids[0], nullptr, nullptr);  // it has no predecessor
      for (size_t n = echo ? 1 : prompt.size(); n < ids.size(); ++n) {
        if (n >= prompt.size() && offset >= limit && !files_.tokenizer->is_special(ids[n])) break;
        const float* row = logits.data<float>() + static_cast<int64_t>(n - 1) * logits.dim(1);
        add(ids[n], row[ids[n]] - log_sums[n - 1], likeliest(row, log_sums[n - 1]));
      }
    });
    return {{"tokens", tokens}, {"token_logprobs", each}, {"top_logprobs", top}, {"text_offset", offsets}};
  }

 private:
  std::string name_of(int32_t id) const {
    return files_.tokenizer->is_special(id) ? files_.tokenizer->piece(id)
                                            : replace_invalid_utf8(files_.tokenizer->bytes(id));
  }
  ordered_json likeliest(const float* row, float log_sum) const {
    if (alternatives_ == 0) return nullptr;
    std::vector<int32_t> ids(static_cast<size_t>(files_.tokenizer->size()));
    for (size_t n = 0; n < ids.size(); ++n) ids[n] = static_cast<int32_t>(n);
    const size_t count = std::min(alternatives_, ids.size());
    std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count), ids.end(),
                      [&](int32_t a, int32_t b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
    ordered_json json = ordered_json::object();
    for (size_t n = 0; n < count; ++n) json[name_of(ids[n])] = row[ids[n]] - log_sum;
    return json;
  }

  const Exchange& exchange_;
  const decode::LanguageModelFiles& files_;
  size_t alternatives_;
};

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
    }
    if (const auto* options = fields.find("stream_options"); options != nullptr && options->is_object()) {
      usage_ = options->contains("include_usage") && options->at("include_usage") == true;
    }
  }

  bool streams() const { return stream_; }
  bool begun() const { return begun_; }

  /// Streams the text of the first choice.
  void show(std::string_view prompt, std::string_view text) {
    std::string all;
    if (echo_ && !shown_) all = prompt;
    shown_ = true;
    all += text;
    send_event(envelope({choice(0, all, nullptr, nullptr)}));
  }

  void add(const decode::Generation& generation) {
    prompt_tokens_ += generation.prompt_ids.size();
    for (const decode::GeneratedText& text : generation.texts) {
      completion_tokens_ += text.ids.size();
      ordered_json logprobs = nullptr;
      if (probabilities_)
        logprobs = probabilities_->of(generation.prompt_ids, generation.prompt, text, echo_);
      const bool stopped =
          text.ending == decode::TextEnding::kEnd || text.ending == decode::TextEnding::kStop;
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
      ordered_json json = envelope(std::move(choices_));
      json["usage"] = usage;
      return send_json(exchange_, json);
    }
    if (usage_) {
      ordered_json json = envelope(ordered_json::array());
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
  ordered_json envelope(ordered_json choices) const {
    return {{"id", "cmpl-" + exchange_.request.id},
            {"object", "text_completion"},
            {"created", created_},
            {"model", model_.name},
            {"choices", std::move(choices)}};
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
  ordered_json choices_ = ordered_json::array();
  size_t index_ = 0, prompt_tokens_ = 0, completion_tokens_ = 0;
};

}  // namespace

void route_v1_models(const Exchange& exchange) {
  ordered_json list = ordered_json::array();
  for (const auto& model : exchange.service.models->all()) {
    ordered_json json{{"id", model->name},
                      {"object", "model"},
                      {"created", model->loaded_at},
                      {"owned_by", "heed"},
                      {"task", task_name(model->task)},
                      {"precisions", {model->precision()}}};
    if (!model->source.empty())
      json.update({{"pair", model->pair()}, {"source", model->source}, {"target", model->target}});
    list.push_back(std::move(json));
  }
  send_json(exchange, {{"object", "list"}, {"data", list}});
}

void route_v1_completions(const Exchange& exchange) {
  const Fields& fields = exchange.fields;
  if (const auto* prompt = fields.find("prompt");
      prompt != nullptr && prompt->is_array() && !prompt->empty() && !prompt->front().is_string()) {
    refuse(400, "'prompt' must be a text or a list of texts; lists of token ids are not supported");
  }
  const Fields::Texts prompts = required_texts(exchange, "prompt");
  require_supported(fields);
  const ServedModel& model = model_for(exchange, models::Task::kLanguageModel);
  const decode::GenerationChoices choices = generation_choices(exchange);
  decode::TextGeneratorOptions options = decode::generator_options(choices, model.loaded());
  if (!choices.max_tokens && options.search.max_new > exchange.service.limits.tokens) {
    options.search.max_new = exchange.service.limits.tokens;
  }
  options.executor = exchange.service.engine.get();
  ThreadPool here(1);
  const decode::TextGenerator generator(model.loaded().language_model(), model.loaded().context(),
                                        *model.language_model->tokenizer, here, options);
  decode::TextGenerator::Control control{.cancelled = exchange.request.gone.get()};
  Completions completions(exchange, model);
  try {
    if (completions.streams() && prompts.texts.size() == 1 && choices.samples == 1) {
      control.show = [&](std::string_view text) { completions.show(prompts.texts[0], text); };
      const decode::Generation made = generator.generate(prompts.texts[0], 0, control);
      if (*exchange.request.gone) throw Cancelled();
      completions.add(made);
    } else {
      size_t taken = 0;
      const auto next = [&](std::string& prompt) {
        if (taken == prompts.texts.size()) return false;
        prompt = prompts.texts[taken++];
        return true;
      };
      const auto take = [&](const decode::Generation& made) { completions.add(made); };
      if (!generator.generate(next, take, control)) throw Cancelled();
    }
  } catch (const std::exception& error) {
    if (!completions.begun()) throw;
    return completions.fail(error.what());  // the status line is already sent
  }
  completions.end();
}

void route_v1_embeddings(const Exchange& exchange) {
  static_cast<void>(exchange);
  refuse(404, "this server has no embedding model: models of sentence embeddings cannot be served yet");
}

}  // namespace heed::serve
