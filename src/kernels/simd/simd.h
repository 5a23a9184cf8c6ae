// What every kernel file needs for Highway's run-time dispatch.
//
// A kernel is one function template over float and double, written once for vectors of any length and
// compiled for each instruction set. The float64 version is the same code, so gradient checks in float64
// check the float32 kernel too. A kernel file looks like this:
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

/// In the namespace of an instruction set: the two instances of a kernel. The call is qualified, because
/// argument-dependent lookup would find the dispatching function too.
#define HEED_KERNEL(function, Arguments)               \
  void function##_float(const Arguments<float>& a) {   \
    heed::HWY_NAMESPACE::function(a);                  \
  }                                                    \
  void function##_double(const Arguments<double>& a) { \
    heed::HWY_NAMESPACE::function(a);                  \
  }

/// Once per file: a table of one function for each target, indexed by internal::kernel_set(). (Highway's own
/// table would link a library that measures the clock before main(), which takes 4 ms.)
#define HEED_EXPORT(function)                                                              \
  constexpr decltype(&HWY_STATIC_DISPATCH(function)) function##_sets[] = {                 \
      HWY_CHOOSE_FALLBACK(function), HWY_CHOOSE_SSE4(function), HWY_CHOOSE_AVX2(function), \
      HWY_CHOOSE_AVX3(function),     HWY_CHOOSE_NEON(function), HWY_CHOOSE_WASM(function)}
/// The function for the instruction set in use.
#define HEED_SELECT(function) (*function##_sets[internal::kernel_set()])

/// The public functions of a kernel.
#define HEED_DISPATCH(function, Arguments)    \
  HEED_EXPORT(function##_float);              \
  HEED_EXPORT(function##_double);             \
  void function(const Arguments<float>& a) {  \
    HEED_SELECT(function##_float)(a);         \
  }                                           \
  void function(const Arguments<double>& a) { \
    HEED_SELECT(function##_double)(a);        \
  }
