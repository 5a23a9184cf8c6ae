// Patched runs: forward passes in which states are replaced by those of the clean run.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "inspect/reading/predictions.h"
#include "inspect/reading/state_recorder.h"

namespace heed {

/// One patched run: which states are replaced, and which part of each.
struct Patch {
  std::vector<size_t> states{};  ///< indices of clean states
  int head = -1;                 ///< of kHeads: the head; -1: all columns
  int row = -1;                  ///< the row of the clean run; -1: all that have a counterpart
};

/// For each row of the clean run, its counterpart in the corrupted one; -1: none.
struct RowAlignment {
  std::vector<int> encoder{}, decoder{};
  const std::vector<int>& of(Stack stack) const { return stack == Stack::kEncoder ? encoder : decoder; }
};

/// Equally many ids: position by position; else their common beginning and end.
std::vector<int> aligned_rows(const std::vector<int32_t>& clean, const std::vector<int32_t>& corrupted);

/// f of heed/patching.h of one text.
struct PatchedText {
  /// What the model reads; no decoder token behind the last prediction.
  std::vector<int32_t> source_ids{}, decoder_ids{}, types{};
  PredictedTokens predicted{};

  size_t tokens() const { return source_ids.size() + decoder_ids.size(); }
};
PatchedText patched_text(const Reading& reading, const std::vector<size_t>& predictions, int32_t other);

/// The clean run: f, and the states of the wanted kinds in the order of the forward pass.
struct CleanRun {
  double value = 0;
  std::vector<RecordedState> states{};
};
CleanRun run_clean(const InspectedModel& model, const PatchedText& text,
                   const std::vector<nn::StateKind>& kinds);

/// f of the text in each of a batch of runs, each with its patch.
std::vector<double> run_patched(const InspectedModel& model, const PatchedText& text, const CleanRun& clean,
                                const RowAlignment& rows, const std::vector<Patch>& patches);

}  // namespace heed
