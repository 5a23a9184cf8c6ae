// The driver for products whose B is packed once and used often: weights in inference. Included once for each
// instruction set.
//
//   for each block of MC rows of A:        pack A: it stays in L2
//     for each panel of B:                 streamed through L1, the next one prefetched
//       for each block of KC of K:         the active part of the panel stays in L1
//         Kernel::multiply                 all rows: micro-kernel, and after the last block of K the epilogue

#if defined(HEED_KERNELS_PACKED_B_DRIVER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_PACKED_B_DRIVER_INL_H_
#undef HEED_KERNELS_PACKED_B_DRIVER_INL_H_
#else
#define HEED_KERNELS_PACKED_B_DRIVER_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

// A Kernel says:
//   kNr                            columns of a panel of B
//   mc(m), kc(k)                   MC and KC for these sizes
//   begin_rows(m0, rows)           packs these rows of A; B begins at its first panel again
//   multiply(rows, n, k, k_size)   the product of these rows, the panel of column n and k_size of K
//   end_rows()                     writes what is not yet written of these rows

template <class Kernel>
HWY_INLINE void multiply_packed_b(Kernel& kernel, int64_t m, int64_t n, int64_t k) {
  const int64_t mc = kernel.mc(m), kc = kernel.kc(k);
  for (int64_t m0 = 0; m0 < m; m0 += mc) {
    const int64_t rows = std::min(mc, m - m0);
    kernel.begin_rows(m0, rows);
    for (int64_t n0 = 0; n0 < n; n0 += Kernel::kNr) {
      int64_t k0 = 0;
      do {  // once if K is 0
        const int64_t k_size = std::min(kc, k - k0);
        kernel.multiply(rows, n0, k0, k_size);
        k0 += k_size;
      } while (k0 < k);
    }
    kernel.end_rows();
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
