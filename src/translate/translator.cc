#include "translate/translator.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "base/stop.h"
#include "models/head_names.h"
#include "models/source_vocabulary.h"
#include "search/rules/forbidden_words.h"
#include "text/terms/placeholder_piece.h"
#include "text/unicode/utf8.h"

namespace heed::translate {
namespace {

/// Null without a check of values, or for a language that it does not know.
const ValueLanguage* checked_language(const TranslatorOptions& options, const std::string& language) {
  return options.check_values ? value_language(language) : nullptr;
}

LineSplitter::Options splitter_options(const models::Seq2Seq& model, const TranslatorOptions& options,
                                       const ValueLanguage* source, const ValueLanguage* target) {
  constexpr int64_t kUnlimited = int64_t{1} << 20;
  if (options.max_part_tokens < 0) {
    fail(ErrorKind::kUsage, "cannot split lines into parts of {} tokens", options.max_part_tokens);
  }
  int64_t most = options.max_part_tokens > 0 ? options.max_part_tokens : kUnlimited;
  if (model.max_length() > 0) most = std::min(most, model.max_length());
  return {.max_part_tokens = static_cast<size_t>(most),
          .split_sentences = options.split_sentences,
          .protect = options.protect_spans,
          .glossary = options.glossary.get(),
          .true_case = options.true_case,
          .copy_wordless = model.translates_sentences(),
          .source_values = source,
          .target_values = target};
}

search::SearchOptions search_options(const TranslatorOptions& options,
                                     const TranslationTokenizer& tokenizer) {
  search::SearchOptions search = search::constrained_options(options.search, tokenizer, options.constraints);
  if ((options.protect_spans || options.check_values || options.glossary != nullptr) &&
      search.piece_starts == nullptr) {
    search.piece_starts =
        std::make_shared<const std::vector<search::PieceStart>>(search::piece_starts(tokenizer.vocabulary()));
  }
  return search;
}

/// The forbidden phrases as they are compared with what becomes capitals later: in any case. Empty if none
/// has capitals.
std::vector<std::string> without_capitals(const std::vector<std::string>& phrases) {
  std::vector<std::string> lower;
  for (const std::string& phrase : phrases) {
    std::string& folded = lower.emplace_back();
    for (size_t at = 0; at < phrase.size();)
      append_utf8(folded,
                  static_cast<char32_t>(u_tolower(static_cast<UChar32>(next_code_point(phrase, at)))));
  }
  return lower == phrases ? std::vector<std::string>() : lower;
}

/// The options that have a meaning for this model: one that does not translate sentences gets each line as
/// it is.
TranslatorOptions fitting(const models::Seq2Seq& model, TranslatorOptions options) {
  if (model.translates_sentences()) return options;
  options.split_sentences = options.protect_spans = options.true_case = options.check_values = false;
  options.max_part_tokens = 0;
  return options;
}

/// `most` 0: no limit.
void require_at_most(size_t most, size_t count, const char* what) {
  if (most == 0 || count <= most) return;
  fail(ErrorKind::kUsage, "the text has {} {}, and at most {} are translated at once: send it in parts",
       count, what, most);
}

nn::Context with_heads(nn::Context context, const models::Model& model, const nn::HeadScales& heads) {
  models::require_heads(model, heads);
  if (!heads.empty()) context.head_scales = &heads;
  return context;
}

}  // namespace

Translator::Translator(const models::LoadedModel& model, const TranslationTokenizer& tokenizer,
                       ThreadPool& pool, TranslatorOptions options)
    : Translator(model.seq2seq(), model.context(), tokenizer, pool, std::move(options)) {}

Translator::Translator(const models::Seq2Seq& model, const nn::Context& context,
                       const TranslationTokenizer& tokenizer, ThreadPool& pool, TranslatorOptions options)
    : model_(model),
      options_(fitting(model, std::move(options))),
      context_(with_heads(context, model, options_.heads)),
      tokenizer_(tokenizer),
      pool_(pool),
      source_values_(checked_language(options_, tokenizer.source_language())),
      target_values_(checked_language(options_, tokenizer.target_language())),
      splitter_(tokenizer, splitter_options(model, options_, source_values_, target_values_)),
      search_(model, context_, search_options(options_, tokenizer), options_.budget),
      prefix_(tokenizer.target_phrase(options_.constraints.prefix)),
      assembler_(model, context_, tokenizer,
                 {.length_penalty = options_.search.length_penalty,
                  .prefix_tokens = prefix_.size(),
                  .align = options_.align,
                  .confidence = options_.confidence,
                  .alignment = options_.alignment}) {
  if (static_cast<int64_t>(tokenizer.size()) != model.vocabulary_size() ||
      static_cast<int64_t>(tokenizer.source_vocabulary().size()) != models::source_vocabulary_size(model)) {
    fail(ErrorKind::kUsage,
         "the tokenizer has {} pieces, but the model's vocabulary has {}: use the tokenizer of this model",
         tokenizer.size(), model.vocabulary_size());
  }
  for (int n = 0; n < placeholder_pieces(tokenizer); ++n) {
    placeholders_.push_back(tokenizer.vocabulary().id(placeholder_piece(n)));
  }
  if (options_.protect_spans) marks_ = placeholders_;
  for (std::string& text : options_.constraints.required) {
    required_.push_back(search::required_phrase(tokenizer, text));
    text = search::required_text(tokenizer, text);
  }
  if (const auto lower = without_capitals(options_.constraints.forbidden);
      options_.true_case && !lower.empty()) {
    search::SearchOptions of_capitals = search_.options();
    of_capitals.forbidden_words =
        std::make_shared<const search::ForbiddenWords>(tokenizer.vocabulary(), lower);
    capitals_search_.emplace(model, context_, of_capitals, options_.budget);
  }
  if (options_.window == 0) fail(ErrorKind::kUsage, "window must be at least 1");
}

void Translator::split(TranslationWindow& window, const Control& control) const {
  window.lines.resize(window.inputs.size());
  std::atomic<size_t> parts{0};
  pool_.run(window.inputs.size(), [&](size_t n) {
    control.stop.check();
    const uint64_t line = window.first_line - control.first_line + n;
    window.lines[n] =
        splitter_.split(window.inputs[n], control.terms == nullptr ? nullptr : &(*control.terms)[line]);
    require_at_most(options_.max_parts, parts += window.lines[n].parts.size(), "parts");
  });
  window.number_parts();
  require_within_limits(window);
  if (!required_.empty()) require_texts(window);
}

void Translator::require_within_limits(const TranslationWindow& window) const {
  size_t sentences = 0, tokens = 0;
  for (const SplitLine& line : window.lines) {
    for (const LinePart& part : line.parts) {
      sentences += part.literal.empty() ? 1 : 0;
      tokens += part.ids.size();
    }
  }
  require_at_most(options_.max_sentences, sentences, "sentences");
  require_at_most(options_.max_source_tokens, tokens, "tokens");
}

Translator::PartSentence Translator::sentence_of(const TranslationWindow& window, size_t part) const {
  const LinePart& source = window.part(part);
  PartSentence sentence;
  sentence.capitals = source.capitals;
  sentence.number = window.parts_before + part;
  // Lines have far fewer than 2^24 parts, and files fewer than 2^40 lines.
  const size_t line = window.line_of_part[part];
  sentence.random_stream = (window.first_line + line) | (part - window.first_part[line]) << 40;
  sentence.source = source.ids;
  if (window.is_first_translated(part)) sentence.prefix = prefix_;
  sentence.forbidden = absent_marks(source);
  return sentence;
}

std::vector<int32_t> Translator::absent_marks(const LinePart& part) const {
  return {marks_.begin() + static_cast<int64_t>(std::min(part.marks.size(), marks_.size())), marks_.end()};
}

bool Translator::has_room_behind(const std::vector<int32_t>& source,
                                 const std::vector<int32_t>& prefix) const {
  const int64_t longest = search::max_translation_length(
      search_.options(), model_, {source.size(), model_.prompt(source).size(), prefix.size()});
  return static_cast<int64_t>(prefix.size()) + 2 <= longest;
}

/// Longest first: batches have similar lengths, and the last batches are short.
void Translator::search_parts(TranslationWindow& window, const Progress& before,
                              const Control& control) const {
  std::vector<PartSentence> sentences;
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
  const auto take = [&](uint64_t number, std::vector<search::Hypothesis> hypotheses) {
    const size_t part = number - window.parts_before;
    window.hypotheses[part] = std::move(hypotheses);
    const std::lock_guard lock(mutex);
    done.bytes += window.bytes_of_part[part];
    if (--parts_left[window.line_of_part[part]] == 0) ++done.lines;
    tell();
  };
  run(std::move(sentences), take, control);
  distribute_required(window, control);
  search_again(window, control);
  check_values(window, control);
}

const search::Search& Translator::search_of(bool capitals) const {
  return capitals && capitals_search_ ? *capitals_search_ : search_;
}

void Translator::run(std::vector<PartSentence> sentences, const search::Search::TakeHypotheses& take,
                     const Control& control) const {
  std::ranges::stable_sort(sentences, std::greater<>(),
                           [](const PartSentence& sentence) { return sentence.source.size(); });
  const auto run_all = [&](const search::Search& search, std::vector<search::SearchSentence> those) {
    if (options_.executor != nullptr) {
      options_.executor->run(search, std::move(those), take, {.stop = control.stop});
    } else {
      search::search_all(search, std::move(those), pool_, take, {.stop = control.stop});
    }
  };
  std::vector<search::SearchSentence> usual, in_capitals;
  for (PartSentence& sentence : sentences) {
    const bool apart = sentence.capitals && capitals_search_;
    (apart ? in_capitals : usual).push_back(std::move(sentence));
  }
  if (!usual.empty()) run_all(search_, std::move(usual));
  if (!in_capitals.empty()) run_all(*capitals_search_, std::move(in_capitals));
}

void Translator::translate(const NextLine& next, const std::function<void(Translation)>& take,
                           const Control& control) const {
  uint64_t parts_before = 0;
  Progress before;
  while (true) {
    TranslationWindow window;
    window.parts_before = parts_before;
    window.first_line = control.first_line + before.lines;
    for (std::string line; window.inputs.size() < options_.window && next(line);)
      window.inputs.push_back(line);
    if (window.inputs.empty()) return;
    split(window, control);
    search_parts(window, before, control);
    std::vector<Translation> translations(window.lines.size());
    pool_.run(translations.size(), [&](size_t n) {
      control.stop.check();
      translations[n] = assembler_.assemble(window, n);
      warn_of_missing(translations[n]);
    });
    for (Translation& translation : translations) take(std::move(translation));
    parts_before += window.hypotheses.size();
    before.lines += window.lines.size();
    for (const std::string& line : window.inputs) before.bytes += static_cast<double>(line.size() + 1);
  }
}

}  // namespace heed::translate
