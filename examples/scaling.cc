// Why scores are divided by sqrt(d_k). The dot product of two vectors of d_k numbers with deviation s has a
// deviation of s^2 sqrt(d_k). Where scores are large, the softmax is nearly all 0 and 1, and hardly a
// gradient comes back through it. Divided by sqrt(d_k), scores stay where they were made, whatever the width.

#include <heed/attention.h>
#include <heed/picture.h>

#include <algorithm>
#include <cmath>

#include "show.h"

namespace {

/// Dot products of queries and keys, and what the softmax makes of them.
struct Scores {
  heed::Tensor scores, weights;
};

Scores attend(const heed::Tensor& query, const heed::Tensor& key, double scale) {
  const heed::AttentionOptions options{.weights = true};
  return {heed::attention_scores(query, key, scale),
          heed::scaled_dot_product_attention(query, key, key, options, scale).weights};
}

std::vector<double> numbers(const heed::Tensor& tensor) {
  return tensor.to_vector<double>();
}

double deviation(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

/// The mean over the queries of the largest weight: 1 where the softmax has chosen one key.
double mean_of_largest(const heed::Tensor& weights) {
  const std::vector<double> all = numbers(weights);
  const auto keys = weights.dim(-1);
  double sum = 0;
  for (auto row = all.begin(); row != all.end(); row += keys) sum += *std::max_element(row, row + keys);
  return sum * static_cast<double>(keys) / static_cast<double>(all.size());
}

void report(const char* name, const Scores& s) {
  const std::vector<double> values = numbers(s.scores);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  std::printf("  %-8s scores from %6.1f to %5.1f, deviation %5.2f; the largest weight of a query: %.2f\n",
              name, *least, *most, deviation(values), mean_of_largest(s.weights));
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string folder = examples::picture_folder(argc, argv);
  std::printf(
      "A small layer (three sentences of six tokens, four heads, d_k = 2), embeddings of deviation 1.6:\n");
  const heed::Tensor query = examples::random_tensor({3, 4, 6, 2}, 1.6, 1),
                     key = examples::random_tensor({3, 4, 6, 2}, 1.6, 2);
  const Scores raw = attend(query, key, 1), scaled = attend(query, key, 1 / std::sqrt(2.0));
  report("raw", raw);
  report("scaled", scaled);
  if (!folder.empty()) {
    heed::save_histogram(folder + "scaling-raw.png", numbers(raw.scores),
                         {"Raw dot products, d_k = 2", "score", "how many"});
    heed::save_histogram(folder + "scaling-scaled.png", numbers(scaled.scores),
                         {"Divided by sqrt(d_k)", "score", "how many"});
    const auto first = [](const heed::Tensor& weights) {
      return examples::part(examples::part(weights, 0), 0);
    };
    heed::save_heatmaps(folder + "scaling-softmax.png",
                        {{"softmax of the raw ones", first(raw.weights)},
                         {"softmax of the scaled ones", first(scaled.weights)}},
                        {.scale = "attention weight", .decimals = 2});
  }

  std::printf("\nThe wider the heads, the worse it gets without the division:\n");
  std::vector<double> widths, without, with;
  for (const int64_t width : {1, 4, 16, 64, 256}) {
    const heed::Tensor q = examples::random_tensor({1, 1, 64, width}, 1, 3),
                       k = examples::random_tensor({1, 1, 64, width}, 1, 4);
    widths.push_back(std::log2(static_cast<double>(width)));
    without.push_back(mean_of_largest(attend(q, k, 1).weights));
    with.push_back(mean_of_largest(attend(q, k, 1 / std::sqrt(static_cast<double>(width))).weights));
    std::printf("  d_k = %3d: the largest of 64 weights is %.2f raw, %.2f scaled\n", static_cast<int>(width),
                without.back(), with.back());
  }
  if (!folder.empty()) {
    heed::save_lines(folder + "scaling-width.png", {{"raw", widths, without}, {"scaled", widths, with}},
                     {"The largest weight of a query over 64 keys, on average", "log2 of d_k", "weight"});
  }
  return without.back() > 0.9 && with.back() < 0.2 ? 0 : 1;
} catch (const heed::Error& error) {
  return examples::failed(error);
}
