#include "distributed/agreement.h"

#include <algorithm>
#include <sstream>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/stop.h"
#include "distributed/collectives.h"

namespace heed::distributed {
namespace {

constexpr const char *kDone = "done", *kStopped = "stopped", *kFailed = "failed";

/// How the work of a rank ended.
struct Outcome {
  std::string state, message, host;
  ErrorKind kind = ErrorKind::kUsage;

  void fail(ErrorKind error, std::string text) {
    state = kFailed;
    message = std::move(text);
    kind = error;
  }
};

std::vector<std::string> to_strings(const Outcome& outcome) {
  return {outcome.state, outcome.message, outcome.host, std::to_string(static_cast<int>(outcome.kind))};
}

Outcome from_strings(const std::vector<std::string>& strings) {
  HEED_CHECK(strings.size() == 4);
  return {strings[0], strings[1], strings[2], static_cast<ErrorKind>(std::stoi(strings[3]))};
}

/// One message for all ranks. An error of rank 0 alone, which reads and writes the files, or of all ranks
/// alike needs no rank to be named.
std::string message_of(const std::vector<Outcome>& outcomes) {
  const auto failed = [](const Outcome& each) { return each.state == kFailed; };
  const Outcome& first = *std::ranges::find_if(outcomes, failed);
  const auto alike = [&](const Outcome& each) { return failed(each) && each.message == first.message; };
  const bool only_first_rank = failed(outcomes[0]) && std::ranges::count_if(outcomes, failed) == 1;
  if (only_first_rank || std::ranges::all_of(outcomes, alike)) return first.message;
  std::vector<std::string> parts;
  for (size_t rank = 0; rank < outcomes.size(); ++rank) {
    if (!failed(outcomes[rank])) continue;
    parts.push_back(describe_rank(static_cast<int>(rank), outcomes[rank].host) + ": " +
                    outcomes[rank].message);
  }
  return fmt::format("{}", fmt::join(parts, "\n"));
}

/// The first lines that differ, of texts with several lines.
std::pair<std::string, std::string> difference(const std::string& one, const std::string& other) {
  std::istringstream lines(one), other_lines(other);
  std::string line, other_line;
  while (true) {
    const bool has = static_cast<bool>(std::getline(lines, line));
    const bool other_has = static_cast<bool>(std::getline(other_lines, other_line));
    if (!has) line = "nothing";
    if (!other_has) other_line = "nothing";
    if (line != other_line || !has || !other_has) return {line, other_line};
  }
}

}  // namespace

std::string describe_rank(int rank, const std::string& host) {
  return fmt::format("rank {} ({})", rank, host);
}

void together(Communicator& ranks, const std::function<void()>& work) {
  if (ranks.size() == 1) {
    work();
    return;
  }
  Outcome own{kDone, {}, host_name()};
  try {
    work();
  } catch (const Cancelled&) {
    own.state = kStopped;
  } catch (const OptionError& error) {
    own.fail(error.kind(), error.text());
  } catch (const Error& error) {
    own.fail(error.kind(), error.what());
  }
  std::vector<Outcome> outcomes;
  for (const auto& strings : all_gather_strings(ranks, to_strings(own))) {
    outcomes.push_back(from_strings(strings));
  }
  for (const Outcome& each : outcomes) {
    if (each.state == kFailed) throw AgreedError(each.kind, message_of(outcomes));
  }
  for (const Outcome& each : outcomes) {
    if (each.state == kStopped) throw Cancelled();
  }
}

void require_equal(Communicator& ranks, const std::vector<Fact>& facts) {
  std::vector<std::string> own{host_name()};
  for (const Fact& fact : facts) own.push_back(fact.value);
  const auto all = all_gather_strings(ranks, own);
  for (size_t n = 0; n < facts.size(); ++n) {
    std::vector<std::string> others;
    std::string value, expected;
    for (size_t rank = 1; rank < all.size(); ++rank) {
      HEED_CHECK(all[rank].size() == own.size());
      if (all[rank][n + 1] == all[0][n + 1]) continue;
      if (others.empty()) std::tie(expected, value) = difference(all[0][n + 1], all[rank][n + 1]);
      others.push_back(describe_rank(static_cast<int>(rank), all[rank][0]));
    }
    if (others.empty()) continue;
    std::string message =
        fmt::format("the processes of a training must agree, but {} differs: {} has '{}', {} has '{}'",
                    facts[n].name, describe_rank(0, all[0][0]), expected, fmt::join(others, ", "), value);
    if (!facts[n].advice.empty()) message += "; " + facts[n].advice;
    throw AgreedError(ErrorKind::kUsage, message);
  }
}

}  // namespace heed::distributed
