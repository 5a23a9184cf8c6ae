#include "inspect/trace/weight_count.h"

#include <algorithm>

#include "base/check.h"

namespace heed {

int64_t count_weights(const models::Model& model, const TraceLengths& lengths) {
  int64_t count = 0;
  for (const Stack stack : kStacks) {
    auto [layers, heads] = model.attention_heads(stack);
    if (heads == 0 && stack == Stack::kCross) {  // the attention of a recurrent network
      layers = model.layers(stack);
      heads = 1;
    }
    const int64_t queries = stack == Stack::kEncoder ? lengths.encoder : lengths.decoder;
    const int64_t keys = stack == Stack::kDecoder ? lengths.decoder : lengths.encoder;
    count += int64_t{layers} * heads * queries * keys;
  }
  return count;
}

void require_few_weights(const models::Model& model, const TraceLengths& lengths, int64_t most) {
  if (most == 0) return;
  const int64_t count = count_weights(model, lengths);
  if (count <= most) return;
  fail(ErrorKind::kUsage,
       "{} tokens have {} attention weights (one for each head, query and key), and at most {} are shown: "
       "shorten the text",
       std::max(lengths.encoder, lengths.decoder), count, most);
}

}  // namespace heed
