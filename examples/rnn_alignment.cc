// Before the Transformer: a recurrent network reads the sentence word by word, and for each word that it
// writes looks back at everything it has read (Bahdanau, Cho and Bengio, 2015). Its weights are the
// alignment: which German word an English one comes from, where the order of words differs. Beside it the
// last layer of a Transformer, which looks back as well, but with eight heads: their mean.
//
//   rnn_alignment [FOLDER]

#include <heed/picture.h>
#include <heed/translator.h>

#include <algorithm>
#include <cmath>

#include "show.h"

namespace {

// The sentence of the lecture, in lower case, which is what the recurrent model has learnt.
const std::string kSource = "kannst du mir helfen diesen satz zu uebersetzen";
const std::string kTarget = "can you help me to translate this sentence";

/// What each written word took from each read word: the mean of the heads and of the pieces of the written
/// word, the sum over those of the read one.
struct Alignment {
  examples::Words source, target;
  std::vector<float> weights;  ///< (target words, source words)

  float at(size_t written, size_t read) const { return weights[written * source.names.size() + read]; }
};

Alignment align(const heed::Trace& trace) {
  Alignment alignment{
      examples::join_pieces(trace.source_tokens), examples::join_pieces(trace.target_tokens), {}};
  const examples::Words &source = alignment.source, &target = alignment.target;
  alignment.weights.resize(target.names.size() * source.names.size());
  const std::vector<heed::AttentionMatrix>& heads = trace.cross.back();
  for (const heed::AttentionMatrix& head : heads) {
    for (int query = 0; query < head.queries; ++query) {
      const int word = target.of_piece[query];
      const auto pieces = std::count(target.of_piece.begin(), target.of_piece.end(), word);
      for (int key = 0; key < head.keys; ++key) {
        alignment.weights[word * source.names.size() + source.of_piece[key]] +=
            head.at(query, key) / static_cast<float>(pieces * static_cast<long>(heads.size()));
      }
    }
  }
  return alignment;
}

/// The read word that a written one looks at most.
std::string partner(const Alignment& alignment, const std::string& written) {
  const auto& names = alignment.target.names;
  const auto word = std::find(names.begin(), names.end(), written) - names.begin();
  const auto row = alignment.weights.begin() + word * static_cast<long>(alignment.source.names.size());
  return alignment.source
      .names[std::max_element(row, row + static_cast<long>(alignment.source.names.size())) - row];
}

heed::Heatmap picture(const std::string& title, const Alignment& alignment) {
  const heed::Shape shape{static_cast<int64_t>(alignment.target.names.size()),
                          static_cast<int64_t>(alignment.source.names.size())};
  return {title, heed::Tensor::from(alignment.weights, shape), alignment.target.names,
          alignment.source.names};
}

void print(const char* title, const Alignment& alignment) {
  std::printf("%s\n", title);
  for (const std::string& word : alignment.target.names) {
    std::printf("  %-10s looks most at %s\n", word.c_str(), partner(alignment, word).c_str());
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string folder = examples::picture_folder(argc, argv);
  const Alignment recurrent = align(heed::Translator(HEED_MODELS "/rnn").attend(kSource, kTarget));
  const Alignment attentive = align(heed::Translator(HEED_MODELS "/de-en").attend(kSource, kTarget));
  std::printf("read: %s\nwritten: %s\n\n", kSource.c_str(), kTarget.c_str());
  print("A recurrent network with attention:", recurrent);
  print("A Transformer's last layer, mean of heads:", attentive);
  if (!folder.empty()) {
    heed::save_heatmaps(
        folder + "rnn-alignment.png",
        {picture("recurrent network", recurrent), picture("Transformer, last layer", attentive)},
        {.title = "What each English word took from the German ones", .scale = "attention"});
  }
  return partner(recurrent, "help") == "helfen" && partner(recurrent, "sentence") == "satz" ? 0 : 1;
} catch (const heed::Error& error) {
  return examples::failed(error);
}
