#include "train/reduce/rank_reducer.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "distributed/agreement.h"
#include "train/reduce/rank_checks.h"

namespace heed::train {
namespace {

void* data_of(const nn::ParameterArray& array) {
  return array.defined() ? array.flat().bytes() : nullptr;
}

}  // namespace

void RankReducer::run(const Work& training) {
  try {
    training();
  } catch (const distributed::AgreedError&) {
    throw;
  } catch (const Error& error) {
    ranks_.give_up();
    const std::string where = distributed::describe_rank(ranks_.rank(), distributed::host_name());
    fail(error.kind(), "{}: {}", where, error.what());
  } catch (...) {
    ranks_.give_up();
    throw;
  }
}

void RankReducer::together(const Work& work) {
  distributed::together(ranks_, work);
}

void RankReducer::on_first(const Work& work) {
  together([&] {
    if (is_first()) work();
  });
}

void RankReducer::on_others(const Work& work) {
  together([&] {
    if (!is_first()) work();
  });
}

Range RankReducer::own_part(int64_t count) const {
  return distributed::Slices(count, ranks_.size()).of(ranks_.rank());
}

void RankReducer::gather_items(void* items, size_t bytes, int64_t count) {
  distributed::all_gather(ranks_, {items, bytes, distributed::Slices(count, ranks_.size())});
}

void RankReducer::gather(std::vector<std::string>& items) {
  const Range own = own_part(static_cast<int64_t>(items.size()));
  const std::vector<std::string> part(items.begin() + own.begin, items.begin() + own.end);
  items.clear();
  for (std::vector<std::string>& each : distributed::all_gather_strings(ranks_, part)) {
    std::ranges::move(each, std::back_inserter(items));
  }
}

void RankReducer::check_setup(const TrainerOptions& options) {
  require_equal_ranks(ranks_, options);
}

void RankReducer::check_text(uint64_t fingerprint) {
  require_equal_text(ranks_, fingerprint);
}

void RankReducer::check_gradients(const std::function<uint64_t()>& fingerprint) {
  uint64_t found = 0;
  together([&] { found = fingerprint(); });
  require_equal_gradients(ranks_, found);
}

void RankReducer::wait_for_file(const std::string& path) {
  train::wait_for_file(path);
}

bool RankReducer::any(bool value) {
  return std::ranges::count(distributed::all_gather_values(ranks_, value ? 1 : 0), 1) > 0;
}

double RankReducer::of_first(double value) {
  return distributed::broadcast_value(ranks_, value);
}

void RankReducer::broadcast(TrainingState& state) {
  state = state_from_text(distributed::broadcast_strings(ranks_, {to_text(state)})[0]);
}

std::unique_ptr<GradientExchange> RankReducer::exchange(const ParameterSlices& slices, GradientTree& tree) {
  return std::make_unique<RankGradientExchange>(slices, ranks_, tree);
}

void RankReducer::gather_slices(const std::vector<distributed::SlicedArray>& arrays) {
  distributed::all_gather(ranks_, arrays);
}

void RankReducer::gather(const nn::ParameterTable& table, nn::ParameterArray& array) {
  gather_slices(slices(table).arrays(array.flat().bytes(), sizeof(float)));
}

void RankReducer::broadcast(const nn::ParameterTable& table, nn::ParameterArray& array) {
  distributed::broadcast(
      ranks_, {array.flat().bytes(), sizeof(float), distributed::Slices(table.elements(), ranks_.size())});
}

Tensor RankReducer::own_slices(const nn::ParameterTable& table, const nn::ParameterArray& whole) {
  const ParameterSlices parts = slices(table);
  Tensor own = Tensor::empty({parts.own_size()});
  const auto arrays = parts.arrays(data_of(whole), sizeof(float));
  for (size_t n = 0; n < arrays.size(); ++n) {
    distributed::scatter(ranks_, arrays[n], own.data<float>() + parts.own_offset(n));
  }
  return own;
}

nn::ParameterArray RankReducer::whole(const nn::ParameterTable& table, const Tensor& own) {
  nn::ParameterArray whole;
  if (is_first()) whole = nn::ParameterArray::unset(table);
  const ParameterSlices parts = slices(table);
  const auto arrays = parts.arrays(data_of(whole), sizeof(float));
  for (size_t n = 0; n < arrays.size(); ++n) {
    distributed::gather(ranks_, arrays[n], own.data<float>() + parts.own_offset(n));
  }
  return whole;
}

void RankReducer::gather_on_first(const nn::ParameterTable& table, nn::ParameterArray& array) {
  auto* const data = array.flat().data<float>();
  const ParameterSlices parts = slices(table);
  const auto arrays = parts.arrays(data, sizeof(float));
  for (size_t n = 0; n < arrays.size(); ++n) {
    distributed::gather(ranks_, arrays[n], data + parts.own(n).begin);
  }
}

std::unique_ptr<Reducer> make_reducer(distributed::Communicator& ranks) {
  if (ranks.size() > 1) return std::make_unique<RankReducer>(ranks);
  return std::make_unique<Reducer>();
}

}  // namespace heed::train
