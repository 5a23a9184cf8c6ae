// One query, and all that it looks at: "Michael" in a sentence of two directors. First in an untrained layer
// of width 512 with eight heads, whose weights are all near 1 / 9; then in the encoder of a trained
// translator.

#include <heed/attention.h>
#include <heed/picture.h>
#include <heed/translator.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "show.h"

namespace {

const std::string kSentence = "Anthony Hopkins admired Michael Bay as a great director.";
const std::string kQuery = "Michael";

void print_bar(const std::string& name, double weight) {
  std::printf("    %-12s %.2f %s\n", name.c_str(), weight,
              std::string(static_cast<size_t>(std::lround(weight * 50)), '#').c_str());
}

/// The attention of a word's pieces to every word, the mean over heads: (words).
std::vector<double> look(const std::vector<heed::AttentionMatrix>& heads, const examples::Words& words,
                         int word) {
  std::vector<double> weights(words.names.size());
  const auto pieces = static_cast<double>(std::count(words.of_piece.begin(), words.of_piece.end(), word));
  for (const heed::AttentionMatrix& head : heads) {
    for (int query = 0; query < head.queries; ++query) {
      if (words.of_piece[query] != word) continue;
      for (int key = 0; key < head.keys; ++key) {
        weights[words.of_piece[key]] +=
            static_cast<double>(head.at(query, key)) / (pieces * static_cast<double>(heads.size()));
      }
    }
  }
  return weights;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string folder = examples::picture_folder(argc, argv);
  std::vector<std::string> words;
  std::istringstream stream(kSentence);
  for (std::string word; stream >> word;) words.push_back(word);
  const auto asked = std::find(words.begin(), words.end(), kQuery) - words.begin();

  std::printf("\"%s\"\n\nAn untrained layer:\n", kSentence.c_str());
  const auto tokens = static_cast<int64_t>(words.size());
  const heed::Tensor x = examples::random_tensor({1, tokens, 512});
  const heed::MultiHeadAttention untrained_layer({.d_model = 512, .heads = 8, .dropout = 0});
  const heed::AttentionResult result = untrained_layer.forward(x, x, x, {.weights = true});
  examples::print_shape("output, shaped as the input", result.output);
  examples::print_shape("weights (B, H, T, T)", result.weights);
  std::printf("  %s looks at (head 1):\n", kQuery.c_str());
  const heed::Tensor row = examples::part(examples::part(examples::part(result.weights, 0), 0), asked);
  const std::vector<double> untrained = row.to_vector<double>();
  double sum = 0;
  for (size_t n = 0; n < words.size(); ++n) {
    print_bar(words[n], untrained[n]);
    sum += untrained[n];
  }
  std::printf("  together %.4f\n", sum);

  const heed::Translator translator(HEED_MODELS "/en-es");
  const heed::Trace trace = translator.attend(kSentence);
  std::printf("\nA trained encoder, which knows its words as pieces:\n ");
  for (const std::string& token : trace.source_tokens) std::printf(" %s", token.c_str());
  const examples::Words pieces = examples::join_pieces(trace.source_tokens);
  const auto place =
      static_cast<int>(std::find(pieces.names.begin(), pieces.names.end(), kQuery) - pieces.names.begin());
  std::vector<double> trained;
  for (size_t layer = 0; layer < trace.encoder.size(); ++layer) {
    std::printf("\n  layer %zu, mean of heads; %s looks at:\n", layer + 1, kQuery.c_str());
    trained = look(trace.encoder[layer], pieces, place);
    for (size_t key = 0; key < trained.size(); ++key) print_bar(pieces.names[key], trained[key]);
  }
  if (!folder.empty()) {
    heed::save_bars(folder + "one-query-untrained.png", words, untrained,
                    {kQuery + " in an untrained layer, head 1", "", "attention weight"});
    heed::save_bars(folder + "one-query.png", pieces.names, trained,
                    {kQuery + " in the encoder's last layer, mean of heads", "", "attention weight"});
    heed::save_attention(folder + "one-query-heads.png", trace, {.title = "What every head looks at"});
  }
  return std::abs(sum - 1) < 1e-5 ? 0 : 1;
} catch (const heed::Error& error) {
  return examples::failed(error);
}
