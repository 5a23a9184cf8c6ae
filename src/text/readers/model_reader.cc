// The model and the post-processors.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "text/readers/pipeline_reader.h"

namespace heed {
namespace {

using Json = nlohmann::json;

BpeOptions read_bpe(const TokenizerJson& json, const TokenizerStep& model) {
  allow_settings(json, model,
                 {"dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
                  "byte_fallback", "ignore_merges", "vocab", "merges"});
  if (model.settings.number("dropout", {}, 0) != 0) {
    refuse_step(json, model, "is not supported: \"dropout\" must be null or 0");
  }
  BpeOptions options;
  options.unknown = model.settings.string("unk_token", "");
  options.fuses_unknown = model.settings.boolean("fuse_unk", false);
  options.byte_fallback = model.settings.boolean("byte_fallback", false);
  options.whole_words = model.settings.boolean("ignore_merges", false);
  options.prefix = model.settings.string("continuing_subword_prefix", "");
  options.suffix = model.settings.string("end_of_word_suffix", "");
  return options;
}

/// ["[CLS]", 101]
TemplatePart read_token(const TokenizerJson& json, const TokenizerStep& step, const char* key) {
  const Json value = step.settings.has(key) ? step.settings.json().at(key) : Json();
  const bool sound = value.is_array() && value.size() == 2 && value[0].is_string() &&
                     value[1].is_number_unsigned() && value[1].get<uint64_t>() < json.pieces.size();
  if (!sound) refuse_step(json, step, fmt::format("is damaged: \"{}\" is not a token and its id", key));
  return {-1, 0, {value[1].get<int32_t>()}, {value[0].get<std::string>()}};
}

/// [CLS] A [SEP], and B [SEP] with the type `second`; `separators` behind A in a pair.
void add_bert_template(const TokenizerJson& json, const TokenizerStep& step, int32_t second,
                       PostProcessorStep& to) {
  const TemplatePart start = read_token(json, step, "cls"), end = read_token(json, step, "sep");
  TemplatePart last = end;
  last.type = second;
  to.single = {start, {.source = 0}, end};
  to.pair = to.single;
  if (step.type == "RobertaProcessing") to.pair.push_back(end);
  to.pair.insert(to.pair.end(), {TemplatePart{.source = 1, .type = second}, last});
}

/// A list of {"Sequence": {"id": "A", "type_id": 0}} and {"SpecialToken": {"id": "[CLS]", "type_id": 0}}.
std::vector<TemplatePart> read_template(const TokenizerJson& json, const TokenizerStep& step,
                                        const char* key) {
  std::vector<TemplatePart> parts;
  for (const JsonObject& object : step.settings.objects(key)) {
    const bool is_text = object.has("Sequence");
    const JsonObject item = object.object(is_text ? "Sequence" : "SpecialToken");
    TemplatePart part{
        .source = -1,
        .type = static_cast<int32_t>(item.integer("type_id", {.minimum = 0, .maximum = INT32_MAX}))};
    const std::string name = item.string("id");
    if (is_text) {
      if (name != "A" && name != "B") refuse_step(json, step, "is damaged: a sequence is neither A nor B");
      part.source = name == "A" ? 0 : 1;
    } else {
      const JsonObject token = step.settings.object("special_tokens").object(name);
      const auto most = static_cast<int64_t>(json.pieces.size()) - 1;
      for (const int64_t id : token.integers("ids", {.minimum = 0, .maximum = most})) {
        part.ids.push_back(static_cast<int32_t>(id));
      }
      part.tokens = token.strings("tokens");
      if (part.tokens.size() != part.ids.size()) {
        refuse_step(json, step, "is damaged: a special token has not as many ids as tokens");
      }
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

void check_sources(const TokenizerJson& json, const TokenizerStep& step, const PostProcessorStep& read) {
  const auto has = [](const std::vector<TemplatePart>& parts, int source) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const TemplatePart& part) { return part.source == source; });
  };
  if (!has(read.single, 0) || has(read.single, 1)) {
    refuse_step(json, step, "does not contain the text: \"single\" needs the sequence A alone");
  }
  if (!has(read.pair, 0) || !has(read.pair, 1)) {
    refuse_step(json, step, "does not contain both texts: \"pair\" needs the sequences A and B");
  }
}

}  // namespace

PostProcessorStep read_post_processor(const TokenizerJson& json, const TokenizerStep& step) {
  PostProcessorStep result;
  const bool roberta = step.type == "RobertaProcessing";
  if (step.type == "TemplateProcessing") {
    allow_settings(json, step, {"single", "pair", "special_tokens"});
    result.single = read_template(json, step, "single");
    result.pair = read_template(json, step, "pair");
    check_sources(json, step, result);
  } else if (step.type == "BertProcessing") {
    allow_settings(json, step, {"sep", "cls"});
    add_bert_template(json, step, 1, result);
  } else if (step.type == "ByteLevel" || roberta) {
    allow_settings(json, step,
                   roberta ? std::vector<std::string>{"sep", "cls", "trim_offsets", "add_prefix_space"}
                           : std::vector<std::string>{"add_prefix_space", "trim_offsets", "use_regex"});
    result.trims_spans = step.settings.boolean("trim_offsets");
    result.keeps_first_space = step.settings.boolean("add_prefix_space");
    if (roberta) add_bert_template(json, step, 0, result);
  } else {
    refuse_step(
        json, step,
        "is not supported: post_processors are TemplateProcessing, BertProcessing, RobertaProcessing, "
        "ByteLevel and Sequence");
  }
  return result;
}

std::unique_ptr<const TokenModel> read_model(const TokenizerJson& json,
                                             const std::vector<std::string>& pieces) {
  const TokenizerStep& model = json.model;
  if (model.type == "BPE") return bpe_model(json.path, pieces, json.merges, read_bpe(json, model));
  if (model.type == "Unigram") {
    allow_settings(json, model, {"unk_id", "vocab", "byte_fallback"});
    UnigramOptions options{.unknown = std::nullopt,
                           .byte_fallback = model.settings.boolean("byte_fallback", false)};
    if (json.scores.empty()) refuse_step(json, model, "is damaged: its pieces have no scores");
    const auto most = static_cast<int64_t>(json.scores.size()) - 1;
    if (model.settings.has("unk_id")) {
      options.unknown =
          static_cast<int32_t>(model.settings.integer("unk_id", {.minimum = 0, .maximum = most}));
    }
    std::vector<std::pair<std::string, double>> scored;
    for (size_t n = 0; n < json.scores.size(); ++n) scored.emplace_back(pieces[n], json.scores[n]);
    return unigram_model(json.path, scored, options);
  }
  if (model.type == "WordPiece") {
    allow_settings(json, model,
                   {"unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"});
    const int64_t longest = model.settings.integer("max_input_chars_per_word", {.minimum = 0});
    return word_piece_model(json.path, pieces, model.settings.string("unk_token"),
                            model.settings.string("continuing_subword_prefix"), static_cast<size_t>(longest));
  }
  if (model.type == "WordLevel") {
    allow_settings(json, model, {"unk_token", "vocab"});
    return word_level_model(json.path, pieces, model.settings.string("unk_token", ""));
  }
  refuse_step(json, model, "is not supported: models are BPE, Unigram, WordPiece and WordLevel");
}

}  // namespace heed
