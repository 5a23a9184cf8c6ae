#include "text/readers/tokenizer_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "base/check.h"

namespace heed {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxAddedBytes = 4096;  // every position of a text is compared with them
constexpr size_t kMaxAddedTokens = 100'000;

TokenizerStep step_of(const std::string& part, const JsonObject& object) {
  return {part, object.string("type"), object};
}

/// The key of the list in a part's "Sequence".
const char* list_of(const std::string& part) {
  if (part == "normalizer") return "normalizers";
  if (part == "pre_tokenizer") return "pretokenizers";
  return part == "decoder" ? "decoders" : "processors";
}

void add_steps(const std::string& part, const JsonObject& object, std::vector<TokenizerStep>& steps) {
  TokenizerStep step = step_of(part, object);
  if (step.type != "Sequence") {
    steps.push_back(std::move(step));
    return;
  }
  for (const JsonObject& inner : object.objects(list_of(part))) add_steps(part, inner, steps);
}

std::vector<TokenizerStep> steps_of(const JsonObject& file, const std::string& part) {
  std::vector<TokenizerStep> steps;
  if (file.has(part)) add_steps(part, file.object(part), steps);
  return steps;
}

}  // namespace

AddedToken read_added_token(const JsonObject& object) {
  AddedToken token;
  token.content = object.string("content");
  token.special = object.boolean("special", false);
  token.strip_left = object.boolean("lstrip", false);
  token.strip_right = object.boolean("rstrip", false);
  token.single_word = object.boolean("single_word", false);
  token.normalized = object.boolean("normalized", !token.special);
  if (token.content.empty() || token.content.size() > kMaxAddedBytes) {
    object.reject("content", fmt::format("a string of 1 to {} bytes", kMaxAddedBytes));
  }
  return token;
}

namespace {

std::vector<AddedToken> added_tokens_of(const JsonObject& file) {
  std::vector<AddedToken> tokens;
  if (!file.has("added_tokens")) return tokens;
  std::unordered_set<std::string> known;
  for (const JsonObject& object : file.objects("added_tokens")) {
    AddedToken token = read_added_token(object);
    token.id = static_cast<int32_t>(object.integer("id", {.minimum = 0, .maximum = INT32_MAX}));
    if (!known.insert(token.content).second) object.reject("content", "a unique token");
    tokens.push_back(std::move(token));
  }
  return tokens;
}

/// The pieces of a model and their ids, and the scores of a Unigram model.
struct ModelEntries {
  std::vector<std::pair<std::string, uint64_t>> pieces;
  std::vector<double> scores;
};

/// {"piece": id, ...}, or [["piece", score], ...] for a Unigram model.
ModelEntries entries_of(const JsonObject& model) {
  ModelEntries entries;
  const Json* vocabulary = model.has("vocab") ? &model.json().at("vocab") : nullptr;
  if (vocabulary == nullptr || !vocabulary->is_structured())
    model.reject("vocab", "the pieces and their ids");
  for (const auto& [key, value] : vocabulary->items()) {
    if (vocabulary->is_object()) {
      if (!value.is_number_unsigned()) {
        fail(ErrorKind::kFormat, "{}: the id of the piece '{}' is not a non-negative integer", model.origin(),
             shown(key));
      }
      entries.pieces.emplace_back(key, value.get<uint64_t>());
    } else {
      if (!value.is_array() || value.size() != 2 || !value[0].is_string() || !value[1].is_number()) {
        fail(ErrorKind::kFormat, "{}: entry {} of 'model.vocab' is not a piece and its score", model.origin(),
             key);
      }
      entries.pieces.emplace_back(value[0].get<std::string>(), entries.pieces.size());
      entries.scores.push_back(value[1].get<double>());
    }
  }
  return entries;
}

/// All pieces by id, and those of the model alone.
struct Pieces {
  std::vector<std::string> all, of_model;
};

Pieces pieces_of(const JsonObject& model, std::vector<std::pair<std::string, uint64_t>> entries,
                 const std::vector<AddedToken>& added) {
  const size_t model_size = entries.size();
  std::unordered_map<std::string, uint64_t> ids(entries.begin(), entries.end());
  for (const AddedToken& token : added) {
    const auto [found, is_new] = ids.emplace(token.content, token.id);
    if (is_new) entries.emplace_back(token.content, token.id);
    if (found->second != static_cast<uint64_t>(token.id)) {
      fail(ErrorKind::kFormat, "{}: '{}' has the id {} among the added tokens and {} in the vocabulary",
           model.origin(), shown(token.content), token.id, found->second);
    }
  }
  Pieces pieces{std::vector<std::string>(entries.size()), std::vector<std::string>(entries.size())};
  std::vector<bool> taken(entries.size());
  for (size_t n = 0; n < entries.size(); ++n) {
    auto& [piece, id] = entries[n];
    if (id >= entries.size() || taken[id]) {
      fail(ErrorKind::kFormat, "{}: '{}' has the id {}, {}", model.origin(), shown(piece), id,
           id < entries.size()
               ? fmt::format("as '{}' has", shown(pieces.all[id]))
               : fmt::format("but there are only {} tokens: ids must be 0 to n - 1 without gaps",
                             entries.size()));
    }
    taken[id] = true;
    if (n < model_size) pieces.of_model[id] = piece;
    pieces.all[id] = std::move(piece);
  }
  return pieces;
}

/// ["a b", ...] in older files, or [["a", "b"], ...].
std::vector<std::pair<std::string, std::string>> merges_of(const JsonObject& model) {
  std::vector<std::pair<std::string, std::string>> merges;
  if (!model.has("merges")) return merges;
  const Json& list = model.json().at("merges");
  if (!list.is_array()) model.reject("merges", "a list of pairs of pieces");
  for (const Json& merge : list) {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      merges.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
      continue;
    }
    const std::string text = merge.is_string() ? merge.get<std::string>() : "";
    const size_t space = text.find(' ');
    if (space == std::string::npos || space == 0 || space + 1 == text.size() ||
        text.find(' ', space + 1) != std::string::npos) {
      fail(ErrorKind::kFormat, "{}: merge {} is not two pieces", model.origin(), merges.size() + 1);
    }
    merges.emplace_back(text.substr(0, space), text.substr(space + 1));
  }
  return merges;
}

