// What the examples share: numbers in the terminal, and where pictures go.
#pragma once

#include <heed/tensor.h>

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

/// Row (or matrix, ...) n of the outermost axis.
inline heed::Tensor part(const heed::Tensor& tensor, int64_t n) {
  std::vector<int64_t> rest(tensor.shape().begin() + 1, tensor.shape().end());
  return tensor.narrow(0, n, 1).clone().reshape(heed::Shape(rest));
}

}  // namespace examples
