// Models that are loaded, used and unloaded again and again take no more memory in the end.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "heed/translator.h"
#include "paths.h"
#include "tiny_model.h"

namespace heed {
namespace {

/// Resident memory in MB, without what the C library keeps for later.
double resident() {
  ::malloc_trim(0);
  int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

class ModelMemory : public testing::TestWithParam<std::string> {};

TEST_P(ModelMemory, StaysWhereModelsAreLoadedAndUnloaded) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer keeps freed memory back";
#endif
  const std::string path = GetParam().empty() ? tiny_model() : source_folder() + "/models/" + GetParam();
  constexpr int kTimes = 60;
  std::string first;
  double early = 0, late = 0;  // the least of the second and of the last fifth
  for (int n = 0; n < kTimes; ++n) {
    {
      const Translator translator(path);
      const std::string translation = translator.translate("Das ist ein Haus.");
      if (n == 0) first = translation;
      EXPECT_EQ(translation, first);
    }
    const double now = resident();
    if (n == kTimes / 5) early = now;
    if (n >= kTimes / 5 && n < 2 * kTimes / 5) early = std::min(early, now);
    if (n == 4 * kTimes / 5) late = now;
    if (n >= 4 * kTimes / 5) late = std::min(late, now);
  }
  EXPECT_LT(late, early * 1.03 + 1) << "MB";
}

INSTANTIATE_TEST_SUITE_P(Models, ModelMemory, testing::Values("", "rnn", "de-en"));

}  // namespace
}  // namespace heed
