// heed score for language models: log-probabilities of texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/jobs/resumable/line_job.h"
#include "cli/options/command.h"
#include "tasks/model_files.h"

namespace heed::cli {

struct ScoreTextsOptions {
  CommonOptions common;
  std::vector<std::string> texts = {};  ///< given by position; otherwise they are the lines of `input`
  std::string input, output;
  bool whole = false;  ///< the file is one text, instead of one text per line
  bool json = false, summary = false, lossy = false;
  std::optional<int64_t> stride;
  LineJobOptions job;
};

/// Returns the exit status.
int score_texts(const ScoreTextsOptions& options, const tasks::LanguageModelFiles& model);

}  // namespace heed::cli
