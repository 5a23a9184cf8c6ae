#include "tasks/text_generator.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/text/option_error.h"
#include "text/unicode/utf8.h"

namespace heed::tasks {
namespace {

/// The position of the first stop text, or npos.
size_t find_stop(std::string_view text, const std::vector<std::string>& stops) {
  size_t first = std::string_view::npos;
  for (const std::string& stop : stops) first = std::min(first, text.find(stop));
  return first;
}

}  // namespace

const char* name_of(TextEnding ending) {
  switch (ending) {
    case TextEnding::kEnd:
      return "end";
    case TextEnding::kStop:
      return "stop";
    case TextEnding::kLength:
      return "length";
    case TextEnding::kPositions:
      return "positions";
  }
  HEED_CHECK(false);
}

// ---- Stop texts -------------------------------------------------------------------------------------------

std::string StopFilter::push(std::string_view text) {
  if (stopped_) return "";
  held_ += text;
  size_t sure = find_stop(held_, stops_);
  stopped_ = sure != std::string::npos;
  if (!stopped_) {
    // Withhold the longest suffix that is a prefix of a stop text.
    sure = held_.size();
    for (const std::string& stop : stops_) {
      for (size_t length = std::min(stop.size() - 1, held_.size()); length > 0; --length) {
        if (!std::string_view(held_).ends_with(std::string_view(stop).substr(0, length))) continue;
        sure = std::min(sure, held_.size() - length);
        break;
      }
    }
  }
  std::string shown = held_.substr(0, sure);
  held_.erase(0, sure);
  return shown;
}

std::string StopFilter::finish() {
  return stopped_ ? "" : std::exchange(held_, {});
}

bool TextGenerator::stops(std::span<const int32_t> ids) const {
  size_t longest = 0;
  for (const std::string& stop : options_.stops) longest = std::max(longest, stop.size());
  // The last ids that a stop text can overlap.
  std::string tail;
  for (size_t n = ids.size(); n > 0; --n) {
    const std::string bytes = tokenizer_.bytes(ids[n - 1]);
    tail.insert(0, bytes);
    if (n < ids.size() && tail.size() >= longest + tokenizer_.bytes(ids.back()).size()) break;
  }
  return find_stop(tail, options_.stops) != std::string::npos;
}

// ---- Generating -------------------------------------------------------------------------------------------

search::SearchOptions TextGenerator::with_rules(const TextGeneratorOptions& options) const {
  search::SearchOptions search = options.search;
  // A model may have more embedding rows than its tokenizer has ids.
  for (auto id = static_cast<int32_t>(tokenizer_.size()); id < model_.vocabulary_size(); ++id) {
    search.forbidden_ids.push_back(id);
  }
  if (options.ignore_end) {
    search.forbidden_ids.insert(search.forbidden_ids.end(), end_ids_.begin(), end_ids_.end());
  }
  for (const std::string& stop : options.stops) {
    if (stop.empty()) fail_option("$stop: stop texts must not be empty");
  }
  if (!options.stops.empty()) search.ends = [this](std::span<const int32_t> ids) { return stops(ids); };
  return search;
}

TextGenerator::TextGenerator(const models::LanguageModel& model, const nn::Context& context,
                             const ModelTokenizer& tokenizer, ThreadPool& pool, TextGeneratorOptions options)
    : model_(model),
      context_(context),
      tokenizer_(tokenizer),
      pool_(pool),
      options_(std::move(options)),
      end_ids_(search::end_ids_of(options_.search, model)),
      search_(model, context, with_rules(options_), options_.budget) {
  if (tokenizer.size() > model.vocabulary_size()) {
    fail(ErrorKind::kUsage,
         "the tokenizer has {} tokens, but the model has {}: use the tokenizer of this model",
         tokenizer.size(), model.vocabulary_size());
  }
  if (options_.window == 0) fail(ErrorKind::kUsage, "the window must be at least 1");
}

search::SearchSentence TextGenerator::sentence(const std::string& prompt, uint64_t number) const {
  std::vector<int32_t> ids = tokenizer_.prompt_ids(prompt, {.special_tokens = options_.special_tokens});
  const auto most = static_cast<size_t>(model_.max_length());
  if (most > 0 && ids.size() > most) {
    fail(ErrorKind::kUsage, "prompt {} has {} tokens, but the model's maximum is {}: shorten it", number + 1,
         ids.size(), most);
  }
  return {number, std::move(ids)};
}

GeneratedText TextGenerator::text_of(const std::vector<int32_t>& prompt,
                                     search::Hypothesis hypothesis) const {
  GeneratedText made;
  made.ids = std::move(hypothesis.ids);
  made.log_probabilities = std::move(hypothesis.log_probabilities);
  made.log_probability = hypothesis.log_probability;
  for (const int32_t id : made.ids) made.pieces.push_back(tokenizer_.piece(id));
  std::string bytes = tokenizer_.text_of(made.ids, /*continues=*/true);
  const size_t stop = find_stop(bytes, options_.stops);
  if (!made.ids.empty() && std::ranges::count(end_ids_, made.ids.back()) > 0) {
    made.ending = TextEnding::kEnd;
  } else if (stop != std::string::npos) {
    made.ending = TextEnding::kStop;
  } else {
    // The last token is never read, so it needs no position.
    const auto read = static_cast<int64_t>(prompt.size() + made.ids.size()) - 1;
    const bool full = model_.max_length() > 0 && read >= model_.max_length();
    made.ending = full ? TextEnding::kPositions : TextEnding::kLength;
  }
  if (stop != std::string::npos) bytes.resize(stop);
  made.text = replace_invalid_utf8(bytes);
  return made;
}

void TextGenerator::run_search(std::vector<search::SearchSentence> sentences,
                               const search::Search::TakeHypotheses& take,
                               const search::Search::Control& control) const {
  if (options_.executor != nullptr) {
    return options_.executor->run(search_, std::move(sentences), take, control);
  }
  return search::search_all(search_, std::move(sentences), pool_, take, control);
}

void TextGenerator::generate(const NextLine& next, const std::function<void(Generation)>& take,
                             const Control& control) const {
  for (uint64_t before = control.first_prompt;;) {
    std::vector<Generation> window;
    for (std::string line; window.size() < options_.window && next(line);) window.push_back({line, {}, {}});
    if (window.empty()) return;
    pool_.run(window.size(),
              [&](size_t n) { window[n].prompt_ids = sentence(window[n].prompt, before + n).source; });
    std::vector<search::SearchSentence> sentences;
    for (size_t n = 0; n < window.size(); ++n) sentences.push_back({before + n, window[n].prompt_ids});
    const auto take_one = [&](uint64_t number, std::vector<search::Hypothesis> hypotheses) {
      Generation& generation = window[number - before];
      for (search::Hypothesis& each : hypotheses) {
        generation.texts.push_back(text_of(generation.prompt_ids, std::move(each)));
      }
    };
    run_search(std::move(sentences), take_one, {.stop = control.stop});
    for (Generation& generation : window) take(std::move(generation));
    before += window.size();
  }
}

Generation TextGenerator::generate(const std::string& prompt, uint64_t number, const Control& control) const {
  Generation generation{prompt, {}, {}};
  std::vector<search::SearchSentence> waiting{sentence(prompt, number)};
  generation.prompt_ids = waiting[0].source;
  TextStream stream(tokenizer_, /*continues=*/true);
  StopFilter filter(options_.stops);
  size_t shown = 0;
  const auto show = [&](uint64_t, const std::vector<int32_t>& ids) {
    for (; shown < ids.size(); ++shown) {
      if (control.show_token) control.show_token(ids[shown]);
      const std::string text = filter.push(stream.push(ids[shown]));
      if (!text.empty()) control.show(text);
    }
  };
  const auto take = [&](uint64_t, std::vector<search::Hypothesis> hypotheses) {
    for (search::Hypothesis& each : hypotheses) {
      generation.texts.push_back(text_of(generation.prompt_ids, std::move(each)));
    }
  };
  search::Search::Control searching{.stop = control.stop};
  if (control.show) searching.show = show;
  run_search(std::move(waiting), take, searching);
  if (!control.show) return generation;
  if (shown > 0) {
    const std::string rest = filter.push(stream.finish()) + filter.finish();
    if (!rest.empty()) control.show(rest);
  } else if (!generation.texts.empty()) {
    control.show(generation.texts.front().text);  // beam search only shows the final text
  }
  return generation;
}

Generation TextGenerator::without_tokens(const std::string& prompt, uint64_t number) const {
  GeneratedText none;
  none.ending = TextEnding::kLength;
  return {prompt, sentence(prompt, number).source,
          std::vector(static_cast<size_t>(options_.search.nbest), none)};
}

}  // namespace heed::tasks
