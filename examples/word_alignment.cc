// Which heads align words? Of a Transformer's decoder only some look at the counterpart of a word, and they
// do so when they read it, one step after it was written (Chen et al., 2020). On the left the mean of the
// last layer's heads at the step that writes each English word; on the right the heads that the model's
// directory names as alignment_heads, at the step that reads it, each column divided by its sum: what heed
// align makes links of.
//
//   word_alignment [FOLDER]

#include <heed/picture.h>
#include <heed/translator.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "show.h"

namespace {

const std::string kModel = HEED_MODELS "/de-en";
const std::string kSource = "Ich habe gestern das Buch gelesen, das du mir gegeben hast.";
const std::string kTarget = "Yesterday I read the book that you gave me.";

using Head = std::pair<int, int>;  // layer and head, both from 0

/// alignment_heads of generation_config.json: [[layer, head], ...].
std::vector<Head> alignment_heads() {
  std::ifstream file(kModel + "/generation_config.json");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  size_t at = text.find("\"alignment_heads\"");
  if (at == std::string::npos) throw std::runtime_error("the model names no alignment heads");
  std::vector<int> numbers;
  for (int depth = 0; at < text.size(); ++at) {
    if (text[at] == '[') ++depth;
    if (text[at] == ']' && --depth == 0) break;
    const bool digit = text[at] >= '0' && text[at] <= '9';
    if (digit) {
      size_t length = 0;
      numbers.push_back(std::stoi(text.substr(at), &length));
      at += length - 1;
    }
  }
  std::vector<Head> heads;
  for (size_t n = 0; n + 1 < numbers.size(); n += 2) heads.emplace_back(numbers[n], numbers[n + 1]);
  return heads;
}

struct Alignment {
  examples::Words source, target;
  std::vector<float> weights;  ///< (target words, source words)
};

/// The mean of some heads, `later` steps after each token was written, between words; the end of the sentence
/// is left out.
Alignment align(const heed::Trace& trace, const std::vector<Head>& heads, int later) {
  Alignment alignment{
      examples::join_pieces(trace.source_tokens), examples::join_pieces(trace.target_tokens), {}};
  const examples::Words &source = alignment.source, &target = alignment.target;
  const int pieces = static_cast<int>(trace.target_tokens.size()) - 1;
  alignment.weights.resize((target.names.size() - 1) * (source.names.size() - 1));
  for (const auto& [layer, number] : heads) {
    const heed::AttentionMatrix& head = trace.cross[static_cast<size_t>(layer)][static_cast<size_t>(number)];
    for (int piece = 0; piece < pieces; ++piece) {
      for (int key = 0; key + 1 < head.keys; ++key) {
        const auto word = static_cast<size_t>(target.of_piece[static_cast<size_t>(piece)]);
        const auto read = static_cast<size_t>(source.of_piece[static_cast<size_t>(key)]);
        alignment.weights[word * (source.names.size() - 1) + read] +=
            head.at(piece + later, key) / static_cast<float>(heads.size());
      }
    }
  }
  alignment.source.names.pop_back();
  alignment.target.names.pop_back();
  return alignment;
}

void normalize_columns(Alignment& alignment) {
  const size_t columns = alignment.source.names.size();
  for (size_t column = 0; column < columns; ++column) {
    float sum = 0;
    for (size_t at = column; at < alignment.weights.size(); at += columns) sum += alignment.weights[at];
    for (size_t at = column; at < alignment.weights.size(); at += columns) alignment.weights[at] /= sum;
  }
}

/// The source word that a target word looks at most.
std::string partner(const Alignment& alignment, size_t word) {
  const auto columns = static_cast<long>(alignment.source.names.size());
  const auto row = alignment.weights.begin() + static_cast<long>(word) * columns;
  return alignment.source.names[static_cast<size_t>(std::max_element(row, row + columns) - row)];
}

heed::Heatmap picture(const std::string& title, const Alignment& alignment) {
  std::vector<float> weights = alignment.weights;
  for (float& weight : weights) weight = std::min(weight, 1.0F);
  return {title,
          heed::Tensor::from(weights, {static_cast<int64_t>(alignment.target.names.size()),
                                       static_cast<int64_t>(alignment.source.names.size())}),
          alignment.target.names, alignment.source.names};
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string folder = examples::picture_folder(argc, argv);
  const heed::Trace trace = heed::Translator(kModel).attend(kSource, kTarget);
  std::vector<Head> last;
  for (size_t head = 0; head < trace.cross.back().size(); ++head)
    last.emplace_back(static_cast<int>(trace.cross.size()) - 1, static_cast<int>(head));
  const Alignment written = align(trace, last, 0);
  Alignment read = align(trace, alignment_heads(), 1);
  normalize_columns(read);
  std::printf("%-12s %-28s %s\n", "", "written, mean of last layer", "read, alignment heads");
  for (size_t word = 0; word < read.target.names.size(); ++word) {
    std::printf("%-12s %-28s %s\n", read.target.names[word].c_str(), partner(written, word).c_str(),
                partner(read, word).c_str());
  }
  if (!folder.empty()) {
    heed::save_heatmaps(
        folder + "word-alignment.png",
        {picture("mean of the last layer, writing", written), picture("alignment heads, reading", read)},
        {.title = "Where the decoder looks for each English word", .scale = "attention"});
  }
  return partner(read, 0) == "gestern" && partner(read, 2) == "gelesen," ? 0 : 1;
} catch (const heed::Error& error) {
  return examples::failed(error);
}
