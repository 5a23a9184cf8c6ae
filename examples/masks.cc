// What masks do: scores that may not count are made so low before the softmax that their weights are 0 after
// it. Padding hides the filler tokens after a short sentence from every query; look-ahead hides what comes
// later, from each query in another way; in the decoder of a batch both are needed at once.

#include <heed/attention.h>
#include <heed/picture.h>

#include <cmath>
#include <limits>

#include "show.h"

namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

/// The scores with what a query may not see taken out: (T, T).
heed::Tensor masked(const heed::Tensor& scores, int64_t length, bool look_ahead) {
  std::vector<float> values = scores.to_vector<float>();
  const int64_t size = scores.dim(0);
  for (int64_t query = 0; query < size; ++query) {
    for (int64_t key = 0; key < size; ++key) {
      if (key >= length || (look_ahead && key > query)) values[query * size + key] = kHidden;
    }
  }
  return heed::Tensor::from(values, {size, size});
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words{"der", "Hund", "schläft", "heute", "<pad>"};
  const int64_t size = 5, length = 4, width = 16;
  const heed::Tensor query = examples::random_tensor({1, size, width}, 1, 3),
                     key = examples::random_tensor({1, size, width}, 1, 4), &value = key;
  const heed::Tensor scores = examples::part(heed::attention_scores(query, key, 1 / std::sqrt(16.0)), 0);
  const heed::Tensor padding = heed::padding_mask({length}, size);

  struct Case {
    const char* name;
    heed::AttentionOptions options;
  };
  const std::vector<Case> cases{{"no mask", {.weights = true}},
                                {"padding", {.padding = padding, .weights = true}},
                                {"look-ahead", {.look_ahead = true, .weights = true}},
                                {"both", {.padding = padding, .look_ahead = true, .weights = true}}};
  std::printf("scores Q K^T / sqrt(d_k), row = query, column = key:\n");
  examples::print_matrix(scores, words, "%7.2f");
  std::vector<heed::Heatmap> before, after;
  bool right = true;
  for (const Case& each : cases) {
    const heed::AttentionResult result = heed::scaled_dot_product_attention(query, key, value, each.options);
    const heed::Tensor weights = examples::part(result.weights, 0);
    std::printf("\n%s, after the softmax:\n", each.name);
    examples::print_matrix(weights, words, "%7.2f");
    const bool look_ahead = each.options.look_ahead;
    const int64_t seen = each.options.padding.defined() ? length : size;
    const heed::Tensor hidden = masked(scores, seen, look_ahead);
    before.push_back({std::string(each.name) + ": scores", hidden, words, words});
    after.push_back({std::string(each.name) + ": weights", weights, words, words});
    // Every row sums to 1, and what was hidden has a weight of exactly 0.
    const std::vector<float> w = weights.to_vector<float>(), s = hidden.to_vector<float>();
    for (int64_t row = 0; row < size; ++row) {
      float sum = 0;
      for (int64_t n = row * size; n < (row + 1) * size; ++n) {
        sum += w[n];
        right = right && (s[n] == kHidden) == (w[n] == 0);
      }
      right = right && std::abs(sum - 1) < 1e-5f;
    }
  }
  std::printf(
      "\nWith look-ahead the first query sees the first key alone, the second two of them, and so on.\n");
  if (const std::string folder = examples::picture_folder(argc, argv); !folder.empty()) {
    heed::save_heatmaps(folder + "masks-before.png", before,
                        {.title = "Before the softmax: masked scores are minus infinity",
                         .scale = "score",
                         .x_name = "key",
                         .y_name = "query",
                         .least = -3,
                         .most = 3});
    heed::save_heatmaps(folder + "masks-after.png", after,
                        {.title = "After the softmax: each row sums to 1",
                         .scale = "attention weight",
                         .x_name = "key",
                         .y_name = "query"});
  }
  return right ? 0 : 1;
} catch (const heed::Error& error) {
  return examples::failed(error);
}
