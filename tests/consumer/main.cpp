// A program that uses an installed Heed through its public headers. Given a version, it insists on it.
#include <heed/attention.h>
#include <heed/error.h>
#include <heed/version.h>

#include <cmath>
#include <cstring>
#include <iostream>
#include <vector>

namespace {

int failed(const char* what) {
  std::cerr << what << '\n';
  return 1;
}

/// Three sentences of six tokens at most, eight numbers each, four heads: shapes, masks, weights, gradients.
int attend() {
  std::vector<float> numbers(3 * 6 * 8);
  for (size_t n = 0; n < numbers.size(); ++n) numbers[n] = std::sin(static_cast<float>(n));
  const heed::Tensor x = heed::Tensor::from(numbers, {3, 6, 8});
  heed::MultiHeadAttention attention({.d_model = 8, .heads = 4, .dropout = 0});
  heed::AttentionOptions options{
      .padding = heed::padding_mask({6, 4, 5}, 6), .look_ahead = true, .weights = true};
  const heed::AttentionResult result = attention.forward(x, x, x, options);
  std::cout << "attention " << result.output.shape().to_string() << ", weights "
            << result.weights.shape().to_string() << '\n';
  if (result.weights.shape().to_string() != "(3, 4, 6, 6)") return failed("weights have another shape");
  const std::vector<float> weights = result.weights.to_vector<float>();
  for (size_t row = 0; row < weights.size(); row += 6) {
    float sum = 0;
    for (size_t k = 0; k < 6; ++k) sum += weights[row + k];
    if (std::abs(sum - 1) > 1e-5f) return failed("weights of a query do not sum to 1");
    for (size_t k = row / 6 % 6 + 1; k < 6; ++k) {
      if (weights[row + k] != 0) return failed("a query sees what comes later");
    }
  }
  attention.forward_training(x, x, x, options);
  const heed::AttentionGradients gradients = attention.backward(x);
  if (gradients.parameters.size() != attention.parameter_names().size())
    return failed("gradients are missing");
  try {
    heed::MultiHeadAttention({.d_model = 512, .heads = 7});
    return failed("7 heads were accepted");
  } catch (const heed::Error& error) {
    std::cout << error.what() << '\n';
    return error.kind() == heed::ErrorKind::kShape ? 0 : 1;
  }
}

}  // namespace

int main(int count, char** arguments) {
  const char* expected = count > 1 ? arguments[1] : HEED_VERSION;
  std::cout << "heed " << heed::version() << ", headers of " << HEED_VERSION << '\n';
  if (std::strcmp(heed::version(), expected) != 0 || std::strcmp(HEED_VERSION, expected) != 0) {
    std::cerr << "expected version " << expected << '\n';
    return 1;
  }
  return attend();
}
