#include "translate/parts/translation_assembly.h"

#include <algorithm>

#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"
#include "translate/parts/part_text.h"
#include "translate/words/confidence.h"
#include "translate/words/word_alignment.h"

namespace heed::translate {
namespace {

/// Counts words while a text is assembled from parts.
class WordCount {
 public:
  void add(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      const bool space = is_whitespace(next_code_point(text, at));
      if (!space && !inside_) ++words_;
      inside_ = !space;
    }
  }
  /// The index of a word that would begin now; without white space it would belong to the last word.
  int before_next() const { return words_ - (inside_ ? 1 : 0); }

 private:
  int words_ = 0;
  bool inside_ = false;
};

/// The hypothesis of a candidate for a part: if the part has fewer hypotheses, its last.
const search::Hypothesis& of_rank(const std::vector<search::Hypothesis>& found, size_t rank) {
  static const search::Hypothesis kNone;  // for parts that are not translated
  return found.empty() ? kNone : found[std::min(rank, found.size() - 1)];
}

}  // namespace

std::vector<bool> special_ids(const Vocabulary& vocabulary, std::span<const int32_t> ids) {
  std::vector<bool> special;
  for (const int32_t id : ids) special.push_back(vocabulary.is_special(id));
  return special;
}

std::vector<std::string> pieces_of(const Vocabulary& vocabulary, std::span<const int32_t> ids) {
  std::vector<std::string> pieces;
  for (const int32_t id : ids) pieces.push_back(vocabulary.piece(id));
  return pieces;
}

Candidate TranslationAssembler::join(const TranslationWindow& window, size_t line, size_t rank) const {
  Candidate joined;
  size_t counted = 0;
  const auto& separators = window.lines[line].separators;
  for (size_t part = window.first_part[line]; part < window.first_part[line + 1]; ++part) {
    const size_t index = part - window.first_part[line];
    const search::Hypothesis& hypothesis = of_rank(window.hypotheses[part], rank);
    if (!joined.text.empty()) joined.text += separators[index];
    joined.text += part_text(window.part(part), window.lines[line].text, tokenizer_.decode(hypothesis.ids));
    joined.log_probability += hypothesis.log_probability;
    joined.ids.insert(joined.ids.end(), hypothesis.ids.begin(), hypothesis.ids.end());
    joined.log_probabilities.insert(joined.log_probabilities.end(), hypothesis.log_probabilities.begin(),
                                    hypothesis.log_probabilities.end());
    counted += hypothesis.ids.size() - (window.is_first_translated(part) ? options_.prefix_tokens : 0);
  }
  joined.pieces = pieces_of(tokenizer_.vocabulary(), joined.ids);
  joined.score = search::normalized_score(joined.log_probability, static_cast<int64_t>(counted),
                                          options_.length_penalty);
  return joined;
}

/// The links of a translated part. `source_words` has the word of each source token in the line; target words
/// count from the beginning of the part.
std::vector<WordLink> TranslationAssembler::align_part(const LinePart& part,
                                                       const std::vector<int>& source_words,
                                                       const std::vector<int32_t>& ids) const {
  const Vocabulary& vocabulary = tokenizer_.vocabulary();
  const auto alignment =
      word_alignment(soft_alignment(model_, context_, part.ids, ids, options_.alignment), source_words,
                     words_of_pieces(pieces_of(vocabulary, ids), special_ids(vocabulary, ids)));
  std::vector<WordLink> links;
  const auto words = words_with_spans(part, tokenizer_.decode(ids));
  for (const auto& [from, to] : alignment) {
    if (static_cast<size_t>(to) >= words.size()) continue;
    const auto [first, last] = words[static_cast<size_t>(to)];
    for (int k = 0; first + k < last; ++k) links.emplace_back(from + k, first + k);
  }
  return links;
}

