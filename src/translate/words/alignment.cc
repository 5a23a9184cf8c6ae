#include "translate/words/alignment.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "models/finite_output.h"

namespace heed::translate {
namespace {

/// The cross-attention weights of each layer and head: (queries, keys).
class CrossAttention : public nn::AttentionSink {
 public:
  void receive(const nn::AttentionLayerId& id, const Var& weights, const ops::AttentionLayout& layout,
               int heads) override {
    if (id.stack != Stack::kCross) return;
    models::require_finite_output(weights.value());
    HEED_CHECK(layout.spans.size() == 1);
    const int64_t queries = layout.spans[0].queries(), keys = layout.spans[0].keys();
    const float* w = weights.value().data<float>();  // (H, Tq, Tk)
    auto& matrices = layers_[id.layer];
    for (int h = 0; h < heads; ++h, w += queries * keys) {
      matrices.push_back({queries, keys, std::vector<float>(w, w + queries * keys)});
    }
  }

  const std::map<int, std::vector<SoftAlignment>>& layers() const { return layers_; }

  const std::vector<SoftAlignment>& heads(int layer) const {
    const auto count = static_cast<int>(layers_.size());
    if (count == 0) fail(ErrorKind::kUsage, "this model has no attention to align words by");
    if (layer < -count || layer >= count) {
      fail(ErrorKind::kUsage,
           "there is no decoder layer {} to align words by: the model has {}, counted from 1", layer + 1,
           count);
    }
    return layers_.at(layer < 0 ? layer + count : layer);
  }

  const SoftAlignment& head(const models::AlignmentHead& wanted) const {
    const std::vector<SoftAlignment>& all = heads(wanted.layer);
    if (wanted.head < 0 || wanted.head >= static_cast<int>(all.size())) {
      fail(ErrorKind::kUsage,
           "there is no head {} in decoder layer {} to align words by: it has {}, counted from 1",
           wanted.head + 1, wanted.layer + 1, all.size());
    }
    return all[static_cast<size_t>(wanted.head)];
  }

 private:
  std::map<int, std::vector<SoftAlignment>> layers_;
};

/// The cross-attention of a forward pass over the start token and the first `read` tokens of the target.
CrossAttention attend(const models::Seq2Seq& model, const nn::Context& context,
                      const std::vector<int32_t>& source, const std::vector<int32_t>& target, size_t read) {
  models::Sequences sources, inputs;
  sources.append(source);
  std::vector<int32_t> input{model.start_id()};
  input.insert(input.end(), target.begin(), target.begin() + static_cast<std::ptrdiff_t>(read));
  inputs.append(input);
  CrossAttention attention;
  nn::Context listening = context;
  listening.sink = &attention;
  models::require_finite_output(model.logits(listening, sources, inputs));
  return attention;
}

/// The number of target tokens to read: all, or one less if the model has no position for the last.
size_t tokens_to_read(const models::Seq2Seq& model, const std::vector<int32_t>& target) {
  const bool room = model.max_length() == 0 || std::ssize(target) + 1 <= model.max_length();
  return room || target.empty() ? target.size() : target.size() - 1;
}

/// Removes the row of the step that reads the start token. If the last token was not read, its row is that of
/// the step that predicted it.
SoftAlignment reading_steps(const SoftAlignment& steps, size_t targets) {
  const auto rows = static_cast<int64_t>(targets);
  SoftAlignment read{rows, steps.sources, {}};
  for (int64_t t = 0; t < rows; ++t) {
    const float* row = steps.weights.data() + std::min(t + 1, steps.targets - 1) * steps.sources;
    read.weights.insert(read.weights.end(), row, row + steps.sources);
  }
  return read;
}

}  // namespace

SoftAlignment mean_alignment(const std::vector<const SoftAlignment*>& alignments) {
  HEED_CHECK(!alignments.empty());
  SoftAlignment mean{alignments[0]->targets, alignments[0]->sources,
                     std::vector<float>(alignments[0]->weights.size())};
  for (const SoftAlignment* each : alignments) {
    HEED_CHECK(each->weights.size() == mean.weights.size());
    for (size_t n = 0; n < mean.weights.size(); ++n)
      mean.weights[n] += each->weights[n] / static_cast<float>(alignments.size());
  }
  return mean;
}

SoftAlignment soft_alignment(const models::Seq2Seq& model, const nn::Context& context,
                             const std::vector<int32_t>& source, const std::vector<int32_t>& target,
                             const AlignmentOptions& options) {
  std::vector<const SoftAlignment*> heads;
  if (options.heads.empty()) {
    const CrossAttention attention =
        attend(model, context, source, target, target.empty() ? 0 : target.size() - 1);
    for (const SoftAlignment& each : attention.heads(options.layer)) heads.push_back(&each);
    return mean_alignment(heads);
  }
  const CrossAttention attention = attend(model, context, source, target, tokens_to_read(model, target));
  for (const models::AlignmentHead& each : options.heads) heads.push_back(&attention.head(each));
  return reading_steps(mean_alignment(heads), target.size());
}

std::vector<HeadAlignment> every_head(const models::Seq2Seq& model, const nn::Context& context,
                                      const std::vector<int32_t>& source,
                                      const std::vector<int32_t>& target) {
  const CrossAttention attention = attend(model, context, source, target, tokens_to_read(model, target));
  std::vector<HeadAlignment> all;
  for (const auto& [layer, heads] : attention.layers()) {
    for (const SoftAlignment& each : heads) {
      const auto head = static_cast<int>(&each - heads.data());
      all.push_back({{layer, head}, reading_steps(each, target.size())});
    }
  }
  return all;
}

}  // namespace heed::translate
