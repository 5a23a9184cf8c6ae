// Software pipelining of AMX and vector instructions. Included once for each instruction set.
//
//   tile unit    | products of block 1 | products of block 2 | products of block 1 | ...
//   vector unit  |                     | softmax of block 1  | softmax of block 2  | ...
//
// The two units work at the same time, on two blocks of queries: while the products of one are computed, the
// softmax of the other runs in chunks between the tile instructions.

#if defined(HEED_KERNELS_SOFTWARE_PIPELINE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_SOFTWARE_PIPELINE_INL_H_
#undef HEED_KERNELS_SOFTWARE_PIPELINE_INL_H_
#else
#define HEED_KERNELS_SOFTWARE_PIPELINE_INL_H_
#endif

#include <cstdint>
#include <utility>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Vector work in chunks, at an even pace: all of it in `calls` calls.
template <class VectorWork>
class PacedChunks {
 public:
  PacedChunks(VectorWork& work, int64_t calls) : work_(work), chunks_(work.chunks()), calls_(calls) {}
  HWY_INLINE void operator()() {
    for (due_ += chunks_; due_ >= calls_ && !work_.done(); due_ -= calls_) work_.advance();
  }

 private:
  VectorWork& work_;
  int64_t chunks_, calls_, due_ = 0;
};

/// Alternates between two blocks. Block has a field `done`; Stages says:
///   multiply(block, interleave)  the products up to the next vector work; false where the block has no more
///   calls(block)                 how often that calls interleave(), approximately
///   vector_work(block)           that work, with chunks(), done() and advance()
template <class Stages, class Block>
void run_pipelined(Stages& stages, Block* block, Block* other) {
  const auto nothing = [] {};
  block->done = !stages.multiply(*block, nothing);
  while (!block->done) {
    auto work = stages.vector_work(*block);
    if (!other->done) {
      PacedChunks interleave(work, stages.calls(*other));
      other->done = !stages.multiply(*other, interleave);
    }
    while (!work.done()) work.advance();
    if (other->done) {
      block->done = !stages.multiply(*block, nothing);
    } else {
      std::swap(block, other);
    }
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
