// What all ranks must agree on: whether a piece of work succeeded, and what they run on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/text/option_error.h"
#include "distributed/communicator.h"

namespace heed::distributed {

/// An error that every rank throws, so that one of them can report it for all.
class AgreedError : public OptionError {
 public:
  using OptionError::OptionError;
};

/// Runs `work`, which must not communicate, on every rank. If it throws an Error on any rank, all throw an
/// AgreedError that says which; if it throws Cancelled, all throw Cancelled. With one rank, just runs it.
void together(Communicator& ranks, const std::function<void()>& work);

/// Something that has to be the same on all ranks.
struct Fact {
  std::string name;   ///< "the recipe"
  std::string value;  ///< one line, or several
  std::string advice = {};
};

/// Throws an AgreedError of kind kUsage that names the ranks with another value than rank 0.
void require_equal(Communicator& ranks, const std::vector<Fact>& facts);

/// "rank 3 (node-b)"
std::string describe_rank(int rank, const std::string& host);

}  // namespace heed::distributed
