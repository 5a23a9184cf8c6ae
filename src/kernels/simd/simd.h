// What every kernel file needs for Highway's run-time dispatch.
//
// A kernel is one function template over float and double, written once for vectors of any length, and
// compiled for each instruction set. The float64 version is the very same code, so gradients checked in
// float64 check the float32 kernel too. A kernel file looks like this:
//
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "kernels/folder/this_file.cc"
//   #include "hwy/foreach_target.h"      // includes this file again for each instruction set
//   #include "hwy/highway.h"
//   HWY_BEFORE_NAMESPACE();
//   namespace heed::HWY_NAMESPACE { template <typename T> void work(const WorkArguments<T>& a) { ... }
//                                   HEED_KERNEL(work, WorkArguments) }
//   HWY_AFTER_NAMESPACE();
//   #if HWY_ONCE
//   namespace heed { HEED_DISPATCH(work, WorkArguments) }
//   #endif
#pragma once

#include <cstdint>

#include "kernels/simd/isa.h"

namespace heed {

constexpr int64_t kCacheLineBytes = 64;

constexpr int64_t round_up(int64_t size, int64_t unit) {
  return (size + unit - 1) / unit * unit;
}

}  // namespace heed

/// Inside the namespace of an instruction set: the two instances of a kernel. Named in full, because an
/// unqualified name would be looked up in the namespace of the arguments too, and find the dispatching
/// function instead.
#define HEED_KERNEL(function, Arguments)               \
  void function##_float(const Arguments<float>& a) {   \
    heed::HWY_NAMESPACE::function(a);                  \
  }                                                    \
  void function##_double(const Arguments<double>& a) { \
    heed::HWY_NAMESPACE::function(a);                  \
  }

/// Once per file: one function for each instruction set, as internal::kernel_set() counts them. (Highway's
/// own table would link a library that measures the clock before main() begins, which takes 4 ms.)
#define HEED_EXPORT(function)                                                              \
  constexpr decltype(&HWY_STATIC_DISPATCH(function)) function##_sets[] = {                 \
      HWY_CHOOSE_FALLBACK(function), HWY_CHOOSE_SSE4(function), HWY_CHOOSE_AVX2(function), \
      HWY_CHOOSE_AVX3(function), HWY_CHOOSE_NEON(function)}
/// The one for the instruction set in use.
#define HEED_SELECT(function) (*function##_sets[internal::kernel_set()])

/// The functions that callers see of a kernel.
#define HEED_DISPATCH(function, Arguments)    \
  HEED_EXPORT(function##_float);              \
  HEED_EXPORT(function##_double);             \
  void function(const Arguments<float>& a) {  \
    HEED_SELECT(function##_float)(a);         \
  }                                           \
  void function(const Arguments<double>& a) { \
    HEED_SELECT(function##_double)(a);        \
  }
