// Heed's own routes that show how a model works: attention, as numbers or as a picture, and the search tree.
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/stop.h"
#include "inspect/draw/attention_picture.h"
#include "inspect/draw/picture_file.h"
#include "inspect/terminal/words.h"
#include "inspect/trace/encoder_trace.h"
#include "inspect/trace/text_trace.h"
#include "inspect/trace/trace_json.h"
#include "inspect/trace/trace_pack.h"
#include "inspect/trace/translation_trace.h"
#include "models/head_names.h"
#include "serve/service.h"
#include "text/unicode/whitespace.h"
#include "translate/values/repair_trials.h"
#include "translate/words/confidence.h"
#include "translate/words/word_alignment.h"

namespace heed::serve {
namespace {

using nlohmann::ordered_json;
using enum search::OptionGroup;

}  // namespace

std::string required_sentence(const Exchange& exchange, const std::string& name) {
  std::string text = exchange.fields.text_or(name, "");
  if (strip(text).empty()) refuse(400, "'{}' is missing or empty: there is nothing to look at", name);
  require_length(exchange.service.limits, text, name);
  return text;
}

models::Task task_to_look_into(const Exchange& exchange) {
  const ServedModels& models = *exchange.service.models;
  const std::string name = exchange.fields.text_or("model", "");
  const ServedModel* model = name.empty() ? models.first(models::Task::kTranslation) : models.named(name);
  if (model == nullptr && name.empty() && exchange.fields.text_or("pair", "").empty()) {
    model = models.all().front().get();
  }
  return model == nullptr ? models::Task::kTranslation : model->task;
}

namespace {

/// The picture that `heed attend --output` draws.
struct PictureChoice {
  PictureFormat format = PictureFormat::kPdf;
  std::string stack, layer, head;
};

/// `picture`: {"format": "pdf", "stack": "cross", "layer": 3, "head": "mean"}; stack, layer and head may be
/// left out or "all".
std::optional<PictureChoice> picture_of(const Fields& fields) {
  const nlohmann::json* given = fields.find("picture");
  if (given == nullptr) return {};
  if (!given->is_object()) refuse(400, "'picture' must be an object: {{\"format\": \"pdf\"}}");
  PictureChoice choice;
  const auto text = [&](const char* name) -> std::string {
    if (!given->contains(name)) return "all";
    const nlohmann::json& value = given->at(name);
    if (value.is_number_integer()) return value.dump();
    if (!value.is_string()) refuse(400, "'picture': '{}' must be a name or a number", name);
    return value.get<std::string>();
  };
  for (const auto& [name, value] : given->items()) {
    if (name != "format" && name != "stack" && name != "layer" && name != "head") {
      refuse(400, "'picture': unknown field '{}'; the fields are format, stack, layer and head", shown(name));
    }
  }
  const std::string format = given->contains("format") ? text("format") : "pdf";
  if (format != "pdf" && format != "svg" && format != "png") {
    refuse(400, "'picture': 'format' must be pdf, svg or png, not '{}'", shown(format));
  }
  choice.format = picture_format("attention." + format);
  choice.stack = text("stack");
  choice.layer = text("layer");
  choice.head = text("head");
  return choice;
}

const char* content_type_of(PictureFormat format) {
  return format == PictureFormat::kPdf   ? "application/pdf"
         : format == PictureFormat::kSvg ? "image/svg+xml"
                                         : "image/png";
}

/// The tokens that a model reads of a text; `translator`: the tokenizer of a translation model.
size_t count_tokens(const ServedModel& model, const TranslationTokenizer* translator,
                    const std::string& text) {
  if (translator != nullptr) return translator->encode_source(text).ids.size();
  if (model.language_model) return model.language_model->tokenizer.prompt_ids(text).size();
  return model.encoder->tokenizer.encode(text).ids.size();
}

/// Throws 400 for a text of more tokens than /v1/attend describes with details; the explorer, which always
/// asks for them, tells the numbers in its own words.
void require_few_tokens(const Exchange& exchange, const std::string& field, size_t tokens) {
  const size_t most = exchange.service.limits.detail_tokens;
  if (tokens <= most) return;
  throw RequestError(
      400,
      fmt::format("'{}' has {} tokens, and with 'details' this server takes {}, since their size grows with "
                  "the square of that: shorten the text, or leave out 'details'",
                  field, tokens, most),
      {{"X-Tokens", std::to_string(tokens)}, {"X-Max-Tokens", std::to_string(most)}});
}

/// The confidence of each word of a translation.
std::vector<double> confidence_of(const Trace& trace, const Vocabulary& vocabulary) {
  std::vector<int32_t> ids;
  for (const std::string& piece : trace.target_tokens) ids.push_back(vocabulary.id(piece));
  return translate::word_confidences(
      translate::words_of_pieces(trace.target_tokens, translate::special_ids(vocabulary, ids)),
      trace.log_probabilities, translate::word_ends(trace.target).size());
}

}  // namespace

nn::HeadScales head_scales_of(const Fields& fields) {
  const nlohmann::json* list = fields.find("ablate");
  if (list == nullptr) return {};
  constexpr const char* kForm =
      "'ablate' must be a list of {{\"stack\": \"cross\", \"layer\": 3, \"head\": 5}}";
  if (!list->is_array() || list->size() > 10000) refuse(400, kForm);
  std::vector<nn::HeadScale> scales;
  for (const nlohmann::json& each : *list) {
    const auto number = [&](const char* name) -> std::string {
      if (!each.contains(name)) return "all";
      if (!each[name].is_number_integer()) refuse(400, "'ablate': '{}' must be an integer", name);
      return each[name].dump();
    };
    if (!each.is_object() || !each.contains("stack") || !each["stack"].is_string()) refuse(400, kForm);
    for (const auto& [name, value] : each.items()) {
      if (name != "stack" && name != "layer" && name != "head" && name != "scale") {
        refuse(400, "'ablate': unknown field '{}'; the fields are stack, layer, head and scale", shown(name));
      }
    }
    if (each.contains("scale") && !each["scale"].is_number())
      refuse(400, "'ablate': 'scale' must be a number");
    const float scale = each.value("scale", 0.0F);
    if (!(std::abs(scale) <= 100)) refuse(400, "'ablate': 'scale' must be from -100 to 100");
    scales.push_back(models::parse_head(
        each["stack"].get<std::string>() + ":" + number("layer") + ":" + number("head"), scale));
  }
  return nn::HeadScales(std::move(scales));
}

void route_v1_attend(const Exchange& exchange) {
  const Fields& fields = exchange.fields;
  require_known(fields, {"text", "target", "words", "details", "packed", "picture"},
                {kSearch, kConstraints, kHeads});
  const std::string text = required_sentence(exchange);
  const std::string target = fields.text_or("target", "");
  require_length(exchange.service.limits, target, "target");
  if (!target.empty() && strip(target).empty()) refuse(400, "'target' is empty: leave it out");
  const TranslateOptions given = translate_options(exchange, {kSearch, kConstraints});
  const bool constrained = !given.prefix.empty() || !given.require.empty() || !given.forbid.empty();
  if (!target.empty() && constrained) {
    refuse(400, "'prefix', 'require' and 'forbid' are for the model's own translation: leave out 'target'");
  }
  const std::optional<PictureChoice> picture = picture_of(fields);
  const nn::HeadScales heads = head_scales_of(fields);
  const bool words = fields.flag("words"), details = fields.flag("details"), packed = fields.flag("packed");
  if (words && details) refuse(400, "'details' are those of tokens: leave out 'words'");
  const ServedModel& model = model_for(exchange, task_to_look_into(exchange));
  if (model.task != models::Task::kTranslation && (constrained || !target.empty())) {
    refuse(400,
           "'target', 'prefix', 'require' and 'forbid' are for models that translate, and '{}' is not one",
           model.name);
  }
  std::optional<ChosenTranslation> chosen;
  if (model.translation) chosen.emplace(translation_for(exchange));
  translate::TranslatorOptions options = chosen ? chosen->options : translate::TranslatorOptions{};
  translate::apply(given, options);
  std::string answer;
  compute(exchange, [&] {
    if (details) {
      require_few_tokens(exchange, "text", count_tokens(model, chosen ? &chosen->tokenizer : nullptr, text));
      if (!target.empty())
        require_few_tokens(exchange, "target", chosen->tokenizer.encode_target(target).ids.size());
    }
    TraceNotes notes;
    Trace trace;
    if (chosen) {
      ScoredTrace scored =
          trace_text_with_score(model.loaded(), chosen->tokenizer,
                                {text, target, options.search, details, options.constraints, heads});
      trace = std::move(scored.trace);
      notes.word_confidence = confidence_of(trace, chosen->tokenizer.vocabulary());
      notes.numbers = {{"log_probability", scored.log_probability}, {"score", scored.score}};
      notes.warnings = translate::value_warnings({text, trace.target}, chosen->tokenizer.source_language(),
                                                 chosen->tokenizer.target_language());
    } else if (model.task == models::Task::kClassification) {
      trace = trace_classification(model.loaded(), model.encoder->tokenizer, tasks::classifier_text(text),
                                   details, heads);
    } else if (model.encoder) {
      trace = trace_masked_text(model.loaded(), model.encoder->tokenizer, text, details, heads);
    } else {
      trace = trace_language_model(model.loaded(), model.language_model->tokenizer, text, details, heads);
    }
    if (words) trace = group_by_words(trace);
    if (picture) {
      const Trace selected = select(trace, parse_selection(picture->stack, picture->layer, picture->head));
      answer = render_picture(attention_picture(selected), picture->format);
    } else {
      answer = packed ? pack_trace(trace, notes) : trace_to_json(trace, notes);
    }
  });
  send_text(exchange, std::move(answer), picture ? content_type_of(picture->format) : "application/json");
}

namespace {

/// Records the search tree, step by step.
class SearchTree : public search::SearchObserver {
 public:
  explicit SearchTree(const TranslationTokenizer& tokenizer) : tokenizer_(&tokenizer) {}

