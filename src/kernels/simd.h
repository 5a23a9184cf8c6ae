// What every kernel file needs for Highway's run-time dispatch.
//
// A kernel is one function template over float and double, written once for vectors of any length, and
// compiled for each instruction set. The float64 version is the very same code, so gradients checked in
// float64 check the float32 kernel too. A kernel file looks like this:
//
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "kernels/this_file.cc"
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

#include "kernels/isa.h"

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

/// Once per file: the functions that callers see, which go to the instruction set in use.
#define HEED_DISPATCH(function, Arguments)      \
  HWY_EXPORT(function##_float);                 \
  HWY_EXPORT(function##_double);                \
  void function(const Arguments<float>& a) {    \
    internal::ensure_isa();                     \
    HWY_DYNAMIC_DISPATCH(function##_float)(a);  \
  }                                             \
  void function(const Arguments<double>& a) {   \
    internal::ensure_isa();                     \
    HWY_DYNAMIC_DISPATCH(function##_double)(a); \
  }
