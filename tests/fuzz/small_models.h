// Directories of three untrained models, for fuzzers: a translation model, a language model and a classifier,
// so small that each is read, and answers, in a millisecond.
#pragma once

#include <string>

namespace heed {

class SmallModels {
 public:
  /// Writes them to a temporary folder.
  SmallModels();
  ~SmallModels();
  SmallModels(const SmallModels&) = delete;
  SmallModels& operator=(const SmallModels&) = delete;

  /// "translator", "writer" or "classifier"
  std::string directory(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace heed
