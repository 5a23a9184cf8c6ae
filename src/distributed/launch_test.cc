#include "distributed/launch.h"

#include <gtest/gtest.h>

#include <map>

#include "heed/error.h"

namespace heed::distributed {
namespace {

using Names = std::vector<std::string>;

Launch launch_in(const std::map<std::string, std::string>& variables) {
  return find_launch([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Launch, IsFoundInTheEnvironment) {
  EXPECT_EQ(launch_in({}).processes, 1);
  const Launch open_mpi = launch_in({{"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "0"}});
  EXPECT_EQ(open_mpi.processes, 4);
  EXPECT_EQ(open_mpi.implementations, Names{"openmpi"});
  const Launch hydra = launch_in({{"PMI_SIZE", "3"}, {"PMI_RANK", "2"}});
  EXPECT_EQ(hydra.processes, 3);
  EXPECT_EQ(hydra.implementations.front(), "mpich");
  const Launch slurm = launch_in({{"PMIX_RANK", "1"}, {"SLURM_STEP_NUM_TASKS", "8"}});
  EXPECT_EQ(slurm.processes, 8);
  EXPECT_EQ(slurm.implementations, (Names{"openmpi", "mpich"}));
  EXPECT_EQ(launch_in({{"PMIX_RANK", "1"}}).processes, 0) << "several, but how many is unknown";
}

TEST(Launch, OneProcessNeedsNoMpi) {
  EXPECT_EQ(launch_in({{"OMPI_COMM_WORLD_SIZE", "1"}}).processes, 1);
  EXPECT_EQ(launch_in({{"SLURM_STEP_NUM_TASKS", "1"}}).processes, 1);
  // sbatch sets these for the script itself, which is one process.
  EXPECT_EQ(launch_in({{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}}).processes, 1);
}

TEST(Launch, ProcessesWithoutMpiAreNotTakenForOne) {
  const Launch launch = launch_in({{"SLURM_STEP_NUM_TASKS", "4"}});
  EXPECT_EQ(launch.processes, 4);
  EXPECT_TRUE(launch.implementations.empty());
}

TEST(Launch, TheUserDecides) {
  EXPECT_EQ(launch_in({{"OMPI_COMM_WORLD_SIZE", "4"}, {"HEED_MPI", "off"}}).processes, 1);
  EXPECT_EQ(launch_in({{"PMI_SIZE", "4"}, {"HEED_MPI", "openmpi"}}).implementations, Names{"openmpi"});
  EXPECT_THROW(launch_in({{"HEED_MPI", "lam"}}), Error);
}

}  // namespace
}  // namespace heed::distributed
