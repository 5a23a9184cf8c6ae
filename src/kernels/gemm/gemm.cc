#include "kernels/gemm/gemm.h"

#include <dnnl.h>
#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <vector>

#include "base/check.h"
#include "kernels/gemm/gemm_amx.h"
#include "kernels/simd/isa.h"
#include "kernels/thresholds.h"

namespace heed {
namespace {

/// Keeps oneDNN, which divides its work by OpenMP, on the calling thread. The former number of threads is
/// restored, since it is also that of other libraries in the process, such as PyTorch.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const int before_;
};

/// Copies the bias to every row of C, to which the product is then added.
template <typename T>
GemmArguments<T> begin_with_bias(GemmArguments<T> g) {
  HEED_CHECK(!g.accumulate);
  for (int64_t row = 0; row < g.m; ++row) std::copy_n(g.bias, g.n, g.c + row * g.c_stride);
  g.bias = nullptr;
  g.accumulate = true;
  return g;
}

void multiply_by_library(const GemmArguments<float>& g) {
  const dnnl_status_t status =
      dnnl_sgemm(g.transpose_a ? 'T' : 'N', g.transpose_b ? 'T' : 'N', g.m, g.n, g.k, 1.0f, g.a, g.a_stride,
                 g.b, g.b_stride, g.accumulate ? 1.0f : 0.0f, g.c, g.c_stride);
  if (status == dnnl_out_of_memory) throw std::bad_alloc();
  HEED_CHECK(status == dnnl_success);
}

/// oneDNN generates all its code in the first two products, a small one and one that pays to be packed, and
/// crashes where it gets no memory for it. These products are done here, after a look at whether it would.
bool generate_code() {
  constexpr size_t kReserve = size_t{16} << 20;  // it takes 6 MB
  void* memory = ::mmap(nullptr, kReserve, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  ::munmap(memory, kReserve);
  constexpr int64_t kSize = 64;
  const std::vector<float> a(kSize * kSize), b(kSize * kSize);
  std::vector<float> c(kSize * kSize);
  for (const int64_t size : {int64_t{1}, kSize}) {
    GemmArguments<float> g;
    g.m = g.n = g.k = g.a_stride = g.b_stride = g.c_stride = size;
    g.a = a.data();
    g.b = b.data();
    g.c = c.data();
    multiply_by_library(g);
  }
  return true;
}

}  // namespace

void gemm(const GemmArguments<float>& g) {
  if (g.m == 0 || g.n == 0) return;
  const bool bf16 = g.precision == MatmulPrecision::kMedium;
  if (internal::has_amx() && gemm_pays_on_amx(g.m, g.n, g.k, bf16)) {
    return bf16 ? gemm_amx_bf16(g) : gemm_amx_int8_slices(g);
  }
  if (g.bias != nullptr) return gemm(begin_with_bias(g));
  if (g.k == 0) {  // which oneDNN rejects
    for (int64_t row = 0; row < g.m && !g.accumulate; ++row) std::fill_n(g.c + row * g.c_stride, g.n, 0.0f);
    return;
  }
  const OneThread one_thread;
  [[maybe_unused]] static const bool code_is_generated = generate_code();
  multiply_by_library(g);
}

void gemm(const GemmArguments<double>& g) {
  if (g.bias != nullptr) return gemm(begin_with_bias(g));
  std::vector<double> row(static_cast<size_t>(g.k));
  for (int64_t i = 0; i < g.m; ++i) {
    for (int64_t k = 0; k < g.k; ++k)
      row[k] = g.transpose_a ? g.a[k * g.a_stride + i] : g.a[i * g.a_stride + k];
    double* c = g.c + i * g.c_stride;
    if (!g.accumulate) std::fill(c, c + g.n, 0.0);
    if (g.transpose_b) {
      for (int64_t j = 0; j < g.n; ++j) {
        const double* b = g.b + j * g.b_stride;
        double sum = 0;
        for (int64_t k = 0; k < g.k; ++k) sum += row[k] * b[k];
        c[j] += sum;
      }
    } else {
      for (int64_t k = 0; k < g.k; ++k) {
        const double* b = g.b + k * g.b_stride;
        for (int64_t j = 0; j < g.n; ++j) c[j] += row[k] * b[j];
      }
    }
  }
}

const char* gemm_library() {
  static const std::string name = [] {
    const dnnl_version_t* version = dnnl_version();
    return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
  }();
  return name.c_str();
}

}  // namespace heed
