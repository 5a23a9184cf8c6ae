// 16-bit floating point numbers, for files: conversion to and from float32 with rounding to nearest even.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heed {

/// IEEE 754 binary16.
float half_to_float(uint16_t half);
uint16_t float_to_half(float value);

/// bfloat16: the upper half of a float32.
float bfloat_to_float(uint16_t bfloat);
uint16_t float_to_bfloat(float value);

/// Straight from float64, rounded once: by way of float32 a value could be rounded to a tie, and then away.
uint16_t double_to_half(double value);
uint16_t double_to_bfloat(double value);

/// Many at once.
void halves_to_floats(const uint16_t* halves, float* floats, size_t count);
void bfloats_to_floats(const uint16_t* bfloats, float* floats, size_t count);

}  // namespace heed
