#include "text/tokenizers/config/added_tokens.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "text/readers/tokenizer_json.h"
#include "text/tokenizers/config/tokenizer_config_keys.h"

namespace heed {
namespace {

using TokensById = std::map<int32_t, AddedToken>;

std::vector<AddedToken> in_order(const TokensById& tokens) {
  std::vector<AddedToken> result;
  for (const auto& [id, token] : tokens) result.push_back(token);
  return result;
}

/// The key of an entry in added_tokens_decoder.
int32_t id_of_key(const JsonObject& config, const std::string& key) {
  constexpr size_t kMaxDigits = 9;
  if (key.empty() || key.size() > kMaxDigits || key.find_first_not_of("0123456789") != std::string::npos) {
    fail(ErrorKind::kFormat, "{}: '{}' in 'added_tokens_decoder' is not an id", config.origin(), shown(key));
  }
  return std::stoi(key);
}

/// The ids of added_tokens.json by token.
std::map<std::string, int32_t> read_added_ids(const ModelInventory& files) {
  std::map<std::string, int32_t> ids;
  if (!files.has(model_file::kAddedTokens)) return ids;
  const JsonObject file = JsonObject::read(files.path(model_file::kAddedTokens));
  for (const std::string& token : file.keys()) {
    ids[token] = static_cast<int32_t>(file.integer(token, {.minimum = 0, .maximum = INT32_MAX}));
  }
  return ids;
}

}  // namespace

std::vector<AddedToken> read_added_tokens(const JsonObject& config) {
  TokensById tokens;
  if (!config.has("added_tokens_decoder")) return {};
  const JsonObject object = config.object("added_tokens_decoder");
  const std::vector<std::string> named = named_special_tokens(config);
  for (const std::string& key : object.keys()) {
    AddedToken token = read_added_token(object.object(key));
    token.id = id_of_key(config, key);
    token.special |= std::ranges::count(named, token.content) > 0;
    if (!tokens.emplace(token.id, token).second) object.reject(key, "an id that occurs once");
  }
  return in_order(tokens);
}

std::vector<AddedToken> read_added_tokens(const ModelInventory& files, const JsonObject& config) {
  std::vector<AddedToken> listed = read_added_tokens(config);
  const std::vector<std::string> named = named_special_tokens(config);
  const std::string path = files.path(model_file::kAddedTokens);
  std::unordered_map<std::string_view, int32_t> listed_ids;
  for (const AddedToken& token : listed) listed_ids.emplace(token.content, token.id);
  TokensById tokens;
  for (const auto& [content, id] : read_added_ids(files)) {
    const auto found = listed_ids.find(content);
    if (config.has("added_tokens_decoder") && (found == listed_ids.end() || found->second != id)) {
      fail(ErrorKind::kFormat,
           "{}: '{}' has the id {}, which 'added_tokens_decoder' of tokenizer_config.json contradicts; make "
           "both files agree",
           path, shown(content), id);
    }
    const bool special = std::ranges::count(named, content) > 0;
    const AddedToken token{.id = id, .content = content, .special = special, .normalized = !special};
    if (content.empty() || !tokens.emplace(id, token).second) {
      fail(ErrorKind::kFormat, "{}: '{}' is empty, or has the same id {} as another token", path,
           shown(content), id);
    }
  }
  return config.has("added_tokens_decoder") ? listed : in_order(tokens);
}

void require_no_other_ids(const ModelInventory& files, const Vocabulary& vocabulary) {
  for (const auto& [token, id] : read_added_ids(files)) {
    const std::optional<int32_t> known = vocabulary.find(token);
    if (known == id) continue;
    fail(ErrorKind::kFormat,
         "{}: '{}' has the id {}, but {}; Heed supports other added tokens only with a tokenizer.json",
         files.path(model_file::kAddedTokens), shown(token), id,
         known ? fmt::format("{} in the vocabulary", *known) : "the vocabulary lacks it");
  }
}

nlohmann::ordered_json added_token_json(const AddedToken& token) {
  return {{"content", token.content},    {"lstrip", token.strip_left},       {"normalized", token.normalized},
          {"rstrip", token.strip_right}, {"single_word", token.single_word}, {"special", token.special}};
}

AddedPieces::AddedPieces(std::vector<std::string>& pieces, std::vector<AddedToken>& added, std::string name)
    : pieces_(pieces), added_(added), name_(std::move(name)) {
  constexpr size_t kMaxBeyond = 100'000;
  const size_t of_model = pieces.size();
  for (const AddedToken& token : added) {
    const auto id = static_cast<size_t>(token.id);
    if (id >= of_model + kMaxBeyond) {
      fail(ErrorKind::kFormat, "{} has {} pieces, so that the added token '{}' cannot have the id {}", name_,
           of_model, shown(token.content), id);
    }
    if (id >= pieces.size()) pieces.resize(id + 1);
    if (id >= of_model) pieces[id] = token.content;
    if (pieces[id] == token.content) continue;
    fail(ErrorKind::kFormat, "{}: the added token '{}' has the id {}, which is that of the piece '{}'", name_,
         shown(token.content), id, shown(pieces[id]));
  }
  for (size_t id = of_model; id < pieces.size(); ++id) {
    if (!pieces[id].empty()) continue;
    pieces[id] = fmt::format("<unused {}>", id);
    added.push_back({.id = static_cast<int32_t>(id), .content = pieces[id]});
  }
  for (size_t id = 0; id < pieces.size(); ++id) ids_.emplace(pieces[id], static_cast<int32_t>(id));
  for (const AddedToken& token : added) {
    added_ids_.insert(token.id);
    if (const int32_t id = ids_.at(token.content); id != token.id) {
      fail(ErrorKind::kFormat, "{}: the added token '{}' has the id {}, but also {}", name_,
           shown(token.content), token.id, id);
    }
  }
}

std::optional<int32_t> AddedPieces::special(const std::string& piece) {
  const auto found = ids_.find(piece);
  if (piece.empty() || found == ids_.end()) return {};
  if (added_ids_.insert(found->second).second) added_.push_back({.id = found->second, .content = piece});
  return found->second;
}

std::optional<int32_t> AddedPieces::added(const std::string& piece) const {
  const auto found = ids_.find(piece);
  if (found == ids_.end() || !added_ids_.contains(found->second)) return {};
  return found->second;
}

int32_t AddedPieces::require(const char* key, const std::string& piece) {
  if (const std::optional<int32_t> id = special(piece)) return *id;
  fail(ErrorKind::kFormat,
       "{} has no token '{}', which tokenizer_config.json names as \"{}\", and none is added: give its id in "
       "\"added_tokens_decoder\"",
       name_, shown(piece), key);
}

}  // namespace heed
