// A training that is killed between any two file operations and run again produces the same bits: tokenizers
// of several files, corpora, checkpoints, weights.

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>

#include "gtest/gtest.h"
#include "train/test_trainings.h"

namespace {

constexpr int kKilled = 9;

/// In a child process: the number of file operations before it is killed.
int changes_left = -1;

void count_change() {
  if (changes_left == 0) ::_exit(kKilled);
  if (changes_left > 0) --changes_left;
}

}  // namespace

// These stand in for libc's. Files change their names, appear and disappear by them alone, but for those that
// are not complete yet.
extern "C" int rename(const char* from, const char* to) noexcept {
  count_change();
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
extern "C" int remove(const char* path) noexcept {
  count_change();
  const int result = static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
  return result == 0 || errno != EISDIR
             ? result
             : static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}

/// A killed process, unlike a power cut, loses nothing that it gave to the system.
extern "C" int fsync(int) {
  return 0;
}

namespace heed::train {
namespace {

namespace fs = std::filesystem;

class KilledTraining : public ::testing::TestWithParam<std::string> {
 protected:
  TrainerOptions options(const std::string& output) {
    const std::string& tokenizer = GetParam();
    const models::Task task = tokenizer == "unigram"     ? models::Task::kTranslation
                              : tokenizer == "wordpiece" ? models::Task::kClassification
                                                         : models::Task::kLanguageModel;
    std::map<std::string, std::string> settings{{"tokenizer.type", tokenizer},
                                                {"averaging.kind", "last"},
                                                {"averaging.snapshot_every", "1"},
                                                {"averaging.snapshots", "2"}};
    if (tokenizer == "bpe") settings["tokenizer.vocabulary"] = "270";
    TrainerOptions made = small_training(folder_, task, output, small_recipe(task, settings));
    made.max_steps = 3;
    return made;
  }

  TestFolder folder_;
};

/// Trains in a process of its own, which dies before it changes one name more than `changes`, if that is not
/// negative. Returns its exit status: 0 at the end of the training.
int train_in_process(const TrainerOptions& options, int changes) {
  const pid_t child = ::fork();
  if (child == 0) {
    changes_left = changes;
    try {
      train(options);
    } catch (const std::exception&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_P(KilledTraining, ResumesBitForBit) {
  ASSERT_EQ(train_in_process(options("whole"), -1), 0);
  const Files whole = files_of(folder_.path("whole"));
  const TrainerOptions killed = options("killed");
  int status = kKilled, changes = 0;
  for (; status == kKilled; ++changes) {
    fs::remove_all(killed.output);
    status = train_in_process(killed, changes);
    ASSERT_TRUE(status == kKilled || status == 0);
    ASSERT_EQ(train_in_process(killed, -1), 0);
    ASSERT_EQ(different_files(files_of(killed.output), whole), kNone) << "killed after " << changes;
  }
  EXPECT_GT(changes, 15) << "the control: it was killed at many steps";
}

INSTANTIATE_TEST_SUITE_P(, KilledTraining, ::testing::Values("unigram", "wordpiece", "bpe", "sentencepiece"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace heed::train
