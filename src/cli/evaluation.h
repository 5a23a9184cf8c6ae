// What heed evaluate scores: test sets, and what systems (models, or files of translations) give for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "cli/model_lookup.h"
#include "cli/search_flags.h"

namespace heed::cli {

using Lines = std::vector<std::string>;

struct TestSetInput {
  std::vector<std::string> pairs;       ///< files of SOURCE TAB TARGET: each is a test set
  std::string source;                   ///< or a file of lines, or nothing (hypotheses alone)
  std::vector<std::string> references;  ///< files of right translations
  bool swap = false, lossy = false;
  bool required_forms =
      false;  ///< the columns of `pairs` behind the second hold what must be in translations
};

struct TestSet {
  std::string name;               ///< the file, for messages and tables
  Lines source;                   ///< empty where only references are given
  std::vector<Lines> references;  ///< [reference][line]
  std::vector<uint64_t> lines;    ///< the number of each line in its file
  /// Of each line what its translation must hold, if that is asked for: one of the forms of every column.
  std::vector<std::vector<std::vector<std::string>>> required;

  size_t size() const { return lines.size(); }
};

/// Reads all test sets: one for each file of pairs, else the one of source and references. Throws kFormat
/// where files have unequal numbers of lines, and what reading throws.
std::vector<TestSet> read_test_sets(const TestSetInput& input);

/// What a system gives for a test set.
struct SystemOutput {
  std::string system;  ///< the model or the file
  Lines lines;
  double seconds = 0;  ///< of translating, without loading the model
};

/// A file of translations, which must have as many lines as the test set. Throws kFormat, naming both files.
SystemOutput read_hypotheses(const std::string& path, const TestSet& test_set, bool lossy);

struct EvaluatedModel {
  ModelChoice choice;
  SearchFlags search;
  bool show_progress = false;
};

/// The translations of all test sets by a model; nothing where the user interrupts.
std::optional<std::vector<SystemOutput>> translate_test_sets(const EvaluatedModel& model,
                                                             const std::vector<TestSet>& test_sets,
                                                             ThreadPool& pool);

}  // namespace heed::cli
