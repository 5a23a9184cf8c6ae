// The output directory of a training: its files, its lock against other processes, and the checks before
// resuming.
#pragma once

#include <string>
#include <vector>

#include "base/files/file_lock.h"
#include "base/files/model_inventory.h"
#include "train/recipe/recipe.h"

namespace heed::train {

/// After open(), no other process can train in it. Other commands may read the model at any time.
class OutputDirectory {
 public:
  explicit OutputDirectory(std::string path) : path_(std::move(path)), folder_(path_ + "/training") {}

  const std::string& path() const { return path_; }
  /// The subdirectory with files that only training needs.
  const std::string& folder() const { return folder_; }
  std::string checkpoint() const { return folder_ + "/checkpoint.safetensors"; }
  std::string weights() const { return path_ + "/" + model_file::kSafetensors; }
  /// Whether there is a training to resume. The first checkpoint is written before the first step, after
  /// all other files.
  bool was_begun() const;

  /// Those of the recipe of the training to resume, under their present keys. Throws kUsage without a recipe,
  /// and kFormat.
  std::vector<Setting> recorded_settings() const;

  /// Throws kUsage if the directory contains a training with another recipe, a model without a training, or
  /// a folder training/ with files of others, or if another process trains in it. Writes nothing but the lock
  /// of an existing training.
  void check(const Recipe& recipe);
  /// Creates the directory, checks it again, locks it, and stores the recipe. Throws like check(), and
  /// kFile.
  void open(const Recipe& recipe);

 private:
  std::string recipe() const { return folder_ + "/recipe.toml"; }
  std::string lock_file() const { return folder_ + "/lock"; }
  /// Whether the folder is one that open() made: the lock is the first file there. Copies may lack it, but
  /// not the checkpoint, without which there is nothing to resume.
  bool is_of_a_training() const;
  Recipe recorded_recipe(const Recipe& wanted) const;
  void lock();

  std::string path_, folder_;
  FileLock lock_;
};

}  // namespace heed::train
