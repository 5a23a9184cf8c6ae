// Who gives the flower? Attention compares words and does not see where they stand: "Mary gives John a
// flower" and "John gives Mary a flower" come out as the same vectors, until each word knows its place.
// Absolute positions are added to the words; relative ones are part of attention, and do not notice that a
// whole sentence has moved.

#include <heed/attention.h>
#include <heed/picture.h>
#include <heed/positions.h>

#include <algorithm>
#include <map>

#include "show.h"

namespace {

const std::vector<std::string> kMary{"Mary", "gives", "John", "a", "flower"};
const std::vector<std::string> kJohn{"John", "gives", "Mary", "a", "flower"};
constexpr int64_t kWidth = 16;

/// The sentence's vectors, after `moved` other words: (1, T, D).
heed::Tensor embed(const std::vector<std::string>& words, int64_t moved, bool absolute) {
  static std::map<std::string, uint64_t> ids;
  const int64_t length = static_cast<int64_t>(words.size()) + moved;
  std::vector<float> numbers;
  const std::vector<float> places = heed::sinusoidal_positions(length, kWidth).to_vector<float>();
  for (int64_t place = 0; place < length; ++place) {
    const std::string word = place < moved ? "uh" : words[static_cast<size_t>(place - moved)];
    const uint64_t id = ids.emplace(word, ids.size() + 1).first->second;
    const std::vector<float> vector = examples::random_tensor({kWidth}, 1, id).to_vector<float>();
    for (int64_t n = 0; n < kWidth; ++n) {
      numbers.push_back(vector[n] + (absolute ? places[place * kWidth + n] : 0));
    }
  }
  return heed::Tensor::from(numbers, {1, length, kWidth});
}

/// What self-attention makes of each word; the words in front of the sentence are hidden.
heed::Tensor attend(const std::vector<std::string>& words, heed::PositionKind kind, int64_t moved) {
  const bool absolute = kind == heed::PositionKind::kSinusoidalInterleaved;
  heed::MultiHeadAttentionOptions options{.d_model = kWidth, .heads = 2, .dropout = 0};
  if (!absolute) options.positions.kind = kind;
  heed::MultiHeadAttention layer(options);
  if (kind == heed::PositionKind::kBuckets) {  // they begin at 0, and would say nothing
    const std::string bias = "relative_attention_bias.weight";
    layer.set_parameter(bias, examples::random_tensor(layer.parameter(bias).shape()));
  }
  const heed::Tensor x = embed(words, moved, absolute);
  std::vector<uint8_t> seen(static_cast<size_t>(x.dim(1)), 1);
  std::fill_n(seen.begin(), moved, uint8_t{0});
  const heed::Tensor mask = heed::Tensor::from(seen, {1, x.dim(1)});
  const heed::Tensor all = layer.forward(x, x, x, {.padding = mask}).output;
  return examples::part(all, 0).narrow(0, moved, x.dim(1) - moved).clone();  // (T, D)
}

}  // namespace

int main(int argc, char** argv) try {
  struct Case {
    const char* name;
    heed::PositionKind kind;
    bool tells_order, stays;
  };
  const std::vector<Case> cases{{"none", heed::PositionKind::kNone, false, true},
                                {"sinusoidal", heed::PositionKind::kSinusoidalInterleaved, true, false},
                                {"relative (Shaw)", heed::PositionKind::kRelative, true, true},
                                {"buckets (T5)", heed::PositionKind::kBuckets, true, true},
                                {"rotary", heed::PositionKind::kRotary, true, true}};
  std::printf(
      "How far the vector of \"Mary\" is, as giver and as receiver, and of a sentence three places "
      "later:\n\n");
  std::printf("  positions          Mary gives / gives Mary     moved by three\n");
  bool right = true;
  for (const Case& each : cases) {
    const auto mary = attend(kMary, each.kind, 0), john = attend(kJohn, each.kind, 0),
               moved = attend(kMary, each.kind, 3);
    const double order = examples::largest_difference(examples::part(mary, 0), examples::part(john, 2));
    const double shift = examples::largest_difference(mary, moved);
    std::printf("  %-18s %10.5f %-12s %10.5f %s\n", each.name, order, order < 1e-5 ? "the same" : "", shift,
                shift < 1e-5 ? "the same" : "");
    right = right && (order > 1e-4) == each.tells_order && (shift < 1e-5) == each.stays;
  }
  std::printf(
      "\nWithout positions Mary is Mary, whoever gives. Relative ones tell, and do not mind where a "
      "sentence\n"
      "begins; absolute ones do.\n");
  if (const std::string folder = examples::picture_folder(argc, argv); !folder.empty()) {
    heed::save_heatmaps(
        folder + "positions-sinusoidal.png",
        {{"the paper's order", heed::sinusoidal_positions(40, 64)},
         {"all sines first", heed::sinusoidal_positions(40, 64, heed::SinusoidLayout::kHalves)}},
        {.title = "Sinusoidal positions",
         .scale = "added value",
         .x_name = "feature, 0 to 63",
         .y_name = "position, 0 to 39",
         .least = -1,
         .most = 1,
         .per_row = 2});
    const heed::Tensor shaw = heed::distance_rows(
                           {.kind = heed::PositionKind::kRelative, .max_relative_distance = 4}, 16, 16),
                       buckets = heed::distance_rows({.kind = heed::PositionKind::kBuckets,
                                                      .buckets = 9,
                                                      .bucket_max_distance = 16,
                                                      .bidirectional = false},
                                                     16, 16);
    heed::save_heatmaps(folder + "positions-distances.png",
                        {{"relative, clipped at 4", shaw}, {"buckets, later keys share one", buckets}},
                        {.title = "Which row of a table a query takes for each key",
                         .scale = "row",
                         .x_name = "key",
                         .y_name = "query",
                         .least = 0,
                         .most = 8,
                         .decimals = 0});
  }
  return right ? 0 : 1;
} catch (const heed::Error& error) {
  return examples::failed(error);
}
