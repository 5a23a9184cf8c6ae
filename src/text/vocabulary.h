// The pieces that a model knows and their ids: `vocab.json` of the Hugging Face Marian layout, {"piece": id,
// ...}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heed {

/// How the pieces with a meaning of their own are spelt.
struct SpecialPieces {
  std::string end = "</s>";       ///< ends every sentence
  std::string unknown = "<unk>";  ///< stands for what the vocabulary does not hold
  std::string pad = "<pad>";      ///< fills up batches, and starts the decoder
};

/// The pieces of the content of `vocab.json`, in the order of their ids. Read strictly: an object of
/// pieces and the ids 0 to n-1, each once. Throws kFormat with `name` (the file) and the piece that is wrong.
std::vector<std::string> read_vocabulary(std::string_view json, const std::string& name);
/// Sorted by id, in ASCII with \u escapes, as Hugging Face writes it.
std::string vocabulary_json(const std::vector<std::string>& pieces);

class Vocabulary {
 public:
  /// Pieces in the order of their ids. Throws kFormat if a piece stands twice or a special one is missing.
  explicit Vocabulary(std::vector<std::string> pieces, const SpecialPieces& special = {});

  /// Reads `vocab.json` as read_vocabulary() does. Throws kNotFound, kFile, or kFormat.
  static Vocabulary load(const std::string& path, const SpecialPieces& special = {});
  /// `name` stands in errors.
  static Vocabulary from_json(std::string_view json, const std::string& name,
                              const SpecialPieces& special = {});

  std::string to_json() const { return vocabulary_json(pieces_); }

  size_t size() const { return pieces_.size(); }
  /// The id of a piece, special ones included; nothing if it is not there.
  std::optional<int32_t> find(std::string_view piece) const;
  /// The id of a piece, or that of the unknown piece.
  int32_t id(std::string_view piece) const { return find(piece).value_or(unknown_id_); }
  /// Throws kUsage for an id outside of the vocabulary.
  const std::string& piece(int32_t id) const;

  int32_t end_id() const { return end_id_; }
  int32_t unknown_id() const { return unknown_id_; }
  int32_t pad_id() const { return pad_id_; }
  bool is_special(int32_t id) const { return id == end_id_ || id == unknown_id_ || id == pad_id_; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view piece) const { return std::hash<std::string_view>()(piece); }
  };

  std::vector<std::string> pieces_;
  std::unordered_map<std::string, int32_t, Hash, std::equal_to<>> ids_;
  int32_t end_id_ = 0, unknown_id_ = 0, pad_id_ = 0;
};

}  // namespace heed
