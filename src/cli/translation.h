// Shared by the subcommands for translation models: a model with its tokenizer, and input of sentence pairs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "cli/line_output.h"
#include "cli/model_lookup.h"
#include "data/pairs_reader.h"
#include "decode/model_files.h"

namespace heed::cli {

using decode::translation_model;
using decode::TranslationModel;

/// Loads the chosen model. Throws the errors of find_translation_model() and of loading.
TranslationModel load_translation_model(const ModelChoice& choice);

/// The sentence pairs of a file with their line numbers. Lines with an empty side have no pair.
struct NumberedPairs {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::vector<uint64_t> lines;  ///< line number of each pair, from 1
  uint64_t line_count = 0;
};

/// Adds --pairs, --source, --target, --swap and --lossy.
void add_pairs_options(Command& app, PairsInput& input);

/// Throws kUsage unless either --pairs, or --source and --target are given.
void require_one_input(const PairsInput& input);
/// Throws the errors of require_one_input() and PairsReader.
NumberedPairs read_pairs(const PairsInput& input);

/// Throws kUsage, naming the line, for a pair with more tokens than the model has positions.
void require_max_length(const TranslationModel& model, const NumberedPairs& pairs);

/// Writes one line per input line: `results[n]` for the n-th pair, an empty line for lines without a pair.
void write_for_each_line(const NumberedPairs& pairs, const std::vector<std::string>& results,
                         LineOutput& output);

}  // namespace heed::cli
