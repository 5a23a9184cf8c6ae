// Added tokens of a directory without a tokenizer.json, which would list them: added_tokens_decoder of
// tokenizer_config.json, and added_tokens.json, {"<|tool|>": 486}, which versions of transformers before 4.34
// wrote instead.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/files/model_inventory.h"
#include "base/text/json_file.h"
#include "text/pipeline/added_vocabulary.h"
#include "text/tokenizers/vocabulary.h"

namespace heed {

/// The tokens of added_tokens_decoder by id. They are special if they say so, or if another key of the config
/// names them, such as "eos_token". Throws kFormat for malformed content.
std::vector<AddedToken> read_added_tokens(const JsonObject& config);
/// The same, or those of added_tokens.json. Throws kFormat, too, if the files contradict each other.
std::vector<AddedToken> read_added_tokens(const ModelInventory& files, const JsonObject& config);

/// For tokenizers without tokens beyond their vocabulary. Throws kFormat for a token of added_tokens.json
/// that has another id there, or none.
void require_no_other_ids(const ModelInventory& files, const Vocabulary& vocabulary);

/// The entry of a token in added_tokens_decoder.
nlohmann::ordered_json added_token_json(const AddedToken& token);

/// The pieces of a model together with its added tokens, which have ids among the pieces or beyond. Both must
/// outlive it.
class AddedPieces {
 public:
  /// Appends the tokens beyond the pieces. Ids between that no token has become special tokens "<unused N>".
  /// Throws kFormat, with `name` (the file of the pieces), for a token with the id or the text of another
  /// piece, and for too large an id.
  AddedPieces(std::vector<std::string>& pieces, std::vector<AddedToken>& added, std::string name);

  /// The id of a piece, which becomes a special token if it is no added token yet; empty if there is none.
  std::optional<int32_t> special(const std::string& piece);
  /// The id of an added token; empty if there is none.
  std::optional<int32_t> added(const std::string& piece) const;
  /// As special(), for the value of a key of tokenizer_config.json. Throws kFormat if there is none.
  int32_t require(const char* key, const std::string& piece);

 private:
  const std::vector<std::string>& pieces_;
  std::vector<AddedToken>& added_;
  std::string name_;
  std::unordered_map<std::string_view, int32_t> ids_;
  std::unordered_set<int32_t> added_ids_;
};

}  // namespace heed
