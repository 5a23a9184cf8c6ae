// WordPiece and WordLevel.
#include <utility>

#include "base/check.h"
#include "text/pipeline/aligned_text.h"
#include "text/pipeline/segmentation/byte_trie.h"
#include "text/pipeline/segmentation/string_table.h"
#include "text/pipeline/segmentation/token_model.h"

namespace heed {
namespace {

class WordPiece : public TokenModel {
 public:
  WordPiece(const std::string& name, const std::vector<std::string>& pieces, const std::string& unknown,
            const std::string& prefix, size_t longest)
      : prefix_(prefix), longest_(longest) {
    std::vector<ByteTrie::Entry> entries;
    for (size_t id = 0; id < pieces.size(); ++id) {
      if (pieces[id].empty()) continue;
      entries.push_back({pieces[id], static_cast<int32_t>(id)});
      if (pieces[id] == unknown) unknown_ = static_cast<int32_t>(id);
    }
    trie_ = ByteTrie(std::move(entries));
    if (unknown_ < 0) {
      fail(ErrorKind::kFormat, "{}: the unknown token '{}' is not in the vocabulary", name, unknown);
    }
    inner_ = ByteTrie::kRoot;
    for (const char c : prefix_) {
      if (inner_ >= 0) inner_ = trie_.child(inner_, c);
    }
  }

  void tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const override {
    size_t characters = 0;
    for (size_t at = 0; at < piece.size(); ++characters) at += length_of_character(piece[at]);
    const size_t first = tokens.size();
    bool known = characters <= longest_;
    for (size_t begin = 0; known && begin < piece.size();) {
      ByteTrie::Found found;
      int32_t node = begin == 0 ? ByteTrie::kRoot : inner_;
      for (size_t at = begin; at < piece.size() && node >= 0; ++at) {
        node = trie_.child(node, piece[at]);
        if (node >= 0 && trie_.value(node) >= 0) found = {trie_.value(node), at + 1 - begin};
      }
      known = found.value >= 0;
      if (known) {
        tokens.push_back(
            {found.value, static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + found.length)});
      }
      begin += found.length;
    }
    if (known) return;
    tokens.resize(first);
    tokens.push_back({unknown_, 0, static_cast<uint32_t>(piece.size())});
  }

  bool is_slow() const override { return false; }

 private:
  std::string prefix_;
  size_t longest_;
  ByteTrie trie_;
  int32_t inner_ = -1;  // the node behind the prefix
  int32_t unknown_ = -1;
};

class WordLevel : public TokenModel {
 public:
  WordLevel(const std::string& name, const std::vector<std::string>& pieces, const std::string& unknown)
      : name_(name), ids_(pieces.size()) {
    for (size_t id = 0; id < pieces.size(); ++id) {
      if (!pieces[id].empty()) ids_.insert(pieces[id], static_cast<int32_t>(id));
    }
    unknown_ = ids_.find(unknown);
  }

  void tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const override {
    const int32_t id = ids_.find(piece);
    if (id < 0 && unknown_ < 0) {
      fail(ErrorKind::kText, "{}: the word '{}' is not in the vocabulary, which has no unknown token", name_,
           piece);
    }
    tokens.push_back({id >= 0 ? id : unknown_, 0, static_cast<uint32_t>(piece.size())});
  }

  bool is_slow() const override { return false; }

 private:
  std::string name_;
  StringTable ids_;
  int32_t unknown_ = -1;
};

}  // namespace

std::unique_ptr<TokenModel> word_piece_model(const std::string& name, const std::vector<std::string>& pieces,
                                             const std::string& unknown, const std::string& prefix,
                                             size_t longest) {
  return std::make_unique<WordPiece>(name, pieces, unknown, prefix, longest);
}

std::unique_ptr<TokenModel> word_level_model(const std::string& name, const std::vector<std::string>& pieces,
                                             const std::string& unknown) {
  return std::make_unique<WordLevel>(name, pieces, unknown);
}

}  // namespace heed
