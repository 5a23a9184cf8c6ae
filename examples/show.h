// What the examples share: numbers and errors in the terminal, and where pictures go.
#pragma once

#include <heed/error.h>
#include <heed/tensor.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace examples {

/// The folder that pictures are written to: the program's argument, or none are written.
inline std::string picture_folder(int argc, char** argv) {
  return argc > 1 ? std::string(argv[1]) + "/" : "";
}

/// What main() returns after an error, such as a folder that does not exist.
inline int failed(const heed::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}

/// A (rows, columns) matrix, with names in front of the rows where there are any.
inline void print_matrix(const heed::Tensor& matrix, const std::vector<std::string>& rows = {},
                         const char* format = "%8.3f") {
  const std::vector<double> values = matrix.to_vector<double>();
  const int64_t columns = matrix.dim(-1);
  for (int64_t row = 0; row < matrix.size() / columns; ++row) {
    std::printf("  %-10s", rows.empty() ? "" : rows[static_cast<size_t>(row)].c_str());
    for (int64_t column = 0; column < columns; ++column) {
      std::printf(format, values[static_cast<size_t>(row * columns + column)]);
    }
    std::printf("\n");
  }
}

inline void print_shape(const char* name, const heed::Tensor& tensor) {
  std::printf("  %-34s %s\n", name, tensor.shape().to_string().c_str());
}

/// Numbers drawn from a normal distribution, the same ones in every run.
inline heed::Tensor random_tensor(const heed::Shape& shape, double deviation = 1, uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, static_cast<float>(deviation));
  std::vector<float> values(static_cast<size_t>(shape.size()));
  for (float& value : values) value = normal(random);
  return heed::Tensor::from(values, shape);
}

/// x W^T + b: x (..., in), W (out, in), b (out) or none -> (rows of x, out).
inline heed::Tensor linear(const heed::Tensor& x, const heed::Tensor& weight, const heed::Tensor& bias = {}) {
  const int64_t in = weight.dim(1), out = weight.dim(0), rows = x.size() / in;
  const std::vector<float> a = x.to_vector<float>(), w = weight.to_vector<float>();
  const std::vector<float> b =
      bias.defined() ? bias.to_vector<float>() : std::vector<float>(static_cast<size_t>(out));
  std::vector<float> y(static_cast<size_t>(rows * out));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t o = 0; o < out; ++o) {
      float sum = b[o];
      for (int64_t i = 0; i < in; ++i) sum += a[row * in + i] * w[o * in + i];
      y[row * out + o] = sum;
    }
  }
  return heed::Tensor::from(y, {rows, out});
}

/// Of two tensors of one size.
inline double largest_difference(const heed::Tensor& one, const heed::Tensor& other) {
  const std::vector<double> a = one.to_vector<double>(), b = other.to_vector<double>();
  double largest = 0;
  for (size_t n = 0; n < a.size(); ++n) largest = std::max(largest, std::abs(a[n] - b[n]));
  return largest;
}

/// The words that pieces make: "▁" begins one, and the end of the sentence is one of its own.
struct Words {
  std::vector<std::string> names;
  std::vector<int> of_piece;
};

inline Words join_pieces(const std::vector<std::string>& pieces) {
  const std::string mark = "▁", end = "</s>";
  Words words;
  for (const std::string& piece : pieces) {
    const bool begins = piece.rfind(mark, 0) == 0;
    if (begins || piece == end || words.names.empty()) words.names.emplace_back();
    words.names.back() += begins ? piece.substr(mark.size()) : piece;
    words.of_piece.push_back(static_cast<int>(words.names.size()) - 1);
  }
  return words;
}

/// Row (or matrix, ...) n of the outermost axis.
inline heed::Tensor part(const heed::Tensor& tensor, int64_t n) {
  std::vector<int64_t> rest(tensor.shape().begin() + 1, tensor.shape().end());
  return tensor.narrow(0, n, 1).clone().reshape(heed::Shape(rest));
}

}  // namespace examples
