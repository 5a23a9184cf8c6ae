// Matrix registers and vectors at the same time. Included once for each instruction set.

#if defined(HEED_KERNELS_TAKE_TURNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_TAKE_TURNS_INL_H_
#undef HEED_KERNELS_TAKE_TURNS_INL_H_
#else
#define HEED_KERNELS_TAKE_TURNS_INL_H_
#endif

#include <utility>

#include "kernels/attention/amx/split_factor-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

// The units that add up vectors have nothing to do while registers multiply, and the other way round, so two
// tiles take turns: while one is multiplied, vectors work on the other.

/// What is done meanwhile: a work in pieces, at an even pace of so many calls.
template <class Work>
class Meanwhile {
 public:
  Meanwhile(Work& work, int64_t calls) : work_(work), pieces_(work.pieces()), calls_(calls) {}
  HWY_INLINE void operator()() {
    for (due_ += pieces_; due_ >= calls_ && !work_.done(); due_ -= calls_) work_.advance();
  }

 private:
  Work& work_;
  int64_t pieces_, calls_, due_ = 0;
};

/// Tiles of kind Tile have a field `done`. What there is to do, a type Products says:
///   multiply(tile, meanwhile)  the products up to the next work on vectors, and whether there was any
///   calls(tile)                how often that calls meanwhile(), more or less
///   work(tile)                 that work, with pieces(), done() and advance()
template <class Products, class Tile>
void take_turns(Products& products, Tile* tile, Tile* other) {
  const auto nothing = [] {};
  tile->done = !products.multiply(*tile, nothing);
  while (!tile->done) {
    auto work = products.work(*tile);
    if (!other->done) {
      Meanwhile meanwhile(work, products.calls(*other));
      other->done = !products.multiply(*other, meanwhile);
    }
    while (!work.done()) work.advance();
    if (other->done) {
      tile->done = !products.multiply(*tile, nothing);
    } else {
      std::swap(tile, other);
    }
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
