// One matrix for all heads, or one for each head? The same numbers. Width 6, two heads: each head asks with 6
// / 2 = 3 numbers. One product with a (6, 6) matrix makes the queries of both heads at once; the rows of that
// matrix are the two (3, 6) matrices that others would keep apart.

#include <heed/attention.h>

#include <algorithm>

#include "show.h"

int main() {
  const int64_t tokens = 4, width = 6;
  const int heads = 2;
  const heed::MultiHeadAttention layer({.d_model = width, .heads = heads, .bias = false});
  const heed::Tensor x = examples::random_tensor({tokens, width});
  const heed::Tensor w_q = layer.parameter("q_proj.weight");
  std::printf("W_q of the layer, for both heads: %s\n", w_q.shape().to_string().c_str());
  examples::print_matrix(w_q);

  // One product, then a look at its columns.
  const heed::Tensor at_once = examples::linear(x, w_q);
  const heed::Tensor split = heed::split_heads(at_once.reshape({1, tokens, width}), heads);
  std::printf("\nqueries of all heads: %s, split: %s\n", at_once.shape().to_string().c_str(),
              split.shape().to_string().c_str());

  double largest = 0;
  for (int head = 0; head < heads; ++head) {
    const heed::Tensor own = w_q.narrow(0, head * width / heads, width / heads).clone();  // (3, 6)
    const heed::Tensor queries = examples::linear(x, own);                                // (4, 3)
    const heed::Tensor same = examples::part(examples::part(split, 0), head);             // (4, 3)
    std::printf("\nhead %d by a matrix of its own, rows %d to %d of W_q: %s\n", head + 1,
                static_cast<int>(head * width / heads) + 1, static_cast<int>((head + 1) * width / heads),
                queries.shape().to_string().c_str());
    examples::print_matrix(queries);
    std::printf("and from the one product:\n");
    examples::print_matrix(same);
    largest = std::max(largest, examples::largest_difference(queries, same));
  }
  std::printf("\nlargest difference: %g\n", largest);
  return largest == 0 ? 0 : 1;
}
