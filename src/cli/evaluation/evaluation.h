// Input of heed evaluate: test sets, and the translations of systems (models, or files of translations).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "cli/files/model_lookup.h"
#include "cli/options/search_flags.h"

namespace heed::cli {

using Lines = std::vector<std::string>;

struct TestSetInput {
  std::vector<std::string> pairs;       ///< files of SOURCE TAB TARGET: each is a test set
  std::string source;                   ///< or one file of source lines; empty with hypotheses alone
  std::vector<std::string> references;  ///< files of reference translations
  bool swap = false, lossy = false;
  bool required_forms = false;  ///< --must-contain: read the forms in columns 3 and up of `pairs`
};

struct TestSet {
  std::string name;               ///< the file, for messages and tables
  Lines source;                   ///< empty where only references are given
  std::vector<Lines> references;  ///< [reference][line]
  std::vector<uint64_t> lines;    ///< the number of each line in its file
  uint64_t file_lines = 0;        ///< of a file of pairs with those that have no pair

  /// With required_forms, [line][column][form]: a translation must contain one form of every column.
  std::optional<std::vector<std::vector<Lines>>> required;

  size_t size() const { return lines.size(); }
};

/// Reads all test sets: one per file of pairs, else the one of source and references. Of references with as
/// many lines as the whole file of pairs, those without a pair are left out. Throws kFormat if the numbers of
/// lines differ, and the errors of reading.
std::vector<TestSet> read_test_sets(const TestSetInput& input);

/// The translations of a test set by one system.
struct SystemOutput {
  std::string system;  ///< the model or the file
  Lines lines;
  double seconds = 0;  ///< translation time, without loading the model
};

/// Reads a file of translations, of which lines without a pair are left out as in references. Throws kFormat,
/// naming both files, if its number of lines differs.
SystemOutput read_hypotheses(const std::string& path, const TestSet& test_set, bool lossy);

struct EvaluatedModel {
  ModelChoice choice;
  TranslateOptions options;
  bool quiet = false;  ///< neither progress nor notes
};

/// Translates all test sets with a model. Writes a note to standard error for one in another language than
/// the model's. Throws Cancelled when interrupted.
std::vector<SystemOutput> translate_test_sets(const EvaluatedModel& model,
                                              const std::vector<TestSet>& test_sets, ThreadPool& pool);

}  // namespace heed::cli
