#include <dnnl.h>
#include <sys/mman.h>

#include <new>
#include <string>
#include <vector>

#include "base/check.h"
#include "kernels/gemm/gemm_library.h"
#include "kernels/gemm/openmp_threads.h"
#include "kernels/simd/isa.h"

namespace heed {
namespace {

#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
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
#else
struct OneThread {};  // oneDNN has no threads
#endif

void multiply(const GemmArguments<float>& g) {
  const dnnl_status_t status =
      dnnl_sgemm(g.transpose_a ? 'T' : 'N', g.transpose_b ? 'T' : 'N', g.m, g.n, g.k, 1.0f, g.a, g.a_stride,
                 g.b, g.b_stride, g.accumulate ? 1.0f : 0.0f, g.c, g.c_stride);
  if (status == dnnl_out_of_memory) throw std::bad_alloc();
  HEED_CHECK(status == dnnl_success);
}

/// oneDNN, too, uses no instructions beyond those of HEED_ISA, so that sums are added in the same order on
/// different processors. It is asked once, before its first product; float32 has no products by VNNI or AMX.
void limit_instructions() {
  constexpr int kAvx2 = 2;
  const int kernels = internal::kernel_set_of_environment();
  if (kernels > kAvx2) return;
  // Fails where another user of the library has used it before; it is then not ours to limit.
  (void)dnnl_set_max_cpu_isa(kernels == kAvx2 ? dnnl_cpu_isa_avx2 : dnnl_cpu_isa_sse41);
}

/// oneDNN generates all its code in the first two products, a small one and one that pays to be packed, and
/// crashes where it gets no memory for it. These products are done here, after a look at whether it would.
bool generate_code() {
  constexpr size_t kReserve = size_t{16} << 20;  // it takes 6 MB
  void* memory = ::mmap(nullptr, kReserve, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  ::munmap(memory, kReserve);
  limit_instructions();
  constexpr int64_t kSize = 64;
  const std::vector<float> a(kSize * kSize), b(kSize * kSize);
  std::vector<float> c(kSize * kSize);
  for (const int64_t size : {int64_t{1}, kSize}) {
    GemmArguments<float> g;
    g.m = g.n = g.k = g.a_stride = g.b_stride = g.c_stride = size;
    g.a = a.data();
    g.b = b.data();
    g.c = c.data();
    multiply(g);
  }
  return true;
}

}  // namespace

void multiply_by_library(const GemmArguments<float>& g) {
  [[maybe_unused]] const OneThread one_thread;
  [[maybe_unused]] static const bool code_is_generated = generate_code();
  multiply(g);
}

const char* gemm_library() {
  static const std::string name = [] {
    const dnnl_version_t* version = dnnl_version();
    return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
  }();
  return name.c_str();
}

}  // namespace heed
