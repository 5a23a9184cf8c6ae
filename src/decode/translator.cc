#include "decode/translator.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "text/placeholder_piece.h"
#include "text/utf8.h"

namespace heed::decode {
namespace {

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

bool is_set(const std::atomic<bool>* flag) {
  return flag != nullptr && flag->load(std::memory_order_relaxed);
}

std::vector<int32_t> without_end(std::vector<int32_t> ids) {
  ids.pop_back();
  return ids;
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
      prefix_(without_end(tokenizer.encode_target(options_.prefix).ids)),
      assembler_(model, context, tokenizer,
                 {.length_penalty = options_.search.length_penalty,
                  .prefix_tokens = prefix_.size(),
                  .align = options_.align,
                  .alignment = options_.alignment}) {
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

void Translator::split(TranslationWindow& window, const Control& control) const {
  window.lines.resize(window.inputs.size());
  pool_.run(window.inputs.size(), [&](size_t n) {
    if (!is_set(control.cancelled)) window.lines[n] = splitter_.split(window.inputs[n]);
  });
  window.number_parts();
}

SearchSentence Translator::sentence_of(const TranslationWindow& window, size_t part) const {
  const LinePart& source = window.part(part);
  SearchSentence sentence;
  sentence.number = window.parts_before + part;
  sentence.source = source.ids;
  if (window.is_first_translated(part)) sentence.prefix = prefix_;
  for (size_t n = source.marks.size(); n < marks_.size(); ++n) sentence.forbidden.push_back(marks_[n]);
  return sentence;
}

/// Longest first: batches have similar lengths, and the last batches are short.
bool Translator::search(TranslationWindow& window, const Progress& before, const Control& control) const {
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
  Progress done = before;
  for (size_t line = 0; line < window.lines.size(); ++line) {
    if (parts_left[line] > 0) continue;
    ++done.lines;
    done.bytes += static_cast<double>(window.inputs[line].size() + 1);
  }
  const auto tell = [&] {
    if (control.progress) control.progress(done);
  };
  if (done.lines > before.lines) tell();
  const auto take = [&](uint64_t number, std::vector<Hypothesis> hypotheses) {
    const size_t part = number - window.parts_before;
    window.hypotheses[part] = std::move(hypotheses);
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
bool Translator::search_again(TranslationWindow& window, const Control& control) const {
  std::vector<SearchSentence> sentences;
  std::vector<size_t> counts(window.hypotheses.size(), 0);
  for (size_t n = 0; n < window.hypotheses.size(); ++n) {
    const LinePart& part = window.part(n);
    if (part.required.empty()) continue;
    const Missing lacking = missing(part, window.hypotheses[n]);
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
      window.hypotheses[part] = std::move(hypotheses);
    }
  };
  return run(std::move(sentences), take, control);
}

bool Translator::translate(const NextLine& next, const std::function<void(Translation)>& take,
                           const Control& control) const {
  uint64_t parts_before = 0;
  Progress before;
  while (true) {
    TranslationWindow window;
    window.parts_before = parts_before;
    for (std::string line; window.inputs.size() < options_.window && next(line);)
      window.inputs.push_back(line);
    if (window.inputs.empty()) return true;
    split(window, control);
    if (is_set(control.cancelled) || !search(window, before, control)) return false;
    std::vector<Translation> translations(window.lines.size());
    pool_.run(translations.size(), [&](size_t n) {
      if (!is_set(control.cancelled)) translations[n] = assembler_.assemble(window, n);
    });
    if (is_set(control.cancelled)) return false;
    for (Translation& translation : translations) take(std::move(translation));
    parts_before += window.hypotheses.size();
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

}  // namespace heed::decode
