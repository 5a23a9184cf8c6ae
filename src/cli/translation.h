// What the subcommands that translate share: a model ready to be used, and the pairs they read.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "cli/line_output.h"
#include "cli/model_lookup.h"
#include "data/pairs_reader.h"
#include "models/model_directory.h"
#include "text/tokenizer.h"

namespace heed::cli {

struct TranslationModel {
  models::LoadedModel loaded;
  Tokenizer tokenizer;
};

/// A model that was read, with its tokenizer. Throws kUsage for another kind of model, what reading the
/// tokenizer throws, and kFormat where tokenizer and model do not have as many pieces.
TranslationModel translation_model(models::LoadedModel loaded);
/// The model that was chosen. Throws what looking for it and reading it throw.
TranslationModel load_translation_model(const ModelChoice& choice);

/// Sentence pairs of a file, and the lines that they stood in: lines without text on both sides hold none.
struct NumberedPairs {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::vector<uint64_t> lines;  ///< of each pair, from 1
  uint64_t line_count = 0;
};

/// Adds --pairs, --source, --target, --swap and --lossy.
void add_pairs_options(Command& app, PairsInput& input);

/// Throws kUsage where no file is named, or too many are.
void require_one_input(const PairsInput& input);
/// Throws what PairsReader throws, and require_one_input().
NumberedPairs read_pairs(const PairsInput& input);

/// Throws kUsage for a pair that has more tokens than the model has positions, naming its line.
void require_room(const TranslationModel& model, const NumberedPairs& pairs);

/// One line for each line that was read: `results[n]` for the n-th pair, nothing for lines without one.
void write_for_each_line(const NumberedPairs& pairs, const std::vector<std::string>& results,
                         LineOutput& output);

}  // namespace heed::cli
