// Batch normalization of each feature over the rows of a batch (Ioffe and Szegedy, 2015):
// y = (x - mean) / sqrt(variance + epsilon) * weight + bias, all of them one number per column.
#pragma once

#include <cstdint>

namespace heed {

/// mean and variance (columns) of the rows of x; the variance divided by the number of rows.
template <typename T>
struct ColumnMomentsArguments {
  int64_t rows = 0, columns = 0;
  const T* x = nullptr;
  T* mean = nullptr;
  T* variance = nullptr;
};
void column_moments(const ColumnMomentsArguments<float>& arguments);
void column_moments(const ColumnMomentsArguments<double>& arguments);

/// y = x * scale + shift with one scale and shift (columns) for all rows.
template <typename T>
struct ScaleColumnsArguments {
  int64_t rows = 0, columns = 0;
  const T* x = nullptr;
  const T* scale = nullptr;
  const T* shift = nullptr;
  T* y = nullptr;
};
void scale_columns(const ScaleColumnsArguments<float>& arguments);
void scale_columns(const ScaleColumnsArguments<double>& arguments);

/// With n = (x - mean) rstd: dweight += sum over rows of dy n; dbias += sum over rows of dy;
/// dx += weight rstd (dy - mean(dy) - n mean(dy n)), or without the two means where mean and rstd are
/// constants.
template <typename T>
struct BatchNormBackwardArguments {
  int64_t rows = 0, columns = 0;
  const T* x = nullptr;
  const T* weight = nullptr;
  const T* mean = nullptr;
  const T* rstd = nullptr;
  const T* dy = nullptr;
  bool constant_moments = false;
  T* dx = nullptr;
  T* dweight = nullptr;
  T* dbias = nullptr;
};
void batch_norm_backward(const BatchNormBackwardArguments<float>& arguments);
void batch_norm_backward(const BatchNormBackwardArguments<double>& arguments);

}  // namespace heed
