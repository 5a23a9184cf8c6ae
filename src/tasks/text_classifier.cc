#include "tasks/text_classifier.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/stop.h"
#include "models/finite_output.h"
#include "search/encoder_batches.h"

namespace heed::tasks {
namespace {

/// A softmax.
Classification classification_of(const float* logits, int classes) {
  Classification result;
  result.best = static_cast<int>(std::max_element(logits, logits + classes) - logits);
  const double best = logits[result.best];
  double sum = 0;
  for (int c = 0; c < classes; ++c) sum += std::exp(static_cast<double>(logits[c]) - best);
  for (int c = 0; c < classes; ++c) {
    result.log_probabilities.push_back(static_cast<double>(logits[c]) - best - std::log(sum));
    result.probabilities.push_back(static_cast<float>(std::exp(result.log_probabilities.back())));
  }
  return result;
}

}  // namespace

ClassifierText classifier_text(std::string_view line) {
  const size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return {std::string(line)};
  return {std::string(line.substr(0, tab)), std::string(line.substr(tab + 1))};
}

void require_vocabulary(const ModelTokenizer& tokenizer, int64_t vocabulary, const ModelInventory& files) {
  const auto pieces = static_cast<int64_t>(tokenizer.size());
  if (pieces == vocabulary) return;
  if (pieces < vocabulary) {
    // A truncated tokenizer.json is always detected.
    if (is_padded_vocabulary(pieces, vocabulary) || files.has(model_file::kTokenizerJson)) return;
    fail(ErrorKind::kFormat,
         "'{}': vocab.txt has {} pieces, but vocab_size in config.json is {}: vocab.txt is truncated or "
         "belongs to another model, since {} is not {} rounded up to a multiple of 8, 16, 32, 64 or 128",
         files.directory(), pieces, vocabulary, vocabulary, pieces);
  }
  fail(ErrorKind::kFormat, "'{}': vocab.txt has {} pieces, but vocab_size in config.json is {}",
       files.directory(), tokenizer.size(), vocabulary);
}

TextClassifier::TextClassifier(const models::Classifier& model, const nn::Context& context,
                               ModelTokenizer tokenizer, ThreadPool& pool, int64_t batch_tokens)
    : model_(model),
      context_(context),
      tokenizer_(std::move(tokenizer)),
      pool_(pool),
      batch_tokens_(batch_tokens) {}

Encoding TextClassifier::encode(const ClassifierText& text) const {
  return tokens_of(text, model_.max_length());
}

Encoding TextClassifier::encode_whole(const ClassifierText& text) const {
  return tokens_of(text, 0);
}

Encoding TextClassifier::tokens_of(const ClassifierText& text, int64_t most) const {
  const EncodeOptions options{.max_length = static_cast<size_t>(most)};
  if (!text.second) return tokenizer_.encode(text.first, options);
  if (model_.types() == 1) {
    fail(ErrorKind::kUsage, "this model does not support text pairs (type_vocab_size 1): give single texts");
  }
  return tokenizer_.encode(text.first, *text.second, options);
}

std::vector<Classification> TextClassifier::classify(const std::vector<ClassifierText>& texts,
                                                     const Stop& stop) const {
  std::vector<Encoding> encodings(texts.size());
  pool_.run(texts.size(), [&](size_t n) {
    stop.check();
    encodings[n] = encode(texts[n]);
  });

  const auto batches = search::encoder_batches(encodings, batch_tokens_);

  std::vector<Classification> results(texts.size());
  pool_.run(batches.size(), [&](size_t number) {
    stop.check();
    const std::vector<size_t>& batch = batches[number];
    const models::EncoderInput input = search::encoder_input(encodings, batch);
    nn::Context context = context_;
    const Tensor logits = model_.logits(context, input);  // (texts, classes)
    models::require_finite_output(logits);
    for (size_t row = 0; row < batch.size(); ++row) {
      Classification& result = results[batch[row]];
      result = classification_of(logits.data<float>() + static_cast<int64_t>(row) * model_.classes(),
                                 model_.classes());
      result.truncated = encodings[batch[row]].truncated;
    }
  });
  return results;
}

}  // namespace heed::tasks
