#include "serve/routes/token_probabilities.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "search/scoring.h"
#include "text/unicode/utf8.h"

namespace heed::serve {

using nlohmann::ordered_json;

ordered_json to_json(const std::vector<TokenEntry>& entries) {
  ordered_json tokens = ordered_json::array(), each = tokens, top = tokens, offsets = tokens, sums = tokens;
  bool has_sums = false;
  for (const TokenEntry& entry : entries) {
    tokens.push_back(entry.token);
    each.push_back(entry.log_probability ? ordered_json(*entry.log_probability) : ordered_json());
    top.push_back(nullptr);
    if (entry.likeliest) {
      top.back() = ordered_json::object();
      // Bytes of different characters have one name: the likeliest, which comes first, stands for them.
      for (const auto& [token, value] : *entry.likeliest) top.back().emplace(token, value);
    }
    offsets.push_back(entry.offset);
    has_sums = has_sums || !entry.log_sums.empty();
    sums.push_back(entry.log_sums.empty() ? ordered_json() : ordered_json(entry.log_sums));
  }
  ordered_json json{
      {"tokens", tokens}, {"token_logprobs", each}, {"top_logprobs", top}, {"text_offset", offsets}};
  if (has_sums) json["log_sums"] = sums;
  return json;
}

std::string TokenProbabilities::name_of(int32_t id) const {
  return files_.tokenizer.is_special(id) ? files_.tokenizer.piece(id)
                                         : replace_invalid_utf8(files_.tokenizer.bytes(id));
}

TokenEntry TokenProbabilities::entry(int32_t id, std::span<const float> logits, float log_sum) const {
  TokenEntry entry{.token = name_of(id),
                   .log_probability = logits[id] - log_sum,
                   .log_sums = search::log_sums_at(temperatures_, logits, log_sum),
                   .special = files_.tokenizer.is_special(id)};
  if (alternatives_ == 0) return entry;
  auto& likeliest = entry.likeliest.emplace();
  const auto pieces = logits.first(static_cast<size_t>(files_.tokenizer.size()));
  for (const int32_t each : search::likeliest_ids(pieces, alternatives_)) {
    likeliest.emplace_back(name_of(each), logits[each] - log_sum);
  }
  return entry;
}

std::vector<TokenEntry> TokenProbabilities::of_ids(const std::vector<int32_t>& ids, size_t first,
                                                   const std::string& text) const {
  std::vector<TokenEntry> entries;
  if (first == 0 && !files_.tokenizer.is_special(ids[0])) entries.push_back({.token = name_of(ids[0])});
  TextStream stream(files_.tokenizer);  // without the space that SentencePiece puts before a text
  const size_t limit = count_characters(text);
  size_t offset = count_characters(stream.push(ids[0]));
  search::visit_predictions(files_.loaded.language_model(), files_.loaded.context(), ids,
                            {.first = std::max<size_t>(first, 1)}, [&](const search::Prediction& next) {
                              const int32_t id = ids[next.index];
                              entries.push_back(entry(id, next.logits, next.log_sum));
                              entries.back().offset = std::min(limit, offset);
                              offset += count_characters(stream.push(id));
                            });
  return entries;
}

ordered_json TokenProbabilities::of(const tasks::Generation& generation, const tasks::GeneratedText& text,
                                    bool echo) const {
  std::vector<int32_t> ids = generation.prompt_ids;
  ids.insert(ids.end(), text.ids.begin(), text.ids.end());
  std::vector<TokenEntry> entries;
  const size_t reported = echo ? 0 : generation.prompt_ids.size();
  compute(exchange_, [&] { entries = of_ids(ids, reported, generation.prompt); });
  // The entries after the prompt, at the offsets of their first characters.
  const size_t first = entries.size() - text.ids.size();
  const size_t begin = count_characters(generation.prompt), limit = begin + count_characters(text.text);
  TextStream stream(files_.tokenizer, /*continues=*/true);
  size_t offset = begin, end = first;
  for (; end < entries.size(); ++end) {
    if (offset >= limit && !entries[end].special) break;
    entries[end].offset = std::min(limit, offset);
    offset += count_characters(stream.push(text.ids[end - first]));
  }
  entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(end), entries.end());
  return to_json(entries);
}

StreamedProbabilities::StreamedProbabilities(const TokenProbabilities& probabilities,
                                             const std::string& prompt, bool echo)
    : probabilities_(probabilities),
      context_(probabilities.files().loaded.context()),
      stream_(probabilities.files().tokenizer, /*continues=*/true),
      begin_(count_characters(prompt)),
      pushed_(begin_),
      shown_(begin_) {
  const models::LanguageModel& model = probabilities.files().loaded.language_model();
  const std::vector<int32_t> ids = probabilities.files().tokenizer.prompt_ids(prompt);
  if (echo) {
    for (TokenEntry& entry : probabilities.of_ids(ids, 0, prompt)) entries_.push_back(std::move(entry));
  }
  state_ = model.start(context_);
  models::Sequences read;
  read.append(ids);
  sentence_ = model.admit(context_, *state_, read).at(0);
  last_ = ids.back();
}

void StreamedProbabilities::push(int32_t id) {
  const models::LanguageModel& model = probabilities_.files().loaded.language_model();
  const Tensor logits = model.step(context_, *state_, {{sentence_, row_, last_, {}}});  // (1, V)
  last_ = id;
  row_ = 0;
  const std::vector<float> log_sums = search::log_sums_of(logits.reshape({1, logits.size()}));
  entries_.push_back(
      probabilities_.entry(id, {logits.data<float>(), static_cast<size_t>(logits.size())}, log_sums[0]));
  entries_.back().offset = pushed_;
  pushed_ += count_characters(stream_.push(id));
}

ordered_json StreamedProbabilities::take(std::string_view part) {
  shown_ += count_characters(part);
  std::vector<TokenEntry> taken;
  while (!entries_.empty() && entries_.front().offset < shown_) {
    taken.push_back(std::move(entries_.front()));
    entries_.pop_front();
  }
  return to_json(taken);
}

ordered_json StreamedProbabilities::take_rest(const tasks::GeneratedText& text) {
  const size_t limit = begin_ + count_characters(text.text);
  std::vector<TokenEntry> taken;
  while (!entries_.empty() && (entries_.front().offset < limit || entries_.front().special)) {
    entries_.front().offset = std::min(limit, entries_.front().offset);
    taken.push_back(std::move(entries_.front()));
    entries_.pop_front();
  }
  return taken.empty() ? ordered_json() : to_json(taken);
}

}  // namespace heed::serve
