#include "base/files/unfinished_files.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/files/file.h"
#include "test_folder.h"

namespace heed {
namespace {

TEST(UnfinishedFiles, UnfinishedFilesAreRemovedAndCompleteOnesKept) {
  const TestFolder folder;
  const pid_t child = ::fork();  // the registry is closed for good in that process
  ASSERT_GE(child, 0);
  if (child == 0) {
    AtomicFile complete(folder.path("complete")), unfinished(folder.path("unfinished"));
    complete.write("whole");
    complete.commit();
    note_unfinished(folder.path("directory"));
    make_directories(folder.path("directory/inner"));
    remove_unfinished_for_good();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(content_of(folder.path("complete")), "whole");
  EXPECT_EQ(folder.entries(), 1u);
}

}  // namespace
}  // namespace heed
