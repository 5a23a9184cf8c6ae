// Heed's own routes that show how a model works: attention, as numbers or as a picture, and the search tree.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/stop.h"
#include "base/thread_pool.h"
#include "inspect/draw/attention_picture.h"
#include "inspect/draw/picture_file.h"
#include "inspect/json/trace_json.h"
#include "inspect/json/trace_pack.h"
#include "inspect/running/model_ids.h"
#include "inspect/terminal/words.h"
#include "inspect/trace/encoder_trace.h"
#include "inspect/trace/text_tokens.h"
#include "inspect/trace/text_trace.h"
#include "inspect/trace/translation_trace.h"
#include "inspect/trace/weight_count.h"
#include "models/head_names.h"
#include "serve/service.h"
#include "text/unicode/whitespace.h"
#include "translate/translate_options.h"
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
  return encoder_tokens(model.loaded(), model.encoder->tokenizer, text).encoding.size();
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

/// The tokens that a model without a target reads of a text, at most as many as it may have: what is wrong
/// with a longer one is its length.
TraceLengths lengths_of(const ServedModel& model, const std::string& text) {
  auto tokens = static_cast<int64_t>(count_tokens(model, nullptr, text));
  const int64_t most = max_tokens(*model.loaded().model);
  if (most > 0) tokens = std::min(tokens, most);
  return model.encoder ? TraceLengths{.encoder = tokens} : TraceLengths{.decoder = tokens};
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

namespace {

/// What a request for attention asks for.
struct AttendFields {
  std::string text, target;  ///< no target: the model's own translation
  TranslateOptions search = {};
  nn::HeadScales heads = {};
  std::optional<PictureChoice> picture = {};
  bool words = false, details = false, packed = false;
};

/// Throws 400 for fields that exclude each other, whatever the model.
AttendFields attend_fields(const Exchange& exchange) {
  const Fields& fields = exchange.fields;
  require_known(fields, {"text", "target", "words", "details", "packed", "picture"},
                {kSearch, kConstraints, kHeads});
  AttendFields given{.text = required_sentence(exchange), .target = fields.text_or("target", "")};
  require_length(exchange.service.limits, given.target, "target");
  if (!given.target.empty() && strip(given.target).empty()) refuse(400, "'target' is empty: leave it out");
  given.search = translate_options(exchange, {kSearch, kConstraints});
  for (const search::OptionRow& row : search::given_options(given.search)) {
    if (given.target.empty() || row.name == "length_penalty") continue;  // which the score depends on
    refuse(400, "'{}' is for the model's own translation: leave out 'target'", row.name);
  }
  given.picture = picture_of(fields);
  given.heads = head_scales_of(fields);
  given.words = fields.flag("words");
  given.details = fields.flag("details");
  given.packed = fields.flag("packed");
  if (given.words && given.details) refuse(400, "'details' are those of tokens: leave out 'words'");
  if (given.picture && (given.details || given.packed)) {
    refuse(400, "'details' and 'packed' are for numbers: leave out 'picture'");
  }
  return given;
}

/// Throws 400 for fields of translations, for another model.
void require_no_translation(const AttendFields& given, const ServedModel& model) {
  const std::vector<search::OptionRow> rows = search::given_options(given.search);
  if (given.target.empty() && rows.empty()) return;
  refuse(400, "'{}' is for models that translate, and '{}' is not one: leave it out",
         rows.empty() ? "target" : rows.front().name, model.name);
}

/// The trace of a translation, with what the answer says besides.
Trace trace_of_translation(const Exchange& exchange, const ChosenTranslation& chosen,
                           const AttendFields& given, TraceNotes& notes) {
  const TranslationTokenizer& tokenizer = chosen.tokenizer;
  translate::TranslatorOptions options = chosen.options;
  translate::apply(given.search, options);
  if (given.details && !given.target.empty()) {
    require_few_tokens(exchange, "target", tokenizer.encode_target(given.target).ids.size());
  }
  ScoredTrace scored =
      trace_text_with_score(chosen.model.loaded(), tokenizer,
                            {given.text, given.target, options.search, given.details, options.constraints,
                             given.heads, exchange.service.limits.attention_weights});
  notes.word_confidence = confidence_of(scored.trace, tokenizer.vocabulary());
  notes.numbers = {{"log_probability", scored.log_probability}, {"score", scored.score}};
  notes.warnings = translate::value_warnings({given.text, scored.trace.target}, tokenizer.source_language(),
                                             tokenizer.target_language());
  return std::move(scored.trace);
}

/// The trace of a text that is not translated.
Trace trace_of_text(const Exchange& exchange, const ServedModel& model, const AttendFields& given) {
  const std::string& text = given.text;
  require_few_weights(*model.loaded().model, lengths_of(model, text),
                      exchange.service.limits.attention_weights);
  if (model.task == models::Task::kClassification) {
    return trace_classification(model.loaded(), model.encoder->tokenizer, tasks::classifier_text(text),
                                given.details, given.heads);
  }
  if (model.encoder) {
    return trace_encoder_text(model.loaded(), model.encoder->tokenizer, text, given.details, given.heads);
  }
  return trace_language_model(model.loaded(), model.language_model->tokenizer, text, given.details,
                              given.heads);
}

}  // namespace

void route_v1_attend(const Exchange& exchange) {
  const AttendFields given = attend_fields(exchange);
  const ServedModel& model = model_for(exchange, task_to_look_into(exchange));
  if (model.task != models::Task::kTranslation) require_no_translation(given, model);
  std::optional<ChosenTranslation> chosen;
  if (model.translation) chosen.emplace(translation_for(exchange));
  const std::optional<PictureChoice>& picture = given.picture;
  std::string answer;
  compute(exchange, [&] {
    if (given.details) {
      require_few_tokens(exchange, "text",
                         count_tokens(model, chosen ? &chosen->tokenizer : nullptr, given.text));
    }
    TraceNotes notes;
    Trace trace = chosen ? trace_of_translation(exchange, *chosen, given, notes)
                         : trace_of_text(exchange, model, given);
    if (given.words) trace = group_by_words(trace);
    if (picture) {
      const Trace selected = select(trace, parse_selection(picture->stack, picture->layer, picture->head));
      answer = render_picture(attention_picture(selected), picture->format);
    } else {
      answer = given.packed ? pack_trace(trace, notes) : trace_to_json(trace, notes);
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
                        {"text", nullptr},
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
  /// With the text of each candidate: of all tokens that lead to it, as the tokenizer decodes them.
  ordered_json take_steps() {
    std::vector<std::vector<int32_t>> ids_of_nodes;  // which are numbered from 0
    for (ordered_json& step : steps_) {
      for (ordered_json& candidate : step["candidates"]) {
        std::vector<int32_t> ids;
        if (!candidate["parent"].is_null()) ids = ids_of_nodes.at(candidate["parent"].get<size_t>());
        ids.push_back(candidate["id"].get<int32_t>());
        candidate["text"] = tokenizer_->decode(ids);
        if (candidate["node"].is_null()) continue;
        const auto node = candidate["node"].get<size_t>();
        if (node >= ids_of_nodes.size()) ids_of_nodes.resize(node + 1);
        ids_of_nodes[node] = std::move(ids);
      }
    }
    return std::move(steps_);
  }

 private:
  const TranslationTokenizer* tokenizer_;
  ordered_json steps_ = ordered_json::array();
  std::vector<search::SearchCandidate> ends_;
};

}  // namespace

void route_v1_search(const Exchange& exchange) {
  require_known(exchange.fields, {"text"}, {kSearch, kConstraints, kHeads});
  const std::string text = required_sentence(exchange);
  const nn::HeadScales heads = head_scales_of(exchange.fields);
  const ChosenTranslation chosen = translation_for(exchange);
  const ServedModel& model = chosen.model;
  models::require_heads(model.loaded().seq2seq(), heads);
  const TranslationTokenizer& tokenizer = chosen.tokenizer;
  translate::TranslatorOptions options = chosen.options;
  translate::apply(translate_options(exchange, {kSearch, kConstraints}), options);
  options.search.sample = false;
  options.search.nbest = options.search.beam_size;
  tokenizer.require_language_code(text);
  const Encoding source = tokenizer.encode_source(text);
  const search::ConstrainedSentence constrained(tokenizer, source.ids, options.search, options.constraints);
  nn::Context context = model.loaded().context();
  if (!heads.empty()) context.head_scales = &heads;
  const search::Search search(model.loaded().seq2seq(), context, constrained.options());
  std::vector<search::Hypothesis> found;
  const auto take = [&](uint64_t, std::vector<search::Hypothesis> hypotheses) {
    found = std::move(hypotheses);
  };
  const auto run = [&](search::SearchSentence sentence) {
    SearchTree tree(tokenizer);
    sentence.observer = &tree;
    if (heads.empty()) {
      exchange.service.engine->run(search, {std::move(sentence)}, take, {.stop = exchange.stop()});
    } else {  // of a whole batch: the sentence is searched alone
      compute(exchange, [&] {
        ThreadPool here(1);
        search_all(search, {std::move(sentence)}, here, take, {.stop = exchange.stop()});
      });
    }
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
