// The lecture's worked example, to the printed digit: eight words of 16 numbers, attention without any
// parameters, with three matrices, and with eight heads. The lecture drew its numbers with PyTorch; the
// generator is the Mersenne twister of the C++ library, so that they can be drawn here as well.

#include <heed/attention.h>

#include <cmath>
#include <random>

#include "show.h"

namespace {

/// torch.rand after torch.manual_seed: the low 24 bits of each draw, as a fraction.
class TorchRandom {
 public:
  explicit TorchRandom(uint32_t seed) : twister_(seed) {}

  heed::Tensor uniform(const heed::Shape& shape) {
    std::vector<float> values(static_cast<size_t>(shape.size()));
    for (float& value : values) value = static_cast<float>(twister_() & 0xffffff) / 0x1p24f;
    return heed::Tensor::from(values, shape);
  }

  /// torch.randn: Box and Muller's pairs, eight apart in each sixteen numbers.
  heed::Tensor normal(const heed::Shape& shape) {
    std::vector<float> values = uniform(shape).to_vector<float>();
    for (size_t block = 0; block < values.size(); block += 16) {
      for (size_t n = block; n < block + 8; ++n) {
        const float radius = std::sqrt(-2 * std::log(1 - values[n]));
        const float angle = 2 * 3.14159265358979323846f * values[n + 8];
        values[n] = radius * std::cos(angle);
        values[n + 8] = radius * std::sin(angle);
      }
    }
    return heed::Tensor::from(values, shape);
  }

 private:
  std::mt19937 twister_;
};

void print(const char* name, const std::vector<float>& values, const char* format = "%9.4f") {
  std::printf("%s\n ", name);
  for (size_t n = 0; n < values.size(); ++n) {
    if (n > 0 && n % 8 == 0) std::printf("\n ");
    std::printf(format, static_cast<double>(values[n]));
  }
  std::printf("\n");
}

std::vector<float> row(const heed::Tensor& matrix, int64_t n) {
  return examples::part(matrix, n).to_vector<float>();
}

bool is(float value, double printed) {
  return std::abs(static_cast<double>(value) - printed) < 5.1e-5;
}

}  // namespace

int main() {
  const int64_t width = 16;
  // An embedding for ten words, of which the sentence has eight.
  const heed::Tensor embedding = TorchRandom(123).normal({10, width});
  std::vector<float> numbers;
  for (const int64_t word : {0, 7, 1, 2, 5, 6, 4, 3}) {
    const std::vector<float> vector = row(embedding, word);
    numbers.insert(numbers.end(), vector.begin(), vector.end());
  }
  const heed::Tensor x = heed::Tensor::from(numbers, {8, width});

  std::printf("Without parameters: w_ij = x_i . x_j, softmax over j, z_i = sum of a_ij x_j\n");
  const heed::AttentionResult plain = heed::plain_self_attention(x),
                              loops = heed::plain_self_attention_in_loops(x);
  const std::vector<float> z = row(plain.output, 1);
  print("z_2", z, "%12.4e");
  const double largest = examples::largest_difference(plain.output, loops.output);
  std::printf("matrices against loops: largest difference %.1e\n", largest);

  std::printf("\nWith U_query, U_key, U_value: scores divided by sqrt(d_k) = 4\n");
  TorchRandom random(123);
  heed::SelfAttentionMatrices u;
  u.query = random.uniform({width, width});
  u.key = random.uniform({width, width});
  u.value = random.uniform({width, width});
  const heed::AttentionResult attention = heed::self_attention(x, u, {.weights = true});
  const std::vector<float> weights = row(attention.weights, 1), context = row(attention.output, 1);
  const heed::Tensor scores =
      heed::attention_scores(examples::linear(x, u.query), examples::linear(x, u.key), 1);
  const std::vector<float> omega = row(scores, 1);
  print("omega_2", omega);
  print("weights of word 2", weights, "%12.4e");
  print("context vector of word 2", context);

  std::printf("\nEight heads, each with matrices of its own\n");
  TorchRandom again(123);
  again.uniform({width, width});
  const heed::Tensor queries = again.uniform({8, width, width}), keys = again.uniform({8, width, width});
  const std::vector<float> key = row(examples::linear(x, examples::part(keys, 2)), 1);
  print("key of word 2 in head 3", key);

  const bool right = is(omega[2], 14.3667) && is(omega[4], 53.8976) && is(weights[4], 0.85596) &&
                     is(context[0], -1.2226) && is(context[15], -3.3499) && is(z[0], -0.93975) &&
                     is(z[15], -2.1601) && is(key[0], -1.9619) && is(key[15], -1.4401) && largest < 1e-5;
  std::printf("\nThe lecture printed omega_23 = 14.3667 and so on: %s\n",
              right ? "the same digits" : "OTHER digits");
  return right ? 0 : 1;
}
