// Which heads and layers of a translation model carry gender, number and negation? Pairs of sentences differ
// in one of these ("Der Mann liest." and "Die Frau liest."). The output of each head and each sub-layer of
// the one takes the place of the same output in the other, and the translation of the first becomes likelier
// again: by which share of the difference, in the mean of all pairs?
//
//   what_carries [FOLDER [MODEL [HOW MANY [PAIRS.tsv]]]]
//
// HOW MANY: pairs of each difference, by default 8. Lines of PAIRS.tsv are LANGUAGE, DIFFERENCE, TEXT and
// OTHER TEXT, separated by tabs. Those of the model's source language are used, the beginning of its folder's
// name.

#include <heed/inspector.h>
#include <heed/picture.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "show.h"

namespace {

struct Pair {
  std::string difference, text, other;
};

std::vector<Pair> read_pairs(const std::string& path, const std::string& wanted_language) {
  std::ifstream file(path);
  std::vector<Pair> pairs;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    std::string language;
    Pair pair;
    std::getline(fields, language, '\t');
    std::getline(fields, pair.difference, '\t');
    std::getline(fields, pair.text, '\t');
    std::getline(fields, pair.other, '\t');
    if (language == wanted_language) pairs.push_back(pair);
  }
  return pairs;
}

/// Sums of effects over pairs.
struct Sums {
  std::vector<std::string> rows, columns;
  std::vector<double> values;

  void add(const heed::PatchMap& map) {
    rows = map.rows;
    columns = map.columns;
    values.resize(map.effects.size());
    for (size_t n = 0; n < values.size(); ++n) values[n] += static_cast<double>(map.effects[n]);
  }
  double mean(size_t row, size_t column, int pairs) const {
    return values[row * columns.size() + column] / pairs;
  }
};

/// All pairs with one difference.
struct Carried {
  int pairs = 0, left_out = 0;
  double difference = 0;               // of ln P
  double at_words = 0, elsewhere = 0;  // the largest effect of a position of the encoder's output
  std::map<std::string, Sums> heads, layers;
};

bool is_aligned(const heed::Patching& patching) {
  return patching.source_tokens.size() == patching.other_tokens.size();
}

/// At the words that differ and at the others, after the last layer of the encoder.
void add_positions(const heed::Patching& positions, Carried& carried) {
  const std::vector<float>& effects = positions.encoder.effects;
  const size_t tokens = positions.source_tokens.size();
  double at_words = 0, elsewhere = 0;
  for (size_t n = 0; n < tokens; ++n) {
    const auto effect = static_cast<double>(effects[effects.size() - tokens + n]);
    double& largest = positions.source_tokens[n] == positions.other_tokens[n] ? elsewhere : at_words;
    largest = std::max(largest, effect);
  }
  carried.at_words += at_words;
  carried.elsewhere += elsewhere;
}

void add(const heed::Inspector& inspector, const Pair& pair, Carried& carried) {
  const double least_difference = 1;  // below, effects are ratios of small numbers
  const heed::Patching heads = inspector.patch(pair.text, pair.other);
  if (!is_aligned(heads) || heads.clean - heads.corrupted < least_difference) {
    ++carried.left_out;
    return;
  }
  ++carried.pairs;
  carried.difference += heads.clean - heads.corrupted;
  carried.heads["encoder"].add(heads.encoder);
  carried.heads["decoder"].add(heads.decoder);
  carried.heads["cross"].add(heads.cross);
  const heed::Patching layers = inspector.patch(pair.text, pair.other, {.what = heed::PatchedPart::kLayers});
  carried.layers["encoder"].add(layers.encoder);
  carried.layers["decoder"].add(layers.decoder);
  add_positions(inspector.patch(pair.text, pair.other, {.what = heed::PatchedPart::kPositions}), carried);
}

