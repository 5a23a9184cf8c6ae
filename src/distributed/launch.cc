#include "distributed/launch.h"

#include <dlfcn.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/check.h"
#include "heed/version.h"

namespace heed::distributed {
namespace {

constexpr const char* kTrainAlone =
    "With HEED_MPI=off in the environment, each process trains by itself, each into a directory of its own";

/// "a" -> "libheed_a.so", found by the run path of the program or library that contains this code.
std::string library_of(const std::string& implementation) {
  return "libheed_" + implementation + ".so";
}

std::optional<int> number_in(const char* text) {
  if (text == nullptr) return std::nullopt;
  const std::string_view digits(text);
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < 1) return std::nullopt;
  return number;
}

/// Loads the library of one of the implementations. The reasons why the others could not be loaded are added
/// to `problems`.
Communicator* load(const Launch& launch, std::vector<std::string>& problems) {
  for (const std::string& implementation : launch.implementations) {
    const std::string name = library_of(implementation);
    void* const library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      problems.emplace_back(::dlerror());
      continue;
    }
    auto* const function =
        reinterpret_cast<MpiCommunicatorFunction*>(::dlsym(library, kMpiCommunicatorFunction));
    if (Communicator* const found = function != nullptr ? function(HEED_VERSION) : nullptr) return found;
    problems.push_back(fmt::format("{} is of another version of Heed than this one, {}", name, HEED_VERSION));
  }
  return nullptr;
}

Communicator& connect() {
  const Launch launch = find_launch([](const char* name) { return std::getenv(name); });
  if (launch.processes == 1) return single_process();
  if (launch.implementations.empty()) {
    fail(ErrorKind::kUsage,
         "{} started {} processes, but not for MPI, so they cannot train together: start them with mpirun, "
         "or with srun --mpi=pmix or --mpi=pmi2. {}",
         launch.launcher, launch.processes, kTrainAlone);
  }
  std::vector<std::string> problems;
  Communicator* const found = load(launch, problems);
  if (found == nullptr) {
    fail(ErrorKind::kUsage,
         "this process was started by {} to train together with others, but Heed's library for this MPI "
         "cannot be loaded ({}). Install the MPI ('scripts/setup mpi') and build Heed again. {}",
         launch.launcher, fmt::join(problems, "; "), kTrainAlone);
  }
  if (launch.processes > 1 && found->size() != launch.processes) {
    fail(ErrorKind::kUsage,
         "{} started {} processes, but the MPI that Heed was built with connects {}: it is another one, or "
         "another version. {}",
         launch.launcher, launch.processes, found->size(), kTrainAlone);
  }
  return *found;  // the library stays loaded
}

}  // namespace

Launch find_launch(const std::function<const char*(const char*)>& variable) {
  const char* const setting = variable("HEED_MPI");
  const std::string wanted = setting == nullptr ? "" : setting;
  if (!wanted.empty() && wanted != "off" && wanted != "openmpi" && wanted != "mpich") {
    fail(ErrorKind::kUsage, "HEED_MPI is '{}'; it can be off, openmpi or mpich", wanted);
  }
  if (wanted == "off") return {};
  Launch launch;
  const std::optional<int> in_slurm_step = number_in(variable("SLURM_STEP_NUM_TASKS"));
  if (const auto processes = number_in(variable("OMPI_COMM_WORLD_SIZE"))) {
    launch = {*processes, "mpirun (Open MPI)", {"openmpi"}};
  } else if (const auto by_pmi = number_in(variable("PMI_SIZE"))) {
    launch = {*by_pmi, "mpirun or srun (PMI)", {"mpich", "openmpi"}};
  } else if (variable("PMIX_RANK") != nullptr) {
    launch = {in_slurm_step.value_or(0), "mpirun or srun (PMIx)", {"openmpi", "mpich"}};
  } else if (in_slurm_step) {
    launch = {*in_slurm_step, "srun", {}};
  }
  if (!wanted.empty() && !launch.implementations.empty()) launch.implementations = {wanted};
  return launch;
}

Communicator& world() {
  static Communicator& communicator = connect();
  return communicator;
}

}  // namespace heed::distributed