  void on_step(const std::vector<search::SearchCandidate>& candidates) override {
    ordered_json list = ordered_json::array();
    for (const search::SearchCandidate& candidate : candidates) {
      ordered_json json{{"parent", nullptr},
                        {"node", nullptr},
                        {"token", tokenizer_->vocabulary().piece(candidate.id)},
                        {"id", candidate.id},
                        {"log_probability", candidate.log_probability},
                        {"sum", candidate.sum},
                        {"kept", candidate.node >= 0},
                        {"finished", candidate.finished}};
      if (candidate.parent >= 0) json["parent"] = candidate.parent;
      if (candidate.node >= 0) json["node"] = candidate.node;
      if (candidate.finished) json["score"] = candidate.score;
      list.push_back(std::move(json));
      if (candidate.finished && candidate.node >= 0) ends_.push_back(candidate);
    }
    steps_.push_back({{"step", steps_.size() + 1}, {"candidates", std::move(list)}});
  }

  /// The node in which a hypothesis ends, found by its sum.
  ordered_json node_of(const search::Hypothesis& hypothesis) const {
    for (const search::SearchCandidate& end : ends_) {
      if (end.score == hypothesis.score && end.id == hypothesis.ids.back()) return end.node;
    }
    return nullptr;
  }
  ordered_json take_steps() { return std::move(steps_); }

