// Guesses of the next tokens, which a step checks together with the token before them: where a text repeats
// itself, or its prompt, several tokens take one step (prompt lookup decoding: Saxena, 2023; speculative
// decoding: Leviathan et al., "Fast inference from Transformers via speculative decoding", 2023). The result
// is that of single steps, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace heed::search {

class NgramDrafts {
 public:
  /// `most`: tokens of a draft; 0: there are none.
  explicit NgramDrafts(int most = 0) : most_(most) {}

  /// The next token of the text.
  void append(int32_t id);
  /// What followed the last kNgram tokens where they occurred last, at most `room` tokens. Empty where they
  /// did not, and while drafts fail: after the n-th failure in a row, for 2^(n + 1) steps, up to
  /// kLongestWait.
  std::vector<int32_t> next(size_t room = std::numeric_limits<size_t>::max());
  /// How many tokens of the last draft were right.
  void report(size_t right);

  size_t text_tokens() const { return text_.size(); }

  static constexpr size_t kNgram = 3;
  /// If every draft fails, this share of the steps has one.
  static constexpr int kLongestWait = 64;

 private:
  uint64_t last_ngram() const;

  int most_ = 0;
  std::vector<int32_t> text_;
  std::unordered_map<uint64_t, size_t> after_;  // by the hash of an n-gram: where the text goes on after it
  size_t drafted_ = 0;                          // tokens of the last draft
  int failures_ = 0, wait_ = 0;
};

}  // namespace heed::search
