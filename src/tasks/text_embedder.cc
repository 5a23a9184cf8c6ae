#include "tasks/text_embedder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/stop.h"
#include "metrics/mt_tokenizers.h"
#include "models/finite_output.h"
#include "search/encoder_batches.h"

namespace heed::tasks {
namespace {

/// Rows [begin, end) of hidden (N, D) -> D numbers.
void pool_rows(const Tensor& hidden, int64_t begin, int64_t end, Pooling pooling, float* pooled) {
  const int64_t width = hidden.dim(1);
  const float* rows = hidden.data<float>();
  for (int64_t feature = 0; feature < width; ++feature) {
    const float* first = rows + begin * width + feature;
    double sum = 0;
    float largest = *first;
    for (int64_t row = 0; row < end - begin; ++row) {
      sum += static_cast<double>(first[row * width]);
      largest = std::max(largest, first[row * width]);
    }
    const auto count = static_cast<double>(end - begin);
    switch (pooling) {
      case Pooling::kCls:
        pooled[feature] = *first;
        break;
      case Pooling::kMax:
        pooled[feature] = largest;
        break;
      case Pooling::kMean:
        pooled[feature] = static_cast<float>(sum / count);
        break;
      case Pooling::kMeanSqrt:
        pooled[feature] = static_cast<float>(sum / std::sqrt(count));
        break;
    }
  }
}

/// v / max(|v|, 1e-12)
void normalize(float* vector, int64_t width) {
  double squares = 0;
  for (int64_t n = 0; n < width; ++n)
    squares += static_cast<double>(vector[n]) * static_cast<double>(vector[n]);
  const double length = std::max(std::sqrt(squares), 1e-12);
  for (int64_t n = 0; n < width; ++n) vector[n] = static_cast<float>(static_cast<double>(vector[n]) / length);
}

}  // namespace

models::SentenceModules embedding_settings(const models::LoadedModel& loaded,
                                           const EmbedderOptions& options) {
  models::SentenceModules settings = models::read_sentence_modules(loaded.files, loaded.encoder().width());
  if (options.pooling) settings.pooling = {*options.pooling};
  if (options.normalize) settings.normalize = *options.normalize;
  if (options.prompt) settings.prompt = *options.prompt;
  if (!settings.prompt.empty() && !settings.prompts.contains(settings.prompt)) {
    std::vector<std::string> names;
    for (const auto& [name, prompt] : settings.prompts) names.push_back(name);
    fail(ErrorKind::kUsage, "'{}' has no prompt '{}'; it has {}", loaded.directory(), settings.prompt,
         names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  }
  if (!settings.prompt.empty() && !settings.prompts.at(settings.prompt).empty() && !settings.pools_prompts) {
    fail(ErrorKind::kFormat,
         "'{}': \"include_prompt\" is false in the settings of pooling, and Heed pools the tokens of a "
         "prompt, too: texts cannot be embedded with the prompt '{}'",
         loaded.directory(), settings.prompt);
  }
  return settings;
}

TextEmbedder::TextEmbedder(const models::Encoder& model, const nn::Context& context, ModelTokenizer tokenizer,
                           const models::SentenceModules& settings, ThreadPool& pool)
    : model_(model),
      context_(context),
      tokenizer_(std::move(tokenizer)),
      settings_(settings),
      pool_(pool),
      max_length_(model.max_length()) {
  const auto tokens = static_cast<int64_t>(tokenizer_.max_length());
  const int64_t most = settings.max_length > 0 ? settings.max_length : tokens;
  if (most > 0) max_length_ = std::min(max_length_, most);
}

int64_t TextEmbedder::width() const {
  return static_cast<int64_t>(settings_.pooling.size()) * model_.width();
}

Encoding TextEmbedder::encode(const std::string& text) const {
  return tokens_of(text, max_length_);
}

Encoding TextEmbedder::encode_whole(const std::string& text) const {
  return tokens_of(text, 0);
}

Encoding TextEmbedder::tokens_of(const std::string& text, int64_t most) const {
  std::string prompted = settings_.prompt.empty() ? text : settings_.prompts.at(settings_.prompt) + text;
  if (settings_.lowercase) prompted = lower_case(prompted);
  return tokenizer_.encode(prompted, {.max_length = static_cast<size_t>(most)});
}

TextVectors TextEmbedder::embed(const std::vector<std::string>& texts, const Stop& stop) const {
  std::vector<Encoding> encodings(texts.size());
  pool_.run(texts.size(), [&](size_t n) {
    stop.check();
    encodings[n] = encode(texts[n]);
  });
  const auto batches = search::encoder_batches(encodings, search::kEncoderBatchTokens);

  TextVectors result;
  result.vectors = Tensor::empty({static_cast<int64_t>(texts.size()), width()});
  float* vectors = result.vectors.data<float>();
  pool_.run(batches.size(), [&](size_t number) {
    stop.check();
    const std::vector<size_t>& batch = batches[number];
    const models::EncoderInput input = search::encoder_input(encodings, batch);
    nn::Context context = context_;
    const Tensor hidden = model_.encode(context, input).value();  // (N, D)
    models::require_finite_output(hidden);
    for (size_t b = 0; b < batch.size(); ++b) {
      float* vector = vectors + static_cast<int64_t>(batch[b]) * width();
      for (size_t n = 0; n < settings_.pooling.size(); ++n) {
        pool_rows(hidden, input.text.offsets[b], input.text.offsets[b + 1], settings_.pooling[n],
                  vector + static_cast<int64_t>(n) * model_.width());
      }
      if (settings_.normalize) normalize(vector, width());
    }
  });
  for (const Encoding& each : encodings) result.truncated.push_back(each.truncated);
  return result;
}

}  // namespace heed::tasks
