// Heads are a logical split: nothing is computed, numbers are only counted off. To see where each one goes,
// take nine tokens of width 512 that hold 1, 2, 3, ... 4608 in order, and cut them into eight heads.

#include <heed/attention.h>
#include <heed/picture.h>

#include <algorithm>
#include <numeric>

#include "show.h"

int main(int argc, char** argv) try {
  const int64_t tokens = 9, width = 512;
  const int heads = 8;
  std::vector<float> numbers(tokens * width);
  std::iota(numbers.begin(), numbers.end(), 1.0f);
  const heed::Tensor x = heed::Tensor::from(numbers, {1, tokens, width});

  std::printf("The way of the shapes:\n");
  examples::print_shape("one sentence of nine tokens", x);
  examples::print_shape("each token's 512 as 8 times 64", x.reshape({1, tokens, heads, width / heads}));
  const heed::Tensor split = heed::split_heads(x, heads);
  examples::print_shape("heads in front", split);

  std::printf("\nWhich numbers landed where (first and last of each token's 64):\n");
  const std::vector<float> landed = split.to_vector<float>();
  for (int head = 0; head < heads; ++head) {
    std::printf("  head %d:", head + 1);
    for (const int64_t token : {0, 1, 8}) {
      const size_t first = static_cast<size_t>((head * tokens + token) * width / heads);
      std::printf("%s token %d: %4.0f ..%5.0f", token == 0 ? "" : ",", static_cast<int>(token) + 1,
                  landed[first], landed[first + static_cast<size_t>(width / heads) - 1]);
    }
    std::printf("\n");
  }
  std::printf(
      "A head has 64 neighbouring columns of every token: head 2 begins at 65, and at 577 = 512 + 65.\n");

  const heed::Tensor merged = heed::merge_heads(split);
  const bool same = merged.to_vector<float>() == numbers;
  std::printf("\nMerged again: %s, and all numbers are %s.\n", merged.shape().to_string().c_str(),
              same ? "back in their places" : "NOT where they were");

  if (const std::string folder = examples::picture_folder(argc, argv); !folder.empty()) {
    // Of each head's 64 columns the first two and the last.
    const int64_t head_width = width / heads;
    const std::vector<int64_t> shown{0, 1, head_width - 1};
    std::vector<heed::Heatmap> maps;
    for (int head = 0; head < heads; ++head) {
      std::vector<float> corner;
      for (int64_t token = 0; token < tokens; ++token) {
        for (const int64_t column : shown) {
          corner.push_back(landed[static_cast<size_t>((head * tokens + token) * head_width + column)]);
        }
      }
      maps.push_back({"Head " + std::to_string(head + 1),
                      heed::Tensor::from(corner, {tokens, 3}),
                      {"token 1", "2", "3", "4", "5", "6", "7", "8", "9"},
                      {"1", "2", "64"}});
    }
    heed::save_heatmaps(folder + "split-heads.png", maps,
                        {.title = "1 to 4608 in eight heads: columns 1, 2 and 64 of each",
                         .scale = "number",
                         .least = 1,
                         .most = 4608,
                         .decimals = 0,
                         .per_row = 4});
  }
  return same ? 0 : 1;
} catch (const heed::Error& error) {
  return examples::failed(error);
}
