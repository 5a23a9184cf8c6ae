// The vocabulary: pieces and ids, stored as `vocab.json`, {"piece": id, ...}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/segmentation/string_table.h"

namespace heed {

/// Names of the special pieces.
struct SpecialPieces {
  std::string end = "</s>";       ///< ends every sentence
  std::string unknown = "<unk>";  ///< replaces unknown pieces
  std::string pad = "<pad>";      ///< padding, and start token of the decoder
};

class Vocabulary {
 public:
  /// Pieces in id order. Throws kFormat for a duplicate piece or a missing special piece.
  explicit Vocabulary(std::vector<std::string> pieces, const SpecialPieces& special = {});
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;

  /// Reads `vocab.json` as read_vocabulary() does. Throws kNotFound, kFile, or kFormat.
  static Vocabulary load(const std::string& path, const SpecialPieces& special = {});
  /// `name` is used in errors.
  static Vocabulary from_json(std::string_view json, const std::string& name,
                              const SpecialPieces& special = {});

  /// As vocabulary_json() writes it.
  std::string to_json() const;

  size_t size() const { return pieces_.size(); }
  const std::vector<std::string>& pieces() const { return pieces_; }
  size_t longest_piece() const { return longest_; }  ///< in bytes
  /// The id of a piece, including special ones; empty if unknown.
  std::optional<int32_t> find(std::string_view piece) const;
  /// The id of a piece, or of the unknown piece.
  int32_t id(std::string_view piece) const { return find(piece).value_or(unknown_id_); }
  /// Throws kUsage for an invalid id.
  const std::string& piece(int32_t id) const;

  int32_t end_id() const { return end_id_; }
  int32_t unknown_id() const { return unknown_id_; }
  int32_t pad_id() const { return pad_id_; }
  /// Whether an id is no text: the three above, and those of mark_special().
  bool is_special(int32_t id) const {
    const bool marked = static_cast<size_t>(id) < special_.size() && special_[static_cast<size_t>(id)];
    return marked || id == end_id_ || id == unknown_id_ || id == pad_id_;
  }
  /// For language codes and other tokens without text. Throws kUsage for an invalid id.
  void mark_special(int32_t id);

 private:
  std::vector<std::string> pieces_;
  StringTable ids_;  // of views of the pieces
  size_t longest_ = 0;
  int32_t end_id_ = 0, unknown_id_ = 0, pad_id_ = 0;
  std::vector<bool> special_;  // by id; may be shorter than the vocabulary
};

}  // namespace heed
