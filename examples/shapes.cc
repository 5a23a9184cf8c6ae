// A batch of three sentences through every shape of multi-head attention: B = 3 sentences, T = 6 tokens, D =
// 8, H = 4 heads of width d_k = 2. The layer does all of this in one call; here each step is taken by hand,
// and compared.

#include <heed/attention.h>
#include <heed/picture.h>

#include <cmath>
#include <map>
#include <sstream>

#include "show.h"

int main(int argc, char** argv) try {
  const std::vector<std::string> sentences{
      "i wonder what will come next", "this is a basic example paragraph", "hello what is a basic split"};
  const int64_t width = 8, length = 6;
  const int heads = 4;
  // Each word has a vector; the same word has the same one. Its place is added.
  std::map<std::string, uint64_t> vocabulary;
  std::vector<std::vector<std::string>> words;
  std::vector<float> numbers;
  const std::vector<float> places = heed::sinusoidal_positions(length, width).to_vector<float>();
  for (const std::string& sentence : sentences) {
    std::istringstream stream(sentence);
    words.emplace_back();
    for (std::string word; stream >> word;) {
      words.back().push_back(word);
      const uint64_t id = vocabulary.emplace(word, vocabulary.size() + 1).first->second;
      const std::vector<float> vector = examples::random_tensor({width}, 1, id).to_vector<float>();
      const size_t place = (words.back().size() - 1) * static_cast<size_t>(width);
      for (size_t n = 0; n < vector.size(); ++n) numbers.push_back(vector[n] + places[place + n]);
    }
  }
  const heed::Tensor x = heed::Tensor::from(numbers, {3, length, width});
  const heed::MultiHeadAttention layer({.d_model = width, .heads = heads, .dropout = 0});

  std::printf("%zu different words in three sentences\n", vocabulary.size());
  examples::print_shape("embeddings (B, T, D)", x);
  const auto project = [&](const std::string& name, const heed::Tensor& input) {
    return examples::linear(input, layer.parameter(name + ".weight"), layer.parameter(name + ".bias"))
        .reshape(x.shape());
  };
  const heed::Tensor query = project("q_proj", x), key = project("k_proj", x), value = project("v_proj", x);
  examples::print_shape("queries, keys, values (B, T, D)", query);
  examples::print_shape("seen as (B, T, H, d_k)", query.reshape({3, length, heads, width / heads}));
  const heed::Tensor q = heed::split_heads(query, heads), k = heed::split_heads(key, heads),
                     v = heed::split_heads(value, heads);
  examples::print_shape("heads in front (B, H, T, d_k)", q);
  examples::print_shape("scores (B, H, T, T)", heed::attention_scores(q, k, 1 / std::sqrt(2.0)));
  const heed::AttentionResult mixed = heed::scaled_dot_product_attention(q, k, v, {.weights = true});
  examples::print_shape("weights (B, H, T, T)", mixed.weights);
  examples::print_shape("mixed values (B, H, T, d_k)", mixed.output);
  const heed::Tensor merged = heed::merge_heads(mixed.output);
  examples::print_shape("merged (B, T, D)", merged);
  const heed::Tensor output = project("out_proj", merged);
  examples::print_shape("output (B, T, D)", output);

  const heed::AttentionResult whole = layer.forward(x, x, x, {.weights = true});
  const double largest = examples::largest_difference(output, whole.output);
  std::printf("\nThe layer in one call: output %s, weights %s; largest difference %.1e\n",
              whole.output.shape().to_string().c_str(), whole.weights.shape().to_string().c_str(), largest);

  if (const std::string folder = examples::picture_folder(argc, argv); !folder.empty()) {
    std::vector<heed::Heatmap> maps;
    for (int head = 0; head < heads; ++head) {
      maps.push_back({"Head " + std::to_string(head + 1),
                      examples::part(examples::part(whole.weights, 0), head), words[0], words[0]});
    }
    heed::save_heatmaps(
        folder + "shapes.png", maps,
        {.title = "All heads of \"" + sentences[0] + "\", untrained", .scale = "attention weight"});
  }
  return largest < 1e-5 ? 0 : 1;
} catch (const heed::Error& error) {
  return examples::failed(error);
}
