// The reducer of processes that mpirun or srun has started. Each has all weights, and the optimizer state and
// running average of its slices; a checkpoint has all of it, so a training can be resumed with any number of
// processes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "distributed/communicator.h"
#include "train/reduce/reducer.h"

namespace heed::train {

class RankReducer : public Reducer {
 public:
  /// The communicator must outlive this.
  explicit RankReducer(distributed::Communicator& ranks) : ranks_(ranks) {}

  void run(const Work& training) override;

  int processes() const override { return ranks_.size(); }
  bool is_first() const override { return ranks_.is_first(); }

  void together(const Work& work) override;
  void on_first(const Work& work) override;
  void on_others(const Work& work) override;
  Range own_part(int64_t count) const override;
  void gather(std::vector<std::string>& items) override;

  void check_setup(const TrainerOptions& options) override;
  void check_text(uint64_t fingerprint) override;
  void check_gradients(const std::function<uint64_t()>& fingerprint) override;
  void wait_for_file(const std::string& path) override;

  bool any(bool value) override;
  double of_first(double value) override;
  void broadcast(TrainingState& state) override;

  ParameterSlices slices(const nn::ParameterTable& table) const override { return {table, ranks_}; }
  std::unique_ptr<GradientExchange> exchange(const ParameterSlices& slices, GradientTree& tree) override;
  void gather_slices(const std::vector<distributed::SlicedArray>& arrays) override;
  void gather(const nn::ParameterTable& table, nn::ParameterArray& array) override;
  void broadcast(const nn::ParameterTable& table, nn::ParameterArray& array) override;
  Tensor own_slices(const nn::ParameterTable& table, const nn::ParameterArray& whole) override;
  nn::ParameterArray whole(const nn::ParameterTable& table, const Tensor& own) override;
  void gather_on_first(const nn::ParameterTable& table, nn::ParameterArray& array) override;

 protected:
  void gather_items(void* items, size_t bytes, int64_t count) override;

 private:
  distributed::Communicator& ranks_;
};

/// RankReducer, or Reducer for a process alone.
std::unique_ptr<Reducer> make_reducer(distributed::Communicator& ranks);

}  // namespace heed::train
