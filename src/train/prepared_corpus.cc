#include "train/prepared_corpus.h"

#include <filesystem>

#include "base/check.h"
#include "base/file.h"
#include "data/fingerprint.h"

namespace heed::train {

Corpus prepared_corpus(const PreparedCorpus& corpus, const std::function<void()>& make) {
  if (!std::filesystem::exists(corpus.path)) make();
  Corpus found(corpus.path);
  if (found.info().origin == corpus.wanted) return found;
  fail(ErrorKind::kUsage,
       "the training in '{}' was begun on other text than {} holds now; give the same text, or train into "
       "another directory",
       corpus.output, corpus.name);
}

uint64_t fingerprint_files(const std::string& directory, const std::vector<std::string>& names) {
  Fingerprint fingerprint;
  for (const std::string& name : names) {
    const std::string path = std::filesystem::path(directory) / name;
    if (!std::filesystem::exists(path)) continue;
    const std::string content = read_file(path);
    fingerprint.add(content.data(), content.size());
  }
  return fingerprint.value();
}

}  // namespace heed::train
