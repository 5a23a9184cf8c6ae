// A new model directory, for the subcommands that write one.
#pragma once

#include <string>

#include "base/files/model_inventory.h"

namespace heed::cli {

/// A directory that appears atomically: written under a temporary name, flushed to disk, then renamed.
/// Removes the temporary directories that killed processes left behind for the same path.
class NewDirectory {
 public:
  /// Throws kFile if the path exists or cannot be created.
  explicit NewDirectory(const std::string& path);
  ~NewDirectory();
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;

  /// Where to write until commit().
  const std::string& part() const { return part_; }
  void commit();

 private:
  void remove_part();
  std::string path_, part_;
  int descriptor_ = -1;  // of the temporary directory, which it locks
};

/// Copies the files of a model (models::model_files()) except config.json, weights and hidden files.
void copy_others(const ModelInventory& input, const std::string& output);

}  // namespace heed::cli
