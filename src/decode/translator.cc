#include "decode/translator.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "text/placeholder_piece.h"
#include "text/true_case.h"
#include "text/utf8.h"
#include "text/whitespace.h"

namespace heed::decode {
namespace {

/// Scoring: approximate number of target tokens per batch, whose logits are held in memory on each thread.
constexpr size_t kScoredTokens = 256;

LineSplitter::Options splitter_options(const models::Seq2Seq& model, const TranslatorOptions& options) {
  constexpr int64_t kUnlimited = int64_t{1} << 20;
  if (options.max_part_tokens < 0) {
    fail(ErrorKind::kUsage, "cannot split lines into parts of {} tokens", options.max_part_tokens);
  }
  int64_t most = options.max_part_tokens > 0 ? options.max_part_tokens : kUnlimited;
  if (model.max_length() > 0) most = std::min(most, model.max_length());
  return {static_cast<size_t>(most), options.split_sentences, options.protect_spans, options.glossary.get(),
          options.true_case};
}

}  // namespace

std::vector<bool> continuing_pieces(const Vocabulary& vocabulary) {
  std::vector<bool> result;
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    const std::string& piece = vocabulary.piece(static_cast<int32_t>(id));
    size_t offset = 0;
    const bool byte = piece.starts_with("<0x") && piece.size() == 6;
    result.push_back(byte ||
                     (!piece.empty() && u_isalnum(static_cast<UChar32>(next_code_point(piece, offset)))));
  }
  return result;
}

namespace {

SearchOptions search_options(const TranslatorOptions& options, const Tokenizer& tokenizer) {
  SearchOptions search = options.search;
  if ((options.protect_spans || options.glossary != nullptr) && search.continues_word == nullptr) {
    search.continues_word =
        std::make_shared<const std::vector<bool>>(continuing_pieces(tokenizer.vocabulary()));
  }
  return search;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

/// Replaces placeholders by their texts, in one pass, so that the texts may contain placeholders. With
/// `capitals` the rest is converted to capitals, except for texts that must be preserved.
std::string put_back(const LinePart& part, std::string_view text) {
  std::string result;
  const auto add = [&](std::string_view between) {
    result += part.capitals ? to_capitals(between) : std::string(between);
  };
  for (size_t at = 0; at < text.size();) {
    size_t next = text.size(), which = 0, size = 0;
    for (size_t n = 0; n < part.required.size(); ++n) {
      const bool marked = n < part.marks.size();
      if (!marked && (!part.capitals || part.required[n].kind != SpanKind::kExact)) continue;
      const std::string& wanted = marked ? part.marks[n] : part.required[n].text;
      const size_t place = text.find(wanted, at);
      if (place < next) {
        next = place;
        which = n;
        size = wanted.size();
      }
    }
    add(text.substr(at, next - at));
    if (next < text.size()) result += part.required[which].text;
    at = next + size;
  }
  return result;
}

/// The new index of each word, and of the end, when placeholders are replaced by texts of several words.
std::vector<int> added_words(const LinePart& part, const std::string& text) {
  std::vector<int> places;
  int place = 0;
  for (const std::string_view word : split_whitespace(text)) {
    places.push_back(place++);
    for (size_t n = 0; n < part.marks.size(); ++n) {
      if (word.find(part.marks[n]) == std::string_view::npos) continue;
      place += static_cast<int>(word_ends(part.required[n].text).size()) - 1;
    }
  }
  places.push_back(place);
  return places;
}

/// The first part of a line that is translated; the number of parts if none is.
size_t first_translated(const SplitLine& line) {
  const auto place = std::find_if(line.parts.begin(), line.parts.end(),
                                  [](const LinePart& part) { return part.literal.empty(); });
  return static_cast<size_t>(place - line.parts.begin());
}

bool is_set(const std::atomic<bool>* flag) {
  return flag != nullptr && flag->load(std::memory_order_relaxed);
}

std::vector<int32_t> without_end(std::vector<int32_t> ids) {
  ids.pop_back();
  return ids;
}

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
const Hypothesis& of_rank(const std::vector<Hypothesis>& found, size_t rank) {
  static const Hypothesis kNone;  // for parts that are not translated
  return found.empty() ? kNone : found[std::min(rank, found.size() - 1)];
}

}  // namespace

Translator::Translator(const models::Seq2Seq& model, const nn::Context& context, const Tokenizer& tokenizer,
                       ThreadPool& pool, TranslatorOptions options)
    : model_(model),
      context_(context),
      tokenizer_(tokenizer),
      pool_(pool),
      options_(std::move(options)),
      splitter_(tokenizer, splitter_options(model, options_)),
      search_(model, context, search_options(options_, tokenizer), options_.budget),
      prefix_(without_end(tokenizer.encode_target(options_.prefix).ids)) {
  if (static_cast<int64_t>(tokenizer.size()) != model.vocabulary_size()) {
    fail(ErrorKind::kUsage,
         "the tokenizer has {} pieces, but the model's vocabulary has {}: use the tokenizer of this model",
         tokenizer.size(), model.vocabulary_size());
  }
  if (options_.protect_spans) {
    for (int n = 0; n < placeholder_pieces(tokenizer.vocabulary()); ++n) {
      marks_.push_back(tokenizer.vocabulary().id(placeholder_piece(n)));
    }
  }
  if (options_.window == 0) fail(ErrorKind::kUsage, "window must be at least 1");
}

/// Lines that are translated together. Their parts are numbered consecutively.
struct Translator::Window {
  std::vector<std::string> inputs;
  std::vector<SplitLine> lines;
  std::vector<size_t> first_part;  // of each line, and the end
  std::vector<size_t> line_of_part;
  std::vector<std::vector<Hypothesis>> found;  // for each part
  uint64_t parts_before = 0;                   // in earlier windows
  Progress before;                             // the same