 private:
  const TranslationTokenizer* tokenizer_;
  ordered_json steps_ = ordered_json::array();
  std::vector<search::SearchCandidate> ends_;
};

}  // namespace

void route_v1_search(const Exchange& exchange) {
  require_known(exchange.fields, {"text"}, {kSearch, kConstraints});
  const std::string text = required_sentence(exchange);
  const ChosenTranslation chosen = translation_for(exchange);
  const ServedModel& model = chosen.model;
  const TranslationTokenizer& tokenizer = chosen.tokenizer;
  translate::TranslatorOptions options = chosen.options;
  translate::apply(translate_options(exchange, {kSearch, kConstraints}), options);
  options.search.sample = false;
  options.search.nbest = options.search.beam_size;
  tokenizer.require_language_code(text);
  const Encoding source = tokenizer.encode_source(text);
  const search::ConstrainedSentence constrained(tokenizer, source.ids, options.search, options.constraints);
  const search::Search search(model.loaded().seq2seq(), model.loaded().context(), constrained.options());
  std::vector<search::Hypothesis> found;
  const auto take = [&](uint64_t, std::vector<search::Hypothesis> hypotheses) {
    found = std::move(hypotheses);
  };
  const auto run = [&](search::SearchSentence sentence) {
    SearchTree tree(tokenizer);
    sentence.observer = &tree;
    exchange.service.engine->run(search, {std::move(sentence)}, take, {.stop = exchange.stop()});
    return tree;
  };
  SearchTree tree = run(constrained.sentence());
  if (!found.empty() && !constrained.is_satisfied_by(tokenizer.decode(found[0].ids))) {
    tree = run(constrained.requiring());
  }
  ordered_json finished = ordered_json::array();
  for (const search::Hypothesis& hypothesis : found) {
    std::vector<std::string> pieces;
    for (const int32_t id : hypothesis.ids) pieces.push_back(tokenizer.vocabulary().piece(id));
    finished.push_back({{"node", tree.node_of(hypothesis)},
                        {"translation", tokenizer.decode(hypothesis.ids)},
                        {"tokens", pieces},
                        {"log_probability", hypothesis.log_probability},
                        {"score", hypothesis.score}});
  }
  send_json(exchange, {{"model", model.name},
                       {"source", text},
                       {"source_tokens", source.pieces},
                       {"beam", options.search.beam_size},
                       {"length_penalty", options.search.length_penalty},
                       {"steps", tree.take_steps()},
                       {"finished", finished}});
}

}  // namespace heed::serve
