// A model directory in the making, for the subcommands that write one.
#pragma once

#include <string>

namespace heed::cli {

/// A directory that is there whole or not at all: filled under another name, flushed to disk, then renamed.
/// What killed processes left of the same directory is removed.
class NewDirectory {
 public:
  /// Throws kFile where there is something already, or nothing can be made.
  explicit NewDirectory(const std::string& path);
  ~NewDirectory();
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;

  /// Where to write until commit().
  const std::string& part() const { return part_; }
  void commit();

 private:
  std::string path_, part_;
  int descriptor_ = -1;  // of the part, whose lock it holds
};

/// Copies everything of a model but config.json, weights and folders, training/ among these.
void copy_others(const std::string& input, const std::string& output);

}  // namespace heed::cli
