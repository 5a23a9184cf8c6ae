// Everything that decides what a training does, but for the data and the limits of time: a TOML file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/model_settings.h"
#include "train/schedule.h"

namespace heed::train {

enum class Averaging {
  kNone,
  kLast,     ///< the mean of the last snapshots of the weights
  kRunning,  ///< an exponential moving average of the weights
};

/// Each field stands in the file under the key that visit_recipe() gives it; docs/training.md lists them all.
/// The defaults are those of --preset small.
struct Recipe {
  // [model]
  std::string arch = "transformer";
  models::ModelSettings model;

  // [tokenizer]
  std::string tokenizer = "unigram";
  int vocabulary = 8000;  ///< of each model: joint, or of either side
  bool joint = true;
  std::string normalization = "nmt_nfkc";
  bool byte_fallback = true;
  double character_coverage = 0.9995;
  int sampled_cuts = 0;         ///< ways in which each training sentence is cut by chance; 0: only the best
  double sampling_alpha = 0.2;  ///< cuts are drawn with probability proportional to P(cut)^alpha
  int sampling_nbest = 64;      ///< from so many of the best

  // [augmentation]: pairs that are added to those of the text
  int invented_names = 0;  ///< copies of pairs that share a name, with an invented one
  int other_numbers = 0;   ///< copies of pairs that share a number, with another one
  double capitals = 0;     ///< share of pairs with a copy in capitals
  double joined = 0;       ///< share of pairs with a copy that has others behind it

  // [training]
  uint64_t seed = 1;
  int64_t batch_tokens = 4096;
  int shards = 0;            ///< 0: by batch_tokens alone
  int accumulate = 1;        ///< batches per update
  int64_t max_length = 128;  ///< longer sentences are left out
  double label_smoothing = 0.1;

  // [optimizer]
  std::string optimizer = "adam";
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9, weight_decay = 0;
  double clip = 0;  ///< largest norm of all gradients; 0: none

  // [schedule]
  ScheduleKind schedule = ScheduleKind::kInverseSqrt;
  double rate = 1.5e-3;
  int64_t warmup = 2000;
  int64_t total_steps = 100000;

  // [averaging]
  Averaging averaging = Averaging::kRunning;
  double decay = 0.999;  ///< of the running average, per step
  int snapshots = 10;    ///< how many of the last ones are averaged
  int64_t snapshot_every = 500;

  // [validation]
  int64_t validate_every = 1000;
  int64_t validation_sentences = 500;  ///< translated for BLEU and chrF
  int validation_beam = 1;
  std::string metric = "bleu";  ///< that decides which weights are best: bleu, chrf or loss
  int patience = 0;             ///< validations without improvement before stopping; 0: never

  Schedule make_schedule() const;
  /// shards, or what batch_tokens suggests.
  int shard_count() const;
};

/// "tiny", "small" or "base"; throws kUsage for another name, naming these.
Recipe preset(const std::string& name);

/// Overrides fields from TOML text. Throws kFormat for an unknown key (naming the nearest) or a bad value;
/// `origin` is what messages call the text.
void apply_toml(Recipe& recipe, const std::string& text, const std::string& origin);
/// Overrides one field, "model.width" = "512". Throws kUsage.
void apply_setting(Recipe& recipe, const std::string& key, const std::string& value);
/// All fields, as a TOML file that apply_toml reads back.
std::string to_toml(const Recipe& recipe);

/// The fields that differ, as "model.width (256, now 512)".
std::vector<std::string> differences(const Recipe& before, const Recipe& now);

}  // namespace heed::train