void print_layers(const Carried& carried) {
  for (const auto& [stack, sums] : carried.layers) {
    std::printf("  %-9s", stack.c_str());
    for (const std::string& part : sums.columns) std::printf(" %15s", part.c_str());
    std::printf("\n");
    for (size_t row = 0; row < sums.rows.size(); ++row) {
      std::printf("  layer %-3s", sums.rows[row].c_str());
      for (size_t n = 0; n < sums.columns.size(); ++n)
        std::printf(" %15.2f", sums.mean(row, n, carried.pairs));
      std::printf("\n");
    }
  }
}

void print_heads(const Carried& carried) {
  std::vector<std::pair<double, std::string>> all;
  for (const auto& [stack, sums] : carried.heads) {
    for (size_t row = 0; row < sums.rows.size(); ++row) {
      for (size_t head = 0; head < sums.columns.size(); ++head) {
        all.emplace_back(sums.mean(row, head, carried.pairs),
                         stack + " " + sums.rows[row] + "." + sums.columns[head]);
      }
    }
  }
  std::sort(all.rbegin(), all.rend());
  all.resize(std::min<size_t>(all.size(), 6));
  std::printf("  heads:");
  for (const auto& [effect, name] : all) std::printf("  %s %.2f", name.c_str(), effect);
  std::printf("\n");
}

/// The heads of all stacks, one below the other.
heed::Heatmap heatmap_of(const std::string& title, const Carried& carried) {
  heed::Heatmap map;
  map.title = title;
  std::vector<float> values;
  for (const char* stack : {"encoder", "decoder", "cross"}) {
    const Sums& sums = carried.heads.at(stack);
    for (const std::string& row : sums.rows) map.rows.push_back(std::string(stack) + " " + row);
    map.columns = sums.columns;
    for (const double value : sums.values) values.push_back(static_cast<float>(value / carried.pairs));
  }
  map.values = heed::Tensor::from(
      values, {static_cast<int64_t>(map.rows.size()), static_cast<int64_t>(map.columns.size())});
  return map;
}

/// What cross-attention brings back in the layer where it brings back most.
double largest_cross_attention(const Carried& carried) {
  const Sums& decoder = carried.layers.at("decoder");
  double largest = 0;
  for (size_t row = 0; row < decoder.rows.size(); ++row) {
    largest = std::max(largest, decoder.mean(row, 2, carried.pairs));
  }
  return largest;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string folder = examples::picture_folder(argc, argv);
  const std::string model = argc > 2 ? argv[2] : HEED_MODELS "/de-en";
  const std::string name = std::filesystem::path(model).filename().string();
  const int most = argc > 3 ? std::atoi(argv[3]) : 8;
  const std::vector<Pair> pairs = read_pairs(argc > 4 ? argv[4] : HEED_PAIRS, name.substr(0, 2));
  const heed::Inspector inspector(model);
  std::map<std::string, Carried> differences;
  for (const Pair& pair : pairs) {
    Carried& carried = differences[pair.difference];
    if (carried.pairs + carried.left_out < most) add(inspector, pair, carried);
  }
  if (differences.empty()) {
    std::fprintf(stderr, "there are no pairs in the source language of '%s'\n", name.c_str());
    return 1;
  }
  bool as_claimed = true;
  std::vector<heed::Heatmap> maps;
  for (const char* difference : {"gender", "number", "negation"}) {
    const Carried& carried = differences.at(difference);
    std::printf("%s: %d pairs (%d left out), ln P falls by %.1f in the mean\n", difference, carried.pairs,
                carried.left_out, carried.difference / carried.pairs);
    print_layers(carried);
    print_heads(carried);
    std::printf("  encoder's output: %.2f at a word that differs, %.2f elsewhere\n\n",
                carried.at_words / carried.pairs, carried.elsewhere / carried.pairs);
    maps.push_back(heatmap_of(difference, carried));
    // The claim: one sub-layer of cross-attention suffices for most of it.
    as_claimed = as_claimed && largest_cross_attention(carried) > 0.5;
  }
  if (!folder.empty()) {
    heed::save_heatmaps(
        folder + "what-carries-" + name + ".png", maps,
        {.title = "What each head carries, " + name, .scale = "effect", .x_name = "head", .decimals = 2});
  }
  return as_claimed ? 0 : 1;
} catch (const heed::Error& error) {
  return examples::failed(error);
}
