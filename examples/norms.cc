// Layer norm or batch norm for sentences? Layer norm takes mean and variance over the features of one word,
// batch norm those of one feature over the batch. A sentence's words then depend on which other sentences,
// and how much padding, are in the batch; a batch of sentences of different lengths has positions where
// few have a word left.

#include <heed/norms.h>
#include <heed/picture.h>

#include <algorithm>
#include <cmath>

#include "show.h"

namespace {

constexpr int64_t kWidth = 32;
const std::vector<int64_t> kLengths{3, 5, 8, 13, 21, 34};  // words of each sentence of the batch

/// Words of a sentence, later ones with larger numbers, as activations of deep layers tend to have.
heed::Tensor sentence(int64_t length, uint64_t seed) {
  std::vector<float> x = examples::random_tensor({length, kWidth}, 1, seed).to_vector<float>();
  for (int64_t n = 0; n < length * kWidth; ++n) {
    const int64_t position = n / kWidth;
    x[n] *= 1 + 0.05f * static_cast<float>(position);
  }
  return heed::Tensor::from(x, {length, kWidth});
}

/// The sentences one after the other; with padding to the longest, zeros in between: (words, D).
heed::Tensor batch(const std::vector<int64_t>& lengths, bool padded) {
  const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::vector<float> all;
  for (size_t n = 0; n < lengths.size(); ++n) {
    const std::vector<float> x = sentence(lengths[n], n + 1).to_vector<float>();
    all.insert(all.end(), x.begin(), x.end());
    if (padded) all.resize(all.size() + static_cast<size_t>((longest - lengths[n]) * kWidth), 0.0f);
  }
  return heed::Tensor::from(all, {static_cast<int64_t>(all.size()) / kWidth, kWidth});
}

/// How far the vectors of the first sentence are from those that it has in another batch.
double change(const heed::Tensor& alone, const heed::Tensor& in_batch) {
  return examples::largest_difference(alone.narrow(0, 0, kLengths[0]), in_batch.narrow(0, 0, kLengths[0]));
}

}  // namespace

int main(int argc, char** argv) try {
  const heed::Tensor packed = batch(kLengths, false), padded = batch(kLengths, true),
                     one = batch({kLengths[0]}, false);
  std::printf("How much the words of the first sentence (%d of them) change with the rest of the batch:\n\n",
              static_cast<int>(kLengths[0]));
  std::printf("                              layer norm  RMS norm  batch norm\n");
  const auto row = [&](const char* name, const heed::Tensor& whole) {
    const double layer = change(heed::layer_norm(one), heed::layer_norm(whole));
    const double rms = change(heed::rms_norm(one), heed::rms_norm(whole));
    const double by_batch = change(heed::batch_norm_training(one), heed::batch_norm_training(whole));
    std::printf("  %-28s %10.4f %9.4f %11.4f\n", name, layer, rms, by_batch);
    return layer == 0 && rms == 0 && by_batch > 0.1;
  };
  bool right = row("beside five longer sentences", packed);
  right = row("the same, padded with zeros", padded) && right;

  // At each position of a padded batch, how many sentences still have a word, and how well a feature's mean
  // is known.
  std::printf(
      "\nWord by word, as recurrent networks would normalize: sentences that are not over yet\n  position ");
  std::vector<double> positions, left, error;
  for (const int64_t position : {1, 4, 6, 9, 14, 22, 34}) {
    const auto count =
        std::count_if(kLengths.begin(), kLengths.end(), [&](int64_t length) { return length >= position; });
    positions.push_back(static_cast<double>(position));
    left.push_back(static_cast<double>(count));
    error.push_back(1 / std::sqrt(static_cast<double>(count)));
    std::printf(" %5d", static_cast<int>(position));
  }
  std::printf("\n  sentences");
  for (const double count : left) std::printf(" %5.0f", count);
  std::printf("\n  error    ");
  for (const double e : error) std::printf(" %5.2f", e);
  std::printf(
      "  of the mean, in deviations\n\nThe last words are normalized by one sentence: their mean is "
      "themselves.\n");

  // In inference there is no batch: running averages replace its moments.
  heed::BatchMoments running;
  for (int update = 0; update < 50; ++update) heed::batch_norm_training(packed, {}, &running);
  const double gap = change(heed::batch_norm(one, running), heed::batch_norm_training(one));
  std::printf(
      "\nIn inference, batch norm uses running averages, which changes the vectors of the sentence by %.2f.\n"
      "Layer norm has none, and nothing changes.\n",
      gap);
  if (const std::string folder = examples::picture_folder(argc, argv); !folder.empty()) {
    heed::save_lines(folder + "norms-batch.png", {{"sentences with a word left", positions, left}},
                     {"What batch norm has to average over", "position in the sentence", "sentences"});
  }
  return right && gap > 0.1 ? 0 : 1;
} catch (const heed::Error& error) {
  return examples::failed(error);
}
