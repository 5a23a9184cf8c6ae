// 16-bit floating point numbers, for files: conversion to and from float32 with rounding to nearest even.
#pragma once

#include <cstdint>

namespace heed {

/// IEEE 754 binary16.
float half_to_float(uint16_t half);
uint16_t float_to_half(float value);

/// bfloat16: the upper half of a float32.
float bfloat_to_float(uint16_t bfloat);
uint16_t float_to_bfloat(float value);

}  // namespace heed
