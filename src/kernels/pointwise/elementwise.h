// Small kernels over vectors and rows of numbers.
#pragma once

#include <cstdint>

namespace heed {

/// y += factor * x
template <typename T>
struct AddScaledArguments {
  int64_t size = 0;
  T factor = 1;
  const T* x = nullptr;
  T* y = nullptr;
};
void add_scaled(const AddScaledArguments<float>& arguments);
void add_scaled(const AddScaledArguments<double>& arguments);

/// y = x + z
template <typename T>
struct AddArguments {
  int64_t size = 0;
  const T* x = nullptr;
  const T* z = nullptr;
  T* y = nullptr;
};
void add(const AddArguments<float>& arguments);
void add(const AddArguments<double>& arguments);

/// sum (columns) += the sum over the rows of x (rows, columns)
template <typename T>
struct AddRowsArguments {
  int64_t rows = 0, columns = 0;
  const T* x = nullptr;
  int64_t x_stride = 0;
  T* sum = nullptr;
};
void add_rows(const AddRowsArguments<float>& arguments);
void add_rows(const AddRowsArguments<double>& arguments);

/// The activation functions of the feed-forward networks. kGelu is x Phi(x) with the error function,
/// kGeluTanh its approximation (Hendrycks and Gimpel, 2016); kSwish is x sigmoid(x) (Ramachandran et al.,
/// 2017), also called SiLU.
enum class Activation { kRelu, kGelu, kGeluTanh, kSwish, kTanh, kSigmoid };

/// y = f(x), element by element.
template <typename T>
struct ActivationArguments {
  Activation function = Activation::kRelu;
  int64_t size = 0;
  const T* x = nullptr;
  T* y = nullptr;
};
void activate(const ActivationArguments<float>& arguments);
void activate(const ActivationArguments<double>& arguments);

/// dx = dy f'(x)
template <typename T>
struct ActivationBackwardArguments {
  Activation function = Activation::kRelu;
  int64_t size = 0;
  const T* x = nullptr;
  const T* dy = nullptr;
  T* dx = nullptr;
};
void activate_backward(const ActivationBackwardArguments<float>& arguments);
void activate_backward(const ActivationBackwardArguments<double>& arguments);

}  // namespace heed
