#include "base/files/unfinished_files.h"

#include <filesystem>
#include <mutex>
#include <set>

namespace heed {
namespace {

struct Registry {
  std::mutex mutex;
  std::set<std::string> paths;
};

/// Never destroyed: threads may use it while the process exits.
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

}  // namespace

void note_unfinished(const std::string& path) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.paths.insert(path);
}

void forget_unfinished(const std::string& path) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.paths.erase(path);
}

void remove_unfinished_for_good() {
  Registry& all = registry();
  all.mutex.lock();  // and never unlocked
  for (const std::string& path : all.paths) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
}

}  // namespace heed
