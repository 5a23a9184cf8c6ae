// Everything that decides what a training does, but for the limits of time: a TOML file. It may name the
// text, too, which is else named by the command.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/augmentation_choices.h"
#include "heed/error.h"
#include "kernels/gemm/gemm.h"
#include "models/model.h"
#include "models/model_settings.h"
#include "train/schedule.h"

namespace heed::train {

enum class Averaging {
  kNone,
  kLast,     ///< the mean of the last snapshots of the weights
  kRunning,  ///< an exponential moving average of the weights
};

/// A [[corpus]] of a recipe: sentence pairs, and how often they are trained on. Paths are absolute.
struct CorpusSettings {
  std::string pairs = {};                ///< a TSV file; or empty, and two parallel files
  std::string source = {}, target = {};  ///< these
  bool swap = false;                     ///< exchange source and target
  double weight = 1;                     ///< how often each pair stands in an epoch
  std::string tag = {};                  ///< stands before each source sentence
};

/// Each field stands in the file under the key that visit_recipe() gives it; docs/training.md lists them all.
/// Which of them a recipe has depends on the task and the architecture; the defaults are those of a small
/// translator.
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
  bool split_digits = false;  ///< each digit is a piece, so that numbers are copied digit by digit
  int placeholders = 0;       ///< pieces ⟦0⟧, ⟦1⟧, ... for text that is not translated
  bool lowercase = true;      ///< of WordPiece: case and accents are put aside
  double character_coverage = 0.9995;
  int64_t tokenizer_sentences =
      1'000'000;                ///< of both sides: so many at most, drawn by chance, are learnt from
  int sampled_cuts = 0;         ///< ways in which each training sentence is cut by chance; 0: only the best
  double sampling_alpha = 0.2;  ///< cuts are drawn with probability proportional to P(cut)^alpha
  int sampling_nbest = 64;      ///< from so many of the best; 0: from all
  double piece_dropout = 0.1;   ///< of WordPiece: cuts are drawn by passing over pieces with this probability
  double word_dropout = 0;      ///< of WordPiece: and words become [UNK] with this one

  // [augmentation]: pairs that are added to those of the text
  int other_names = 0;            ///< copies of pairs that share a name, with another one
  int other_numbers = 0;          ///< copies of pairs that share a number, with another one
  double capitals = 0;            ///< share of pairs with a copy in capitals
  double joined = 0;              ///< share of pairs with a copy that has others behind it
  double bare = 0;                ///< share of pairs with a copy without the mark at its end
  double copies = 0;              ///< share of pairs followed by a name or number that is its own translation
  double lowercase_copies = 0;    ///< share of pairs with a copy whose source is in small letters,
  double uncapitalized = 0;       ///< whose source begins with a small letter,
  double titles = 0;              ///< whose source is Written Like a Heading,
  double addresses = 0;           ///< with an address on both sides,
  double placeholder_copies = 0;  ///< with placeholders,
  double emoji = 0;               ///< with emojis
  NamesFrom names_from = NamesFrom::kInvented;
  JoinedSentences joined_sentences = JoinedSentences::kUniform;

  // [cleaning]: pairs that are not learnt from
  double max_ratio = 0;               ///< of the lengths of the sides; 0: any
  int64_t max_words = 0;              ///< on a side; 0: any number
  int64_t max_characters = 0;         ///< on a side; 0: any number
  int64_t identical = -1;             ///< sides that are the same in more words than this; -1: none
  bool duplicates = false;            ///< pairs that were there before
  bool broken_encoding = false;       ///< control characters, and UTF-8 read as something else
  bool other_languages = false;       ///< pairs of other languages than --pair says
  std::vector<std::string> held_out;  ///< files whose sentences must not be learnt from; as `corpora`

  /// The training text of a translator, in [[corpus]] tables; empty where the command names it. It is part of
  /// a recipe so that a run can be repeated from it alone, but differences() passes over it: whether the text
  /// is the same is found out from its content.
  std::vector<CorpusSettings> corpora;

  // [training]
  std::string from;  ///< the model directory whose tokenizer, sizes and weights it begins with; empty: none
  uint64_t seed = 1;
  int64_t batch_tokens = 4096;
  int shards = 0;      ///< 0: by batch_tokens alone
  int accumulate = 1;  ///< batches per update
  MatmulPrecision precision = MatmulPrecision::kHighest;
  int64_t max_length = 128;  ///< longer sentences are left out; of longer texts to classify, the end
  int64_t block = 256;       ///< of a language model: tokens that are read together
  bool documents = false;    ///< of a language model: blank lines end a document
  std::string class_weights = "none";  ///< of a classifier: none, or balanced
  double label_smoothing = 0.1;
  /// One head of the decoder's attention to the source learns the alignments of a statistical aligner.
  bool guided_alignment = false;
  double guided_weight = 0.1;  ///< of its loss, where that of the words has 1
  int guided_layer = 0;        ///< of the decoder, from 1; 0: the last but one, or the only one
  int guided_head = 1;         ///< of the layer, from 1

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
  int64_t validation_tokens = 0;  ///< of a language model's validation text; 0: all
  std::string metric = "bleu";    ///< that decides which weights are best
  int patience = 0;               ///< validations without improvement before stopping; 0: never

  models::Task task() const;
  Schedule make_schedule() const;
  /// shards, or what batch_tokens suggests.
  int shard_count() const;
};

/// One field as somebody wrote it.
struct Setting {
  std::string key, value;              ///< "model.width", "512"
  std::string origin;                  ///< where, as messages say it
  ErrorKind kind = ErrorKind::kUsage;  ///< of errors in it
  std::string folder = {};             ///< that paths are relative to; empty: the working directory
};

/// The settings of a TOML file. Throws kFormat for text that is no TOML; `origin` is what messages call it.
/// Those of the n-th [[corpus]] have keys such as "corpus.n.pairs"; paths are relative to `folder`.
std::vector<Setting> read_settings(const std::string& text, const std::string& origin,
                                   const std::string& folder = "");

/// Translation, language model, classification: as --task names them.
const models::Words<models::Task>& task_names();

/// The preset ("tiny", "small" or "base") of the architecture that the settings name (or else of the first
/// that is for `task`, which is translation unless it says otherwise), with the settings over it, the later
/// over the earlier. Throws for unknown names, naming the nearest; for an architecture that is not for
/// `task`; for settings that the task or the architecture does not have; and for bad values.
Recipe make_recipe(const std::string& preset, const std::string& task, const std::vector<Setting>& settings);

/// All fields that the recipe's task and architecture have, as TOML that gives the same recipe again.
std::string to_toml(const Recipe& recipe);

/// Throws kUsage for sizes in [model] that contradict each other, by their keys.
void check_model_settings(const Recipe& recipe);

/// "cosine", as in recipes.
std::string schedule_name(ScheduleKind kind);

/// The fields that differ, those that name text left out, as "model.width (256, now 512)".
std::vector<std::string> differences(const Recipe& before, const Recipe& now);

}  // namespace heed::train
