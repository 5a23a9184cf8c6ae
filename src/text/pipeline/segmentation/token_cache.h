// The tokens of pieces that were seen before.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "text/pipeline/segmentation/string_table.h"
#include "text/pipeline/segmentation/token_model.h"

namespace heed {

/// Keeps the first pieces that it is given, up to a limit. For one thread.
class TokenCache {
 public:
  TokenCache() : slots_(kSlots) {}

  /// The tokens of a piece; nothing if unknown, since no piece has none.
  std::span<const ModelToken> find(std::string_view piece) const {
    const Slot& slot = slots_[index_of(piece, hash_of(piece))];
    return std::span(tokens_).subspan(slot.token, slot.tokens);
  }

  /// A piece that is not there yet.
  void insert(std::string_view piece, std::span<const ModelToken> tokens) {
    constexpr size_t kMaxPiece = 256;
    if (used_ >= kSlots / 2 || piece.size() > kMaxPiece || tokens.empty()) return;
    const uint64_t hash = hash_of(piece);
    slots_[index_of(piece, hash)] = {
        hash, static_cast<uint32_t>(text_.size()), static_cast<uint32_t>(piece.size()),
        static_cast<uint32_t>(tokens_.size()), static_cast<uint32_t>(tokens.size())};
    text_.append(piece);
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
    ++used_;
  }

 private:
  static constexpr size_t kSlots = size_t{1} << 15;
  struct Slot {
    uint64_t hash = 0;
    uint32_t text = 0, size = 0;
    uint32_t token = 0, tokens = 0;  // 0 tokens: free
  };
  size_t index_of(std::string_view piece, uint64_t hash) const {
    size_t index = hash & (kSlots - 1);
    for (; slots_[index].tokens > 0; index = (index + 1) & (kSlots - 1)) {
      const Slot& slot = slots_[index];
      if (slot.hash == hash && std::string_view(text_).substr(slot.text, slot.size) == piece) break;
    }
    return index;
  }

  std::vector<Slot> slots_;
  std::string text_;
  std::vector<ModelToken> tokens_;
  size_t used_ = 0;
};

/// Lends a cache to each thread that asks; as many as ask at the same time. Thread-safe.
class TokenCaches {
 public:
  class Loan {
   public:
    explicit Loan(TokenCaches& caches) : caches_(caches), cache_(caches.take()) {}
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    ~Loan() { caches_.give_back(std::move(cache_)); }
    TokenCache& operator*() const { return *cache_; }

   private:
    TokenCaches& caches_;
    std::unique_ptr<TokenCache> cache_;
  };

 private:
  std::unique_ptr<TokenCache> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<TokenCache>();
    std::unique_ptr<TokenCache> cache = std::move(free_.back());
    free_.pop_back();
    return cache;
  }
  void give_back(std::unique_ptr<TokenCache> cache) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(cache));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<TokenCache>> free_;
};

}  // namespace heed
