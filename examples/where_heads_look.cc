// "Early layers look blurred; later ones concentrate near the diagonal, and at the end on the first and the
// last token." This is often said of heat maps of a Transformer. Is it true? Three numbers for each head of
// the encoder, over many sentences:
//   entropy   the entropy of a query's weights, divided by the logarithm of the number of keys: 1 is uniform
//             attention, 0 attention to a single token
//   diagonal  the weight on the query's own token and its two neighbours
//   ends      the weight on the first token and on the last, which is the end of the sentence
// The last two are compared with those of uniform attention.
//
//   where_heads_look [FOLDER [MODEL SENTENCES.txt [HOW MANY]]]

#include <heed/picture.h>
#include <heed/translator.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "show.h"

namespace {

struct Look {
  double entropy = 0, diagonal = 0, ends = 0, queries = 0;
};

/// The mean over all queries of a matrix is added.
void add(const heed::AttentionMatrix& head, Look& to) {
  for (int query = 0; query < head.queries; ++query) {
    double entropy = 0, diagonal = 0;
    for (int key = 0; key < head.keys; ++key) {
      const auto weight = static_cast<double>(head.at(query, key));
      if (weight > 0) entropy -= weight * std::log(weight);
      if (std::abs(query - key) <= 1) diagonal += weight;
    }
    to.entropy += entropy / std::log(head.keys);
    to.diagonal += diagonal;
    to.ends += static_cast<double>(head.at(query, 0)) + static_cast<double>(head.at(query, head.keys - 1));
    ++to.queries;
  }
}

/// A head that looks evenly at everything.
heed::AttentionMatrix even(int length) {
  return {length, length,
          std::vector<float>(static_cast<size_t>(length) * length, 1.0f / static_cast<float>(length))};
}

std::vector<std::string> read_sentences(int argc, char** argv) {
  if (argc < 4) {
    return {"He admired her as a great director.", "Where did you learn to swim?",
            "The old man sat in the sun.",         "I don't know what you are talking about.",
            "She gave him a book about birds.",    "We have been waiting here for two hours."};
  }
  const size_t most = argc > 4 ? static_cast<size_t>(std::atol(argv[4])) : 1000;
  std::ifstream file(argv[3]);
  std::vector<std::string> sentences;
  for (std::string line; sentences.size() < most && std::getline(file, line);) {
    if (!line.empty()) sentences.push_back(line);
  }
  if (sentences.empty()) std::fprintf(stderr, "'%s' holds no sentences\n", argv[3]);
  return sentences;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string folder = examples::picture_folder(argc, argv);
  const heed::Translator translator(argc > 2 ? argv[2] : HEED_MODELS "/en-es");
  const std::vector<std::string> sentences = read_sentences(argc, argv);
  std::vector<std::vector<Look>> looks;
  Look by_chance;
  for (const std::string& sentence : sentences) {
    const heed::Trace trace = translator.attend(sentence);
    looks.resize(trace.encoder.size());
    for (size_t layer = 0; layer < trace.encoder.size(); ++layer) {
      looks[layer].resize(trace.encoder[layer].size());
      for (size_t head = 0; head < looks[layer].size(); ++head)
        add(trace.encoder[layer][head], looks[layer][head]);
    }
    add(even(trace.encoder[0][0].keys), by_chance);
  }
  if (looks.empty()) return 1;

  std::printf("%zu sentences, %.0f queries for each head\n\n", sentences.size(), by_chance.queries);
  std::printf("  layer head entropy diagonal   ends\n");
  std::vector<heed::Heatmap> maps;
  std::vector<std::string> layers, heads;
  for (size_t head = 0; head < looks[0].size(); ++head) heads.push_back(std::to_string(head + 1));
  std::vector<float> entropy, diagonal, ends;
  for (size_t layer = 0; layer < looks.size(); ++layer) {
    layers.push_back("layer " + std::to_string(layer + 1));
    Look mean;
    for (size_t head = 0; head < looks[layer].size(); ++head) {
      const Look& l = looks[layer][head];
      entropy.push_back(static_cast<float>(l.entropy / l.queries));
      diagonal.push_back(static_cast<float>(l.diagonal / l.queries));
      ends.push_back(static_cast<float>(l.ends / l.queries));
      std::printf("  %5zu %4zu   %5.2f    %5.2f  %5.2f\n", layer + 1, head + 1, l.entropy / l.queries,
                  l.diagonal / l.queries, l.ends / l.queries);
      mean = {mean.entropy + l.entropy, mean.diagonal + l.diagonal, mean.ends + l.ends,
              mean.queries + l.queries};
    }
    std::printf("  %5zu mean   %5.2f    %5.2f  %5.2f\n\n", layer + 1, mean.entropy / mean.queries,
                mean.diagonal / mean.queries, mean.ends / mean.queries);
  }
  std::printf("  uniform      %5.2f    %5.2f  %5.2f\n", by_chance.entropy / by_chance.queries,
              by_chance.diagonal / by_chance.queries, by_chance.ends / by_chance.queries);
  if (!folder.empty()) {
    const heed::Shape shape{static_cast<int64_t>(layers.size()), static_cast<int64_t>(heads.size())};
    heed::save_heatmaps(folder + "where-heads-look.png",
                        {{"entropy", heed::Tensor::from(entropy, shape), layers, heads},
                         {"on the diagonal", heed::Tensor::from(diagonal, shape), layers, heads},
                         {"on the ends", heed::Tensor::from(ends, shape), layers, heads}},
                        {.title = "Where the heads of the encoder look", .scale = "share", .decimals = 2});
  }
  return 0;
} catch (const heed::Error& error) {
  return examples::failed(error);
}
