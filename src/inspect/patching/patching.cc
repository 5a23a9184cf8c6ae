#include "inspect/patching/patching.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/check.h"
#include "inspect/patching/patch_plan.h"
#include "inspect/patching/patched_run.h"

namespace heed {
namespace {

/// Tokens of a decoder are aligned up to the target, which both texts have.
RowAlignment alignment_of(const Reading& clean, const Reading& corrupted, size_t clean_decoder_tokens) {
  RowAlignment rows{.encoder = aligned_rows(clean.source_ids, corrupted.source_ids)};
  if (!clean.has_decoder()) return rows;
  const auto before_target = [](const Reading& reading) {
    return std::vector<int32_t>(reading.decoder_ids.begin(),
                                reading.decoder_ids.begin() + reading.first_target_row);
  };
  rows.decoder = aligned_rows(before_target(clean), before_target(corrupted));
  for (size_t n = rows.decoder.size(); n < clean_decoder_tokens; ++n) {
    rows.decoder.push_back(static_cast<int>(n) + corrupted.first_target_row - clean.first_target_row);
  }
  return rows;
}

/// The number of runs in a batch: enough rows for fast products, and logits that fit into the cache.
size_t runs_at_a_time(const PatchedText& text) {
  constexpr size_t kTokens = 512, kPredictions = 64;
  return std::max<size_t>(1, std::min(kTokens / text.tokens(), kPredictions / text.predicted.rows.size()));
}

using RunBatch = std::function<std::vector<double>(const std::vector<Patch>& patches)>;

/// f of each patched run; `run` takes up to `most` at a time.
std::vector<double> run_in_batches(const std::vector<Patch>& patches, size_t most, const RunBatch& run,
                                   ThreadPool& pool) {
  std::vector<double> values(patches.size());
  pool.run((patches.size() + most - 1) / most, [&](size_t batch) {
    const size_t first = batch * most, count = std::min(most, patches.size() - first);
    const auto begin = patches.begin() + static_cast<std::ptrdiff_t>(first);
    const std::vector<double> found = run({begin, begin + static_cast<std::ptrdiff_t>(count)});
    std::copy(found.begin(), found.end(), values.begin() + static_cast<std::ptrdiff_t>(first));
  });
  return values;
}

void require_different_texts(const Reading& clean, const Reading& corrupted) {
  if (clean.source_ids == corrupted.source_ids && clean.decoder_ids == corrupted.decoder_ids) {
    fail(ErrorKind::kUsage, "both texts have the same tokens: give two that differ, in a word for example");
  }
}

void require_difference(double clean, double corrupted) {
  constexpr double kLeast = 1e-4;  // float32 resolves some 1e-6 of a log-probability
  if (std::abs(clean - corrupted) >= kLeast) return;
  fail(ErrorKind::kUsage,
       "the target is equally likely after both texts (ln P {:.4f} and {:.4f}), so there is no difference to "
       "bring back: choose a target or a token on which the texts disagree",
       clean, corrupted);
}

/// From f of each patched run.
void set_effects(const std::vector<double>& values, PatchPlan plan, Patching& patching) {
  for (size_t n = 0; n < values.size(); ++n) {
    plan.map(plan.cells[n].map).effects[plan.cells[n].index] =
        static_cast<float>((values[n] - patching.corrupted) / (patching.clean - patching.corrupted));
  }
  patching.encoder = std::move(plan.map(Stack::kEncoder));
  patching.decoder = std::move(plan.map(Stack::kDecoder));
  patching.cross = std::move(plan.map(Stack::kCross));
  patching.evaluations = static_cast<int>(plan.patches.size()) + 2;
}

}  // namespace

const char* patched_part_name(PatchedPart part) {
  return name_in(kPatchedParts, part);
}

PatchedPart patched_part_named(const std::string& name) {
  return value_in(kPatchedParts, "part", name);
}

Patching patch(const InspectedModel& model, const Reading& clean, const Reading& corrupted,
               const PatchOptions& options, ThreadPool& pool) {
  const std::vector<size_t> chosen = chosen_predictions(model, clean, options.token);
  const int32_t other = alternative_id(model, clean, options.instead, chosen);
  require_different_texts(clean, corrupted);
  Patching patching{.model = model.name(),
                    .source = clean.source,
                    .other = corrupted.source,
                    .target = clean.target,
                    .source_tokens = clean.source_tokens(),
                    .other_tokens = corrupted.source_tokens(),
                    .target_tokens = clean.target_tokens,
                    .tokens = {chosen.begin(), chosen.end()},
                    .instead = alternative_name(model, other),
                    .what = options.what};
  const PatchedText clean_text = patched_text(clean, chosen, other);
  const PatchedText corrupted_text = patched_text(corrupted, chosen, other);
  const RowAlignment rows = alignment_of(clean, corrupted, clean_text.decoder_ids.size());
  patching.counterparts = clean.has_encoder() ? rows.encoder : rows.decoder;
  patching.counterparts.resize(patching.source_tokens.size());

  const CleanRun run = run_clean(model, clean_text, patched_kinds(options.what));
  patching.clean = run.value;
  patching.corrupted = run_patched(model, corrupted_text, run, rows, {Patch{}})[0];
  require_difference(patching.clean, patching.corrupted);

  PatchPlan plan = plan_patches(options.what, run.states, rows, clean);
  const auto run_batch = [&](const std::vector<Patch>& patches) {
    return run_patched(model, corrupted_text, run, rows, patches);
  };
  const std::vector<double> values =
      run_in_batches(plan.patches, runs_at_a_time(corrupted_text), run_batch, pool);
  set_effects(values, std::move(plan), patching);
  return patching;
}

}  // namespace heed