  std::vector<double> bytes_of_part;  // share of the line, proportional to its tokens

  const LinePart& part(size_t number) const {
    const size_t line = line_of_part[number];
    return lines[line].parts[number - first_part[line]];
  }
};

std::vector<std::string> Translator::pieces_of(const std::vector<int32_t>& ids) const {
  std::vector<std::string> pieces;
  for (const int32_t id : ids) pieces.push_back(tokenizer_.vocabulary().piece(id));
  return pieces;
}

void Translator::split(Window& window, const Control& control) const {
  window.lines.resize(window.inputs.size());
  pool_.run(window.inputs.size(), [&](size_t n) {
    if (!is_set(control.cancelled)) window.lines[n] = splitter_.split(window.inputs[n]);
  });
  window.first_part.push_back(0);
  for (size_t n = 0; n < window.lines.size(); ++n) {
    const std::vector<LinePart>& parts = window.lines[n].parts;
    window.line_of_part.insert(window.line_of_part.end(), parts.size(), n);
    window.first_part.push_back(window.line_of_part.size());
    size_t tokens = 0;
    for (const LinePart& part : parts) tokens += part.ids.size();
    const double bytes_per_token =
        static_cast<double>(window.inputs[n].size() + 1) / static_cast<double>(std::max<size_t>(tokens, 1));
    for (const LinePart& part : parts) {
      window.bytes_of_part.push_back(static_cast<double>(part.ids.size()) * bytes_per_token);
    }
  }
  window.found.resize(window.line_of_part.size());
}

SearchSentence Translator::sentence_of(const Window& window, size_t part) const {
  const size_t line = window.line_of_part[part], place = part - window.first_part[line];
  const LinePart& source = window.lines[line].parts[place];
  SearchSentence sentence;
  sentence.number = window.parts_before + part;
  sentence.source = source.ids;
  if (place == first_translated(window.lines[line])) sentence.prefix = prefix_;
  for (size_t n = source.marks.size(); n < marks_.size(); ++n) sentence.forbidden.push_back(marks_[n]);
  return sentence;
}

/// Longest first: batches have similar lengths, and the last batches are short.
bool Translator::search(Window& window, const Control& control) const {
  std::vector<SearchSentence> sentences;
  std::vector<size_t> parts_left;
  for (size_t line = 0; line < window.lines.size(); ++line) {
    parts_left.push_back(0);
    for (size_t part = window.first_part[line]; part < window.first_part[line + 1]; ++part) {
      if (!window.part(part).literal.empty()) continue;
      sentences.push_back(sentence_of(window, part));
      ++parts_left.back();
    }
  }

  std::mutex mutex;  // guards the following
  Progress done = window.before;
  for (size_t line = 0; line < window.lines.size(); ++line) {
    if (parts_left[line] > 0) continue;
    ++done.lines;
    done.bytes += static_cast<double>(window.inputs[line].size() + 1);
  }
  const auto tell = [&] {
    if (control.progress) control.progress(done);
  };
  if (done.lines > window.before.lines) tell();
  const auto take = [&](uint64_t number, std::vector<Hypothesis> hypotheses) {
    const size_t part = number - window.parts_before;
    window.found[part] = std::move(hypotheses);
    const std::lock_guard lock(mutex);
    done.bytes += window.bytes_of_part[part];
    if (--parts_left[window.line_of_part[part]] == 0) ++done.lines;
    tell();
  };
  return run(std::move(sentences), take, control) && search_again(window, control);
}

bool Translator::run(std::vector<SearchSentence> sentences, const Search::TakeHypotheses& take,
                     const Control& control) const {
  std::stable_sort(sentences.begin(), sentences.end(), [](const SearchSentence& a, const SearchSentence& b) {
    return a.source.size() > b.source.size();
  });
  if (options_.executor != nullptr) {
    return options_.executor->run(search_, std::move(sentences), take, {.cancelled = control.cancelled});
  }
  return search_all(search_, std::move(sentences), pool_, take, {.cancelled = control.cancelled});
}

/// The required texts of a part that are missing in any hypothesis, with counts.
struct Translator::Missing {
  std::vector<bool> texts;
  size_t count = 0;
};

Translator::Missing Translator::missing(const LinePart& part,
                                        const std::vector<Hypothesis>& hypotheses) const {
  Missing result{std::vector<bool>(part.required.size()), 0};
  std::vector<RequiredText> wanted = part.required;
  for (size_t n = 0; n < part.marks.size(); ++n) wanted[n].text = part.marks[n];
  for (const Hypothesis& hypothesis : hypotheses) {
    const std::string text = tokenizer_.decode(hypothesis.ids);
    for (const size_t n : missing_texts(text, wanted)) {
      result.texts[n] = true;
      ++result.count;
    }
    for (size_t n = 0; n < part.marks.size(); ++n) {
      if (std::ranges::count(hypothesis.ids, marks_[n]) < 2) continue;
      result.texts[n] = true;
      ++result.count;
    }
  }
  return result;
}

/// Translates parts with missing required texts again, with a constrained search. Numbers that are correct in
/// another format are accepted.
bool Translator::search_again(Window& window, const Control& control) const {
  std::vector<SearchSentence> sentences;
  std::vector<size_t> counts(window.found.size(), 0);
  for (size_t n = 0; n < window.found.size(); ++n) {
    const LinePart& part = window.part(n);
    if (part.required.empty()) continue;
    const Missing lacking = missing(part, window.found[n]);
    counts[n] = lacking.count;
    if (lacking.count == 0) continue;
    SearchSentence sentence = sentence_of(window, n);
    for (size_t k = 0; k < part.required.size(); ++k) {
      const RequiredText& required = part.required[k];
      if (required.kind == SpanKind::kNumber && !lacking.texts[k]) continue;
      RequiredPhrase phrase;
      if (k < part.marks.size()) {
        phrase = {{marks_[k]}, false, true};
      } else {
        phrase.ids = without_end(tokenizer_.encode_target(required.text).ids);
      }
      if (!phrase.ids.empty()) sentence.required.push_back(std::move(phrase));
    }
    if (!sentence.required.empty()) sentences.push_back(std::move(sentence));
  }
  if (sentences.empty()) return true;
  const auto take = [&](uint64_t number, std::vector<Hypothesis> hypotheses) {
    const size_t part = number - window.parts_before;
    if (missing(window.part(part), hypotheses).count < counts[part]) {
      window.found[part] = std::move(hypotheses);
    }
  };
  return run(std::move(sentences), take, control);
}

/// The translation of a part, with its placeholders replaced.
std::string Translator::text_of(const LinePart& part, const std::string& source,
                                const std::vector<int32_t>& ids) const {
  if (!part.literal.empty()) return part.literal;
  std::string text = tokenizer_.decode(ids);
  if (!part.marks.empty() || part.capitals) text = put_back(part, text);
  for (size_t n = part.marks.size(); n < part.required.size(); ++n) {
    // Required words begin with a space, which is wrong after a bracket.
    const std::string& required = part.required[n].text;
    for (const char* bracket : {"(", "["}) {
      if (source.find(bracket + required) != std::string::npos) {
        replace_all(text, std::string(bracket) + " " + required, bracket + required);
      }
    }
  }
  return text;
}

Candidate Translator::join(const Window& window, size_t line, size_t rank) const {
  Candidate joined;
  size_t counted = 0;
  const auto& separators = window.lines[line].separators;
  for (size_t part = window.first_part[line]; part < window.first_part[line + 1]; ++part) {
    const size_t place = part - window.first_part[line];
    const Hypothesis& hypothesis = of_rank(window.found[part], rank);
    if (!joined.text.empty()) joined.text += separators[place];
    joined.text += text_of(window.part(part), window.lines[line].text, hypothesis.ids);
    joined.log_probability += hypothesis.log_probability;
    joined.ids.insert(joined.ids.end(), hypothesis.ids.begin(), hypothesis.ids.end());
    joined.log_probabilities.insert(joined.log_probabilities.end(), hypothesis.log_probabilities.begin(),
                                    hypothesis.log_probabilities.end());
    counted += hypothesis.ids.size() - (place == first_translated(window.lines[line]) ? prefix_.size() : 0);
  }
  joined.pieces = pieces_of(joined.ids);
  joined.score =
      normalized_score(joined.log_probability, static_cast<int64_t>(counted), options_.search.length_penalty);
  return joined;
}

std::vector<WordLink> Translator::align(const Window& window, size_t line, size_t rank) const {
  std::vector<WordLink> links;
  const SplitLine& split = window.lines[line];
  const std::vector<size_t> source_words = word_ends(split.text);
  WordCount count;
  bool empty = true;
  for (size_t n = 0; n < split.parts.size(); ++n) {
    const LinePart& part = split.parts[n];
    const std::vector<int32_t>& ids = of_rank(window.found[window.first_part[line] + n], rank).ids;
    if (!part.literal.empty()) {
      if (!empty) count.add(split.separators[n]);
      const auto at = std::upper_bound(source_words.begin(), source_words.end(), part.spans[0].first);
      const int words = static_cast<int>(word_ends(part.literal).size());
      for (int word = 0; word < words; ++word) {
        links.emplace_back(static_cast<int>(at - source_words.begin()) + word, count.before_next() + word);
      }
      count.add(part.literal);
      empty = false;
      continue;
    }
    std::vector<bool> special;
    for (const int32_t id : ids) special.push_back(tokenizer_.vocabulary().is_special(id));
    const auto alignment =
        word_alignment(soft_alignment(model_, context_, split.parts[n].ids, ids, options_.alignment),
                       words_of_spans(split.text, source_words, split.parts[n].spans),
                       words_of_pieces(pieces_of(ids), special));
    if (!empty) count.add(split.separators[n]);
    const std::vector<int> words = added_words(part, tokenizer_.decode(ids));
    for (const auto& [from, to] : alignment) {
      const auto word = static_cast<size_t>(to);
      const int first = word < words.size() ? words[word] : to;
      // A placeholder of several words: all of them are aligned to the same source words.
      const int several = word + 1 < words.size() ? words[word + 1] - first : 1;
      for (int k = 0; k < several; ++k) links.emplace_back(from + k, count.before_next() + first + k);
    }
    const std::string text = text_of(part, split.text, ids);
    count.add(text);
    empty = empty && text.empty();
  }
  return links;
}

Translation Translator::assemble(const Window& window, size_t line) const {
  Translation translation;
  translation.source = window.lines[line].text;
  size_t ranks = 1;
  for (size_t part = window.first_part[line]; part < window.first_part[line + 1]; ++part) {
    const Encoding& source = window.part(part);
    translation.source_pieces.insert(translation.source_pieces.end(), source.pieces.begin(),
                                     source.pieces.end());
    ranks = std::max(ranks, window.found[part].size());
  }
  for (size_t rank = 0; rank < ranks; ++rank) {
    translation.candidates.push_back(join(window, line, rank));
    if (options_.align) translation.candidates.back().alignment = align(window, line, rank);
  }
  return translation;
}

bool Translator::translate(const NextLine& next, const std::function<void(Translation)>& take,
                           const Control& control) const {
  uint64_t parts_before = 0;
  Progress before;
  while (true) {
    Window window;
    window.parts_before = parts_before;
    window.before = before;
    for (std::string line; window.inputs.size() < options_.window && next(line);)
      window.inputs.push_back(line);
    if (window.inputs.empty()) return true;
    split(window, control);
    if (is_set(control.cancelled) || !search(window, control)) return false;
    std::vector<Translation> translations(window.lines.size());
    pool_.run(translations.size(), [&](size_t n) {
      if (!is_set(control.cancelled)) translations[n] = assemble(window, n);
    });
    if (is_set(control.cancelled)) return false;
    for (Translation& translation : translations) take(std::move(translation));
    parts_before += window.found.size();
    before.lines += window.lines.size();
    for (const std::string& line : window.inputs) before.bytes += static_cast<double>(line.size() + 1);
  }
}

std::vector<Translation> Translator::translate(const std::vector<std::string>& lines) const {
  std::vector<Translation> translations;
  size_t at = 0;
  translate(
      [&](std::string& line) {
        if (at == lines.size()) return false;
        line = lines[at++];
        return true;
      },
      [&](Translation translation) { translations.push_back(std::move(translation)); });
  return translations;
}

Translation Translator::translate(const std::string& line) const {
  return translate(std::vector{line}).front();
}

ScoringPair Translator::encode_pair(const std::pair<std::string, std::string>& pair, size_t number) const {
  ScoringPair encoded{tokenizer_.encode_source(pair.first).ids, tokenizer_.encode_target(pair.second).ids};
  const auto most = static_cast<size_t>(model_.max_length());
  const size_t longer = std::max(encoded.source.size(), encoded.target.size());
  if (most > 0 && longer > most) {
    fail(ErrorKind::kUsage, "pair {} has a sentence of {} tokens, but the model's maximum is {}: split it",
         number + 1, longer, most);
  }
  return encoded;
}

std::vector<TargetScore> Translator::score(const std::vector<std::pair<std::string, std::string>>& pairs,
                                           const std::atomic<bool>* cancelled) const {
  std::vector<ScoringPair> encoded(pairs.size());
  pool_.run(pairs.size(), [&](size_t n) {
    if (!is_set(cancelled)) encoded[n] = encode_pair(pairs[n], n);
  });
  std::vector<size_t> groups{0};  // begin of each group, and the end of the last
  for (size_t n = 0, tokens = 0; n < encoded.size(); ++n) {
    if (n > groups.back() && tokens + encoded[n].target.size() > kScoredTokens) {
      groups.push_back(n);
      tokens = 0;
    }
    tokens += encoded[n].target.size();
  }
  if (!encoded.empty()) groups.push_back(encoded.size());

  std::vector<TargetScore> scores(pairs.size());
  pool_.run(groups.size() - 1, [&](size_t group) {
    if (is_set(cancelled)) return;
    const std::span members = std::span(encoded).subspan(groups[group], groups[group + 1] - groups[group]);
    auto found = score_pairs(model_, context_, options_.search, members);
    for (size_t n = 0; n < found.size(); ++n) {
      TargetScore& score = scores[groups[group] + n];
      score.ids = members[n].target;
      score.pieces = pieces_of(score.ids);
      score.log_probability = std::accumulate(found[n].begin(), found[n].end(), 0.0);
      score.log_probabilities = std::move(found[n]);
    }
  });
  if (is_set(cancelled)) return {};
  return scores;
}

}  // namespace heed::decode