/// transformers takes the side from here unless tokenizer_config.json has it.
bool truncates_left(const JsonObject& file) {
  if (!file.has("truncation")) return false;
  return file.object("truncation").string("direction", "Right") == "Left";
}

}  // namespace

TokenizerJson read_tokenizer_json(const std::string& path) {
  const JsonObject file = JsonObject::read(path, {.list = "added_tokens", .list_elements = kMaxAddedTokens});
  const JsonObject model = file.object("model");
  std::vector<AddedToken> added = added_tokens_of(file);
  // Early files lack the type of the model.
  const std::string type = model.string("type", model.has("merges") ? "BPE" : "");
  ModelEntries entries = entries_of(model);
  Pieces pieces = pieces_of(model, std::move(entries.pieces), added);
  return {path,
          steps_of(file, "normalizer"),
          steps_of(file, "pre_tokenizer"),
          steps_of(file, "post_processor"),
          steps_of(file, "decoder"),
          {"model", type, model},
          std::move(pieces.all),
          std::move(pieces.of_model),
          std::move(entries.scores),
          std::move(added),
          merges_of(model),
          truncates_left(file)};
}

void refuse_step(const TokenizerJson& json, const TokenizerStep& step, std::string_view why) {
  Json settings = step.settings.json();
  settings.erase("vocab");
  settings.erase("merges");
  constexpr size_t kLongest = 300;
  fail(ErrorKind::kFormat, "{}: the {} {} {}", json.path, step.part,
       shown(settings.dump(-1, ' ', false, Json::error_handler_t::replace), kLongest), why);
}

void allow_settings(const TokenizerJson& json, const TokenizerStep& step,
                    const std::vector<std::string>& known) {
  for (const std::string& key : step.settings.keys()) {
    if (key != "type" && std::find(known.begin(), known.end(), key) == known.end()) {
      refuse_step(json, step,
                  fmt::format("is not supported: Heed does not know its setting \"{}\"", shown(key)));
    }
  }
}

}  // namespace heed
