#include "text/tokenizers/vocabulary.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "text/readers/tokenizer_file.h"
#include "text/readers/vocabulary_json.h"

namespace heed {

Vocabulary::Vocabulary(std::vector<std::string> pieces, const SpecialPieces& special)
    : pieces_(std::move(pieces)), ids_(pieces_.size()) {
  HEED_CHECK(pieces_.size() <= static_cast<size_t>(std::numeric_limits<int32_t>::max()));
  for (size_t id = 0; id < pieces_.size(); ++id) {
    const std::string& piece = pieces_[id];
    longest_ = std::max(longest_, piece.size());
    if (find(piece)) fail(ErrorKind::kFormat, "the piece \"{}\" is duplicated in the vocabulary", piece);
    ids_.insert(piece, static_cast<int32_t>(id));
  }
  const auto id_of_special = [&](const std::string& piece) {
    const std::optional<int32_t> id = find(piece);
    if (!id) fail(ErrorKind::kFormat, "the vocabulary has no piece \"{}\", which the tokenizer needs", piece);
    return *id;
  };
  end_id_ = id_of_special(special.end);
  unknown_id_ = id_of_special(special.unknown);
  pad_id_ = id_of_special(special.pad);
}

Vocabulary Vocabulary::load(const std::string& path, const SpecialPieces& special) {
  return from_json(read_tokenizer_file(path), path, special);
}

Vocabulary Vocabulary::from_json(std::string_view json, const std::string& name,
                                 const SpecialPieces& special) {
  std::vector<std::string> pieces = read_vocabulary(json, name);
  try {
    return Vocabulary(std::move(pieces), special);
  } catch (const Error& error) {
    not_a_vocabulary(name, error.what());
  }
}

std::optional<int32_t> Vocabulary::find(std::string_view piece) const {
  const int32_t id = ids_.find(piece);
  return id < 0 ? std::nullopt : std::optional(id);
}

void Vocabulary::mark_special(int32_t id) {
  piece(id);  // throws for an invalid id
  special_.resize(pieces_.size());
  special_[static_cast<size_t>(id)] = true;
}

const std::string& Vocabulary::piece(int32_t id) const {
  if (id < 0 || static_cast<size_t>(id) >= pieces_.size()) {
    fail(ErrorKind::kUsage, "invalid token id {}: the vocabulary has the ids 0 to {}", id,
         pieces_.size() - 1);
  }
  return pieces_[static_cast<size_t>(id)];
}

std::string Vocabulary::to_json() const {
  return vocabulary_json(pieces_);
}

}  // namespace heed
