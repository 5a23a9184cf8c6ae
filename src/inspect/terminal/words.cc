#include "inspect/terminal/words.h"

#include <string_view>

#include "base/check.h"
#include "inspect/trace/label.h"
#include "text/pipeline/segmentation/byte_piece.h"

namespace heed {
namespace {

/// Sums over the keys of each word, averages over the queries of each word.
AttentionMatrix group_matrix(const AttentionMatrix& pieces, const std::vector<int>& query_words,
                             const std::vector<int>& key_words) {
  if (pieces.empty()) return {};
  AttentionMatrix words{query_words.back() + 1, key_words.back() + 1, {}};
  std::vector<double> sums(static_cast<size_t>(words.queries) * words.keys);
  std::vector<int> counts(words.queries);
  for (int query = 0; query < pieces.queries; ++query) {
    ++counts[query_words[query]];
    for (int key = 0; key < pieces.keys; ++key) {
      const size_t cell = static_cast<size_t>(query_words[query]) * words.keys + key_words[key];
      sums[cell] += static_cast<double>(pieces.at(query, key));
    }
  }
  for (size_t cell = 0; cell < sums.size(); ++cell) {
    words.weights.push_back(static_cast<float>(sums[cell] / counts[cell / words.keys]));
  }
  return words;
}

/// The text of each word: its pieces in a row, without marks, bytes as bytes. `word_pieces`: those
/// that continue a word are marked instead.
std::vector<std::string> join_words(const std::vector<std::string>& tokens, const std::vector<int>& words,
                                    bool word_pieces = false) {
  std::vector<std::string> joined(words.empty() ? 0 : words.back() + 1);
  for (size_t n = 0; n < tokens.size(); ++n) {
    std::string_view piece = tokens[n];
    const int byte = byte_of_piece(piece);
    strip_word_mark(piece);
    const bool continues = n > 0 && words[n] == words[n - 1];
    if (word_pieces && continues && piece.starts_with("##")) piece.remove_prefix(2);
    if (byte >= 0) {
      joined[words[n]].push_back(static_cast<char>(byte));
    } else {
      joined[words[n]] += piece;
    }
  }
  return joined;
}

void check_words(const std::string& side, const std::vector<int>& words, size_t tokens) {
  bool fits = words.size() == tokens && (words.empty() || words[0] == 0);
  for (size_t n = 1; fits && n < words.size(); ++n)
    fits = words[n] == words[n - 1] || words[n] == words[n - 1] + 1;
  if (!fits) {
    fail(ErrorKind::kShape, "the word indices of the {} must be one per token ({}), from 0, rising by 0 or 1",
         side, tokens);
  }
}

/// One start token, then the words of the target, without the last position.
std::vector<int> shift_words(const std::vector<int>& words) {
  std::vector<int> shifted{0};
  for (size_t n = 0; n + 1 < words.size(); ++n) shifted.push_back(words[n] + 1);
  return shifted;
}

std::vector<int> decoder_words_of(const Trace& trace, const std::vector<int>& target_words) {
  if (!trace.decoder_words.empty()) {
    check_words("decoder", trace.decoder_words, key_tokens(trace, Stack::kDecoder).size());
    return trace.decoder_words;
  }
  return trace.decoder_tokens.empty() ? shift_words(target_words) : word_indices(trace.decoder_tokens);
}

}  // namespace

std::vector<int> word_indices(const std::vector<std::string>& tokens) {
  std::vector<int> words;
  bool after_special = false;
  for (const std::string& token : tokens) {
    std::string_view piece = token;
    const bool special = is_special_token(token);
    const bool begins = strip_word_mark(piece) || special || after_special;
    words.push_back(words.empty() ? 0 : words.back() + (begins ? 1 : 0));
    after_special = special;
  }
  return words;
}

Trace group_by_words(const Trace& trace, const std::vector<int>& source_words,
                     const std::vector<int>& target_words) {
  check_trace(trace);
  check_words("source", source_words, trace.source_tokens.size());
  check_words("target", target_words, trace.target_tokens.size());
  const std::vector<int> decoder_words = decoder_words_of(trace, target_words);
  // A language model's queries are the tokens that it reads.
  const std::vector<int>& written_words = is_decoder_only(trace) ? decoder_words : target_words;
  Trace grouped = trace;
  grouped.details = {};
  grouped.log_probabilities.clear();  // of tokens
  grouped.source_words.clear();       // tokens are whole words now
  grouped.decoder_words.clear();
  grouped.word_pieces = false;
  grouped.source_tokens = join_words(trace.source_tokens, source_words, trace.word_pieces);
  grouped.target_tokens = join_words(trace.target_tokens, target_words);
  grouped.decoder_tokens = join_words(key_tokens(trace, Stack::kDecoder), decoder_words);
  for (const Stack stack : kStacks) {
    const std::vector<int>& query_words = stack == Stack::kEncoder ? source_words : written_words;
    const std::vector<int>& key_words = stack == Stack::kDecoder ? decoder_words : source_words;
    for (auto& layer : stack_of(grouped, stack)) {
      for (AttentionMatrix& head : layer) head = group_matrix(head, query_words, key_words);
    }
  }
  return grouped;
}

Trace group_by_words(const Trace& trace) {
  const std::vector<int> source =
      trace.source_words.empty() ? word_indices(trace.source_tokens) : trace.source_words;
  return group_by_words(trace, source, word_indices(trace.target_tokens));
}

}  // namespace heed
