// The recipe of a training: all settings that determine its result, except time limits, as a TOML file. It
// can also list the training corpora, which otherwise come from the command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/augment/augmentation_options.h"
#include "data/corpus/cleaning.h"
#include "heed/error.h"
#include "kernels/gemm/gemm.h"
#include "models/directory/model_settings.h"
#include "models/model.h"
#include "train/loop/schedule.h"

namespace heed::train {

enum class Averaging {
  kNone,
  kLast,     ///< the mean of the last snapshots of the weights
  kRunning,  ///< an exponential moving average of the weights
};

/// A [[corpus]] of a recipe: sentence pairs with a weight. Paths are absolute.
struct CorpusSettings {
  std::string pairs = {};                ///< a TSV file; if empty, two parallel files:
  std::string source = {}, target = {};  ///< one sentence per line
  bool swap = false;                     ///< swap source and target
  double weight = 1;                     ///< repetitions of each pair per epoch
  std::string tag = {};                  ///< prepended to each source sentence
};

/// visit_recipe() maps the fields to keys of the file; docs/training.md describes them. Task and architecture
/// determine which fields a recipe has. The defaults are those of a small translation model.
struct Recipe {
  // [model]
  std::string arch = "transformer";
  models::ModelSettings model;

  // [tokenizer]
  std::string tokenizer = "unigram";
  int vocabulary = 8000;  ///< vocabulary size: joint, or of each side
  bool joint = true;
  std::string normalization = "nmt_nfkc";
  bool byte_fallback = true;
  bool split_digits = false;  ///< each digit is a piece, so that numbers are copied digit by digit
  int placeholders = 0;       ///< number of placeholder pieces ⟦0⟧, ⟦1⟧, ...
  bool lowercase = true;      ///< WordPiece: lower-case and strip accents
  double character_coverage = 0.9995;
  int64_t input_sentence_size =
      1'000'000;                   ///< maximum number of randomly sampled sentences for tokenizer training
  int subword_regularization = 0;  ///< sampled segmentations of each training sentence; 0: only the best one
  double sampling_alpha = 0.2;     ///< sample with probability proportional to P(segmentation)^alpha
  int sampling_nbest = 64;         ///< sample from the n best segmentations; 0: from all
  double maxmatch_dropout = 0.1;   ///< WordPiece: probability of skipping a matching piece when sampling
  double word_dropout = 0;         ///< WordPiece: probability that a word becomes [UNK] when sampling

  AugmentationOptions augmentation;  ///< [augmentation]
  /// [cleaning]. The languages are not part of a recipe; they come from --pair.
  CleaningOptions cleaning;

  /// The training corpora of a translation model, [[corpus]] tables; empty if given on the command line. They
  /// are part of a recipe so that it reproduces the training, but differences() ignores them: changed text is
  /// detected by its content.
  std::vector<CorpusSettings> corpora;

  // [training]
  std::string from;  ///< fine-tuning: the absolute path of the directory with the initial weights and
                     ///< tokenizer; empty: from scratch
  uint64_t seed = 1;
  int64_t batch_tokens = 4096;
  bool fit_batch = true;          ///< smaller batches in a short training (schedule_fit.h)
  int shards = 0;                 ///< 0: derived from batch_tokens
  int gradient_accumulation = 1;  ///< batches per update
  MatmulPrecision precision = MatmulPrecision::kHighest;
  int64_t max_length = 128;            ///< longer pairs are skipped, longer texts for classifiers truncated
  int64_t block_size = 256;            ///< language models: tokens per sequence
  bool document_boundaries = false;    ///< language models: blank lines separate documents
  std::string class_weights = "none";  ///< classifiers: none or balanced
  double label_smoothing = 0.1;
  /// Trains a cross-attention head on the alignments of a statistical aligner.
  bool guided_alignment = false;
  double guided_alignment_weight = 0.1;  ///< weight of the alignment loss
  int guided_alignment_layer = 0;        ///< decoder layer, from 1; 0: the second to last, or the only one
  int guided_alignment_head = 1;         ///< head, from 1

  // [optimizer]
  std::string optimizer = "adam";
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9, weight_decay = 0;
  double clip_norm = 0;  ///< clip the global gradient norm to this; 0: off

  // [schedule]
  ScheduleKind schedule = ScheduleKind::kInverseSqrt;
  double learning_rate = 1.5e-3;  ///< the peak
  int64_t warmup_steps = 2000;
  int64_t total_steps = 100000;
  /// Warm-up and end follow the length of the training (schedule_fit.h).
  bool fit_schedule = true;

  // [averaging]
  Averaging averaging = Averaging::kRunning;
  double decay = 0.999;  ///< of the exponential moving average, per step
  int snapshots = 10;    ///< number of last snapshots to average
  int64_t snapshot_every = 500;

  // [validation]
  int64_t validate_every = 1000;
  bool fit_validation = true;          ///< more often in a short training (schedule_fit.h)
  int64_t validation_sentences = 500;  ///< translated for BLEU and chrF
  int validation_beam_size = 1;
  int64_t validation_max_tokens = 0;  ///< language models: tokens of the validation text to use; 0: all
  std::string metric = "bleu";        ///< for selecting the best weights
  int patience = 0;  ///< early stopping after this many validations without improvement; 0: off

  models::Task task() const;
  Schedule make_schedule() const;
  /// `shards`, or a number derived from batch_tokens.
  int shard_count() const;
};

/// One setting as text.
struct Setting {
  std::string key, value;              ///< "model.width", "512"
  std::string origin;                  ///< file and line, or option, for messages
  ErrorKind kind = ErrorKind::kUsage;  ///< kind of errors about it
  std::string folder = {};             ///< base of relative paths; empty: the working directory
};

/// Parses the settings of a TOML file. Throws kFormat for invalid TOML; `origin` is the file name for
/// messages. The keys of the n-th [[corpus]] are "corpus.n.pairs" and so on; paths are relative to `folder`.
std::vector<Setting> read_settings(const std::string& text, const std::string& origin,
                                   const std::string& folder = "");

/// The value of a key, which is the last one; nullptr if it is not set.
const Setting* find_setting(const std::vector<Setting>& settings, const std::string& key);

/// The absolute path of the model to fine-tune, training.from; empty: none.
std::string path_of_source(const std::vector<Setting>& settings);

/// The settings of a recipe that an earlier version stored with a training, under their present keys.
std::vector<Setting> with_present_keys(std::vector<Setting> settings);

/// The tasks by their names in --task.
const models::Words<models::Task>& task_names();

/// Applies settings in order to the preset ("tiny", "small" or "base") of an architecture: the one in the
/// settings, or the first for `task` (translation if empty). Throws for unknown names, suggesting the
/// nearest; for an architecture of another task; for settings that task or architecture do not have; for keys
/// of earlier versions, naming the present key; and for invalid values. Settings that fix the schedule or the
/// validations turn fitting off, unless schedule.fit or validation.fit is among them.
Recipe make_recipe(const std::string& preset, const std::string& task, const std::vector<Setting>& settings);

/// Writes all fields of the recipe's task and architecture as TOML, which reproduces the recipe.
std::string to_toml(const Recipe& recipe);

/// Throws kUsage for inconsistent sizes in [model], naming the keys.
void check_model_settings(const Recipe& recipe);

/// The name in recipes: "cosine".
std::string schedule_name(ScheduleKind kind);

/// The fields that differ, except corpora, as "model.width (256, now 512)".
std::vector<std::string> differences(const Recipe& before, const Recipe& now);

}  // namespace heed::train
