// The directory that a training writes to: whose model may stand in it, who else trains in it, and where its
// files are.
#pragma once

#include <string>

#include "base/file_lock.h"
#include "train/recipe.h"

namespace heed::train {

/// Once open(), no other process trains in it. Other commands may read the model all the time.
class OutputDirectory {
 public:
  explicit OutputDirectory(std::string path) : path_(std::move(path)), folder_(path_ + "/training") {}

  const std::string& path() const { return path_; }
  /// What only training needs.
  const std::string& folder() const { return folder_; }
  std::string checkpoint() const { return folder_ + "/checkpoint.safetensors"; }
  std::string weights() const { return path_ + "/model.safetensors"; }
  /// Whether there is a training to resume. A checkpoint is written before the first step, once all else is
  /// there.
  bool was_begun() const;

  /// Throws kUsage where a training of this recipe cannot use the directory: for a training that was begun
  /// with another one, for a model without a training to resume, and where another process trains. Writes
  /// nothing but the lock of a training that is there.
  void check(const Recipe& recipe);
  /// Makes the directory, locks it, checks it again, and notes the recipe. Throws as check(), and kFile.
  void open(const Recipe& recipe);

 private:
  std::string recipe() const { return folder_ + "/recipe.toml"; }
  void lock();

  std::string path_, folder_;
  FileLock lock_;
};

}  // namespace heed::train
