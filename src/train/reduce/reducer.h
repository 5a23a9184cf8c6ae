// What the processes that train one model do together: divide the work, add up, agree.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "distributed/collectives.h"
#include "nn/storage/parameters.h"
#include "train/reduce/gradient_exchange.h"
#include "train/reduce/parameter_slices.h"
#include "train/store/checkpoint.h"

namespace heed::train {

struct TrainerOptions;

/// The process that trains alone: all work is its own, and there is nobody to tell. RankReducer
/// (rank_reducer.h) has the other case. Every process calls the same functions in the same order.
class Reducer {
 public:
  using Work = std::function<void()>;

  Reducer() = default;
  virtual ~Reducer() = default;
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  /// Runs a whole training. If it fails in this process alone, the others end, too.
  virtual void run(const Work& training) { training(); }

  virtual int processes() const { return 1; }
  /// Whether this is the process that writes all files and reports.
  virtual bool is_first() const { return true; }

  // -- Work, which must not call the reducer. If it throws an Error or Cancelled in one process, all throw
  // it.
  virtual void together(const Work& work) { work(); }
  virtual void on_first(const Work& work) { work(); }
  virtual void on_others(const Work& /*work*/) {}
  /// Those of `count` items that this process works on.
  virtual Range own_part(int64_t count) const { return {0, count}; }
  /// Each process has its part of the items; afterwards all have all.
  template <typename T>
  void gather(std::vector<T>& items) {
    static_assert(std::is_trivially_copyable_v<T>);
    gather_items(items.data(), sizeof(T), static_cast<int64_t>(items.size()));
  }
  virtual void gather(std::vector<std::string>& /*items*/) {}

  // -- What has to be the same everywhere, since weights would otherwise not be those of one process. Throw
  // kUsage for another build, instruction set, recipe or limit; another text; other gradients of one shard.
  virtual void check_setup(const TrainerOptions& /*options*/) {}
  virtual void check_text(uint64_t /*fingerprint*/) {}
  virtual void check_gradients(const std::function<uint64_t()>& /*fingerprint*/) {}
  /// Waits until a file of the first process shows up here. Throws kNotFound after some seconds.
  virtual void wait_for_file(const std::string& /*path*/) {}

  // -- Agreement.
  virtual bool any(bool value) { return value; }
  virtual double of_first(double value) { return value; }
  virtual void broadcast(TrainingState& /*state*/) {}

  // -- Parameters. Each process adds up the gradients of its slices, and updates them.
  virtual ParameterSlices slices(const nn::ParameterTable& table) const { return {table.elements(), 1, 0}; }
  /// The gradients that the shards of `tree` have here and elsewhere. Both arguments must outlive the result.
  virtual std::unique_ptr<GradientExchange> exchange(const ParameterSlices& /*slices*/,
                                                     GradientTree& /*tree*/) {
    return std::make_unique<GradientExchange>();
  }
  /// Each process has its slices; afterwards all have the whole array.
  virtual void gather_slices(const std::vector<distributed::SlicedArray>& /*arrays*/) {}
  virtual void gather(const nn::ParameterTable& /*table*/, nn::ParameterArray& /*array*/) {}
  /// The first process has the whole array; afterwards all have it.
  virtual void broadcast(const nn::ParameterTable& /*table*/, nn::ParameterArray& /*array*/) {}
  /// The first process has the whole array. Returns the slices of this one, one behind the other.
  virtual Tensor own_slices(const nn::ParameterTable& /*table*/, const nn::ParameterArray& whole) {
    return whole.flat();
  }
  /// The reverse: the whole array in the first process; undefined in the others.
  virtual nn::ParameterArray whole(const nn::ParameterTable& /*table*/, const Tensor& own) {
    nn::ParameterArray array;
    array.flat() = own;
    return array;
  }
  /// Each process has its slices in place; afterwards the first has the whole array.
  virtual void gather_on_first(const nn::ParameterTable& /*table*/, nn::ParameterArray& /*array*/) {}

 protected:
  virtual void gather_items(void* /*items*/, size_t /*bytes*/, int64_t /*count*/) {}
};

}  // namespace heed::train
