#include "train/tasks/prepared_corpus.h"

#include <filesystem>
#include <optional>

#include "base/check.h"
#include "train/loop/trainer.h"

namespace heed::train {
namespace {

Corpus verified(const std::string& path, const Stop& stop) {
  Corpus corpus(path);
  corpus.verify(stop);
  return corpus;
}

/// The corpus of an earlier run, if it is valid and matches.
std::optional<Corpus> usable(const PreparedCorpus& corpus, const Stop& stop) {
  try {
    Corpus found = verified(corpus.path, stop);
    if (found.info().origin == corpus.wanted) return found;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kFormat) throw;
  }
  return std::nullopt;
}

}  // namespace

Corpus prepared_corpus(const TaskInput& input, const PreparedCorpus& corpus,
                       const std::function<void()>& make) {
  if (std::filesystem::exists(corpus.path)) {
    if (!input.begun) {
      if (auto found = usable(corpus, input.stop)) return std::move(*found);
    } else {
      Corpus found = verified(corpus.path, input.stop);
      if (found.info().origin == corpus.wanted) return found;
      fail(ErrorKind::kUsage,
           "the text of {1} has changed since the training in '{0}' began; give the same text, or train into "
           "another directory",
           input.options.output, corpus.name);
    }
  }
  if (!input.reducer.is_first()) {
    fail(ErrorKind::kNotFound, "'{}' is missing: {}", corpus.path, kNeedsSharedDirectory);
  }
  input.begin_work(fmt::format("tokenizing {}", corpus.name));
  make();
  return Corpus(corpus.path);
}

}  // namespace heed::train
