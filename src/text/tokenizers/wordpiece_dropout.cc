#include "text/tokenizers/wordpiece_dropout.h"

#include <algorithm>
#include <optional>
#include <string>

#include "text/pipeline/aligned_text.h"

namespace heed {

void drop_out(std::string_view word, const Vocabulary& vocabulary, const std::vector<int32_t>& others,
              const WordPieceDropout& dropout, std::vector<ModelToken>& tokens) {
  const auto drawn = [&](double probability) {
    return probability > 0 && dropout.random->uniform() < probability;
  };
  std::vector<uint32_t> offsets;  // of the characters, and the end
  for (size_t at = 0; at < word.size(); at += length_of_character(word[at])) {
    offsets.push_back(static_cast<uint32_t>(at));
  }
  const size_t characters = offsets.size(), first = tokens.size();
  offsets.push_back(static_cast<uint32_t>(word.size()));
  bool spelt = characters <= kMaxWordPieceLength && !drawn(dropout.words);
  for (size_t begin = 0; spelt && begin < characters;) {
    size_t end = characters;
    while (end > begin + 1 && offsets[end] - offsets[begin] > vocabulary.longest_piece()) --end;
    std::optional<int32_t> id;
    for (; end > begin; --end) {
      std::string piece(begin > 0 ? kContinuesWord : "");
      piece += word.substr(offsets[begin], offsets[end] - offsets[begin]);
      id = vocabulary.find(piece);
      if (id && (vocabulary.is_special(*id) || std::ranges::count(others, *id) > 0)) id.reset();
      if (id && end > begin + 1 && drawn(dropout.pieces)) id.reset();
      if (!id) continue;
      tokens.push_back({*id, offsets[begin], offsets[end]});
      break;
    }
    spelt = id.has_value();
    begin = end;
  }
  if (spelt) return;
  tokens.resize(first);
  tokens.push_back({vocabulary.unknown_id(), 0, offsets.back()});
}

}  // namespace heed
