#include "decode/alignment.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "models/finite_output.h"
#include "text/utf8.h"
#include "text/whitespace.h"

namespace heed::decode {
namespace {

constexpr std::string_view kSpaceMark = "\u2581";

/// Keeps the attention to the memory of each layer, averaged over its heads.
class CrossAttention : public nn::AttentionSink {
 public:
  void receive(const nn::AttentionPlace& place, const Tensor& weights, const ops::AttentionLayout& layout,
               int heads) override {
    if (place.stack != nn::AttentionStack::kCross) return;
    models::require_finite_output(weights);
    HEED_CHECK(layout.spans.size() == 1);
    const auto& span = layout.spans[0];
    SoftAlignment& mean = layers_[place.layer];
    mean.targets = span.query_end - span.query_begin;
    mean.sources = span.key_end - span.key_begin;
    mean.weights.assign(static_cast<size_t>(mean.targets * mean.sources), 0);
    const float* w = weights.data<float>();  // (H, Tq, Tk)
    for (int h = 0; h < heads; ++h) {
      for (float& sum : mean.weights) sum += *w++ / static_cast<float>(heads);
    }
  }

  SoftAlignment take(int layer) {
    const auto count = static_cast<int>(layers_.size());
    if (count == 0) fail(ErrorKind::kUsage, "this model has no attention to align words by");
    if (layer < -count || layer >= count) {
      fail(ErrorKind::kUsage,
           "there is no decoder layer {} to align words by: the model has {}, counted from 1", layer + 1,
           count);
    }
    return std::move(layers_.at(layer < 0 ? layer + count : layer));
  }

 private:
  std::map<int, SoftAlignment> layers_;
};

}  // namespace

SoftAlignment soft_alignment(const models::Seq2Seq& model, const nn::Context& context,
                             const std::vector<int32_t>& source, const std::vector<int32_t>& target,
                             const AlignmentOptions& options) {
  models::Sequences sources, inputs;
  sources.append(source);
  std::vector<int32_t> input{model.start_id()};
  if (!target.empty()) input.insert(input.end(), target.begin(), target.end() - 1);
  inputs.append(input);
  CrossAttention attention;
  nn::Context listening = context;
  listening.sink = &attention;
  models::require_finite_output(model.logits(listening, sources, inputs));
  return attention.take(options.layer);
}

std::vector<WordLink> word_alignment(const SoftAlignment& alignment, const std::vector<int>& source_words,
                                     const std::vector<int>& target_words) {
  HEED_CHECK(static_cast<int64_t>(source_words.size()) == alignment.sources);
  HEED_CHECK(static_cast<int64_t>(target_words.size()) == alignment.targets);
  std::map<int, std::map<int, double>> sums;  // by target word, then by source word
  for (int64_t t = 0; t < alignment.targets; ++t) {
    for (int64_t s = 0; s < alignment.sources; ++s) {
      if (target_words[t] >= 0 && source_words[s] >= 0) {
        sums[target_words[t]][source_words[s]] += alignment.at(t, s);
      }
    }
  }
  std::vector<WordLink> links;
  for (const auto& [target, by_source] : sums) {
    const auto best = std::max_element(by_source.begin(), by_source.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    links.emplace_back(best->first, target);
  }
  return links;
}

std::vector<size_t> word_ends(std::string_view text) {
  std::vector<size_t> ends;
  for (const std::string_view word : split_whitespace(text)) {
    ends.push_back(static_cast<size_t>(word.data() - text.data()) + word.size());
  }
  return ends;
}

std::vector<int> words_of_spans(std::string_view text, const std::vector<std::pair<size_t, size_t>>& spans) {
  return words_of_spans(text, word_ends(text), spans);
}

std::vector<int> words_of_spans(std::string_view text, const std::vector<size_t>& ends,
                                const std::vector<std::pair<size_t, size_t>>& spans) {
  std::vector<int> words;
  for (const auto& [begin, end] : spans) {
    size_t at = begin;  // of the first character that is no white space
    for (size_t next = at; at < text.size() && is_whitespace(next_code_point(text, next));) at = next;
    const auto word = std::upper_bound(ends.begin(), ends.end(), at);
    const bool none = word == ends.end() || (begin == end && begin == text.size());
    words.push_back(none ? -1 : static_cast<int>(word - ends.begin()));
  }
  return words;
}

std::vector<int> words_of_pieces(const std::vector<std::string>& pieces, const std::vector<bool>& special) {
  HEED_CHECK(pieces.size() == special.size());
  std::vector<int> words;
  int word = -1;
  bool begins = true;  // the next text begins a word
  for (size_t n = 0; n < pieces.size(); ++n) {
    std::string_view text = pieces[n];
    if (special[n]) {
      words.push_back(-1);
      continue;
    }
    if (text.starts_with(kSpaceMark)) {
      text.remove_prefix(kSpaceMark.size());
      begins = true;
    }
    if (begins && !text.empty()) {
      ++word;
      begins = false;
    }
    words.push_back(begins ? word + 1 : word);  // a lone mark belongs to the word that follows
  }
  // A mark at the very end is followed by none.
  for (int& number : words) number = number > word ? -1 : number;
  return words;
}

std::string to_pharaoh(const std::vector<WordLink>& links) {
  std::string text;
  for (const auto& [source, target] : links) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}-{}", source, target);
  }
  return text;
}

}  // namespace heed::decode
