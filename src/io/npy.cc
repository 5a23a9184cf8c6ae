#include "io/npy.h"

#include <bit>

#include "base/check.h"
#include "base/files/file.h"

namespace heed {
namespace {

constexpr size_t kAlignment = 64;  // of the data

/// Magic string, version, length of the rest of the header in two bytes, and the description of the array,
/// padded with spaces.
std::string header_of(const Shape& shape) {
  std::string lengths;
  for (const int64_t length : shape) lengths += fmt::format("{}, ", length);
  std::string description =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", lengths);
  constexpr size_t kBefore = 10;
  const size_t size = (kBefore + description.size() + kAlignment) / kAlignment * kAlignment;
  description.resize(size - kBefore - 1, ' ');
  description += '\n';
  std::string header = "\x93NUMPY";
  header += {'\x01', '\x00', static_cast<char>(description.size() % 256),
             static_cast<char>(description.size() / 256)};
  return header + description;
}

}  // namespace

void write_npy(const std::string& path, const Tensor& tensor) {
  static_assert(std::endian::native == std::endian::little);
  HEED_CHECK(tensor.dtype() == DType::kFloat32 && tensor.is_contiguous());
  AtomicFile file(path);
  file.write(header_of(tensor.shape()));
  file.write(tensor.data<float>(), static_cast<size_t>(tensor.size()) * sizeof(float));
  file.commit();
}

}  // namespace heed