/// Calls visit(part, hypothesis, word) for each part of a line, with the index in the joined text of the word
/// in which the translation of the part begins.
template <typename Visit>
void TranslationAssembler::visit_parts(const TranslationWindow& window, size_t line, size_t rank,
                                       Visit&& visit) const {
  const SplitLine& split = window.lines[line];
  WordCount count;
  bool empty = true;
  for (size_t n = 0; n < split.parts.size(); ++n) {
    const search::Hypothesis& hypothesis = of_rank(window.hypotheses[window.first_part[line] + n], rank);
    if (!empty) count.add(split.separators[n]);
    visit(split.parts[n], hypothesis, count.before_next());
    const std::string text = part_text(split.parts[n], split.text, tokenizer_.decode(hypothesis.ids));
    count.add(text);
    empty = empty && text.empty();
  }
}

std::vector<WordLink> TranslationAssembler::align(const TranslationWindow& window, size_t line,
                                                  size_t rank) const {
  std::vector<WordLink> links;
  const std::string& source = window.lines[line].text;
  const std::vector<size_t> source_words = word_ends(source);
  visit_parts(window, line, rank, [&](const LinePart& part, const search::Hypothesis& hypothesis, int first) {
    if (!part.literal.empty()) {
      const auto word_at = [&](size_t byte) {
        return static_cast<int>(std::ranges::upper_bound(source_words, byte) - source_words.begin());
      };
      const auto [begin, end] = part.spans[0];
      const int from = word_at(begin), last = word_at(end - 1);
      // "5km" may have become two words.
      const int words = static_cast<int>(word_ends(part.literal).size());
      for (int word = 0; word < words; ++word) links.emplace_back(std::min(from + word, last), first + word);
      return;
    }
    const std::vector<int> words = words_of_spans(source, source_words, part.spans);
    for (const auto& [from, to] : align_part(part, words, hypothesis.ids)) {
      links.emplace_back(from, first + to);
    }
  });
  return links;
}

/// The confidence of each word of the joined text; that of text that is copied is 1.
std::vector<double> TranslationAssembler::confidence(const TranslationWindow& window, size_t line,
                                                     size_t rank, std::string_view text) const {
  std::vector<double> confidences(word_ends(text).size(), 1);
  const Vocabulary& vocabulary = tokenizer_.vocabulary();
  visit_parts(window, line, rank, [&](const LinePart& part, const search::Hypothesis& hypothesis, int first) {
    const std::vector<int32_t>& ids = hypothesis.ids;
    const auto ranges = words_with_spans(part, tokenizer_.decode(ids));
    const std::vector<double> own =
        word_confidences(words_of_pieces(pieces_of(vocabulary, ids), special_ids(vocabulary, ids)),
                         hypothesis.log_probabilities, ranges.size());
    for (size_t word = 0; word < ranges.size(); ++word) {
      for (int k = ranges[word].first; k < ranges[word].second; ++k) {
        const auto at = static_cast<size_t>(first + k);
        if (at < confidences.size()) confidences[at] = std::min(confidences[at], own[word]);
      }
    }
  });
  return confidences;
}

Translation TranslationAssembler::assemble(const TranslationWindow& window, size_t line) const {
  Translation translation;
  translation.source = window.lines[line].text;
  size_t ranks = 1;
  for (size_t part = window.first_part[line]; part < window.first_part[line + 1]; ++part) {
    const Encoding& source = window.part(part);
    translation.source_pieces.insert(translation.source_pieces.end(), source.pieces.begin(),
                                     source.pieces.end());
    const std::vector<std::string>& warnings = window.warnings[part];
    translation.warnings.insert(translation.warnings.end(), warnings.begin(), warnings.end());
    ranks = std::max(ranks, window.hypotheses[part].size());
  }
  for (size_t rank = 0; rank < ranks; ++rank) {
    Candidate& candidate = translation.candidates.emplace_back(join(window, line, rank));
    if (options_.align) candidate.alignment = align(window, line, rank);
    if (options_.confidence) candidate.word_confidence = confidence(window, line, rank, candidate.text);
  }
  return translation;
}

}  // namespace heed::translate
