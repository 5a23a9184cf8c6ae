#include "train/tasks/translation_data.h"

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "base/counted.h"
#include "base/text/option_error.h"
#include "data/corpus_builder.h"
#include "text/sentences/language_codes.h"
#include "text/terms/placeholder_piece.h"
#include "train/tasks/guided_alignment.h"
#include "train/tasks/prepared_corpus.h"
#include "train/tasks/prepared_tokenizer.h"

namespace heed::train {
namespace {

/// User-defined symbols: placeholders and the tags of corpora.
std::vector<std::string> symbols_of(const Recipe& recipe) {
  std::vector<std::string> symbols;
  for (int n = 0; n < recipe.placeholders; ++n) symbols.push_back(placeholder_piece(n));
  for (const CorpusSettings& corpus : recipe.corpora) {
    if (!corpus.tag.empty() && std::ranges::count(symbols, corpus.tag) == 0) symbols.push_back(corpus.tag);
  }
  return symbols;
}

SentencePieceTrainOptions piece_options(const Recipe& recipe) {
  static const std::vector<std::pair<std::string, TextNormalization>> normalizations{
      {"nmt_nfkc", TextNormalization::kNmtNfkc},
      {"nfkc", TextNormalization::kNfkc},
      {"nmt_nfkc_cf", TextNormalization::kNmtNfkcCf},
      {"nfkc_cf", TextNormalization::kNfkcCf},
      {"identity", TextNormalization::kIdentity}};
  SentencePieceTrainOptions options;
  options.type = recipe.tokenizer == "bpe" ? SubwordType::kBpe : SubwordType::kUnigram;
  options.vocabulary_size = recipe.vocabulary;
  options.byte_fallback = recipe.byte_fallback;
  options.split_digits = recipe.split_digits;
  options.max_sentences = static_cast<size_t>(recipe.input_sentence_size);
  options.character_coverage = recipe.character_coverage;
  options.symbols = symbols_of(recipe);
  options.ascii_characters = recipe.augmentation.addresses > 0;
  for (const auto& [name, value] : normalizations) {
    if (name == recipe.normalization) options.normalization = value;
  }
  return options;
}

/// Throws kUsage if the recipe requires symbols that the tokenizer of the fine-tuned model lacks.
void check_symbols(const Recipe& recipe, const TranslationTokenizer& tokenizer) {
  for (const CorpusSettings& corpus : recipe.corpora) {
    if (corpus.tag.empty() || tokenizer.source_vocabulary().find(corpus.tag)) continue;
    fail(ErrorKind::kUsage,
         "the tokenizer of '{1}' has no piece for the tag '{0}': only a tokenizer that was trained with it "
         "has it",
         corpus.tag, recipe.from);
  }
  if (recipe.augmentation.placeholders > 0 && placeholder_pieces(tokenizer) == 0) {
    fail(ErrorKind::kUsage,
         "augmentation.placeholders: the tokenizer of '{}' has no placeholders; only one that was trained "
         "with tokenizer.placeholders has them",
         recipe.from);
  }
}

AugmentationOptions augmentation_options(const TrainerOptions& options) {
  AugmentationOptions augmentation = options.recipe.augmentation;
  if (language_tag(options.source_language) != "en") augmentation.title_case = 0;  // only English uses it
  return augmentation;
}

/// Reads one side of the pairs, line by line.
NextLine side_of(const PairsMix& text, bool target) {
  auto reader = std::make_shared<PairsMixReader>(text);
  return [reader, target](std::string& line) {
    Pair pair;
    if (!reader->next(pair)) return false;
    line = target ? pair.target : pair.source;
    return true;
  };
}

/// Throws kUsage if targets begin with their language and none is known.
void require_target_language(const TranslationTokenizer& tokenizer) {
  if (!tokenizer.target_begins_with_language() || tokenizer.first_target_id()) return;
  fail_option(
      "the model translates into several languages: give the two languages as $languages, such as {}-{}",
      tokenizer.languages().front(), tokenizer.languages().back());
}

/// Trains a tokenizer and writes its files.
void train_tokenizer(const TaskInput& input, const PairsMix& text, const std::string& directory) {
  const TrainerOptions& options = input.options;
  const Recipe& recipe = options.recipe;
  TokenizerTrainOptions train_options;
  train_options.joint = recipe.joint;
  train_options.source = train_options.target = piece_options(recipe);
  train_options.source_language = options.source_language;
  train_options.target_language = options.target_language;
  train_options.max_length = static_cast<int>(recipe.model.max_length);
  TranslationTokenizer::train(train_options, side_of(text, false), side_of(text, true)).save(directory);
}

/// Reports the number of pairs of each corpus of a mix.
void report_corpora(const PairsMix& mix, const TaskInput& task) {
  for (size_t n = 0; n < mix.corpora().size(); ++n) {
    const MixedCorpusCounts& counts = mix.counts()[n];
    const std::string removed = fault_counts_text(counts.removed);
    if (mix.corpora().size() == 1 && removed.empty()) return;  // the totals are reported elsewhere
    std::string message = fmt::format("{}: {}", counts.name, counted(counts.read.pairs, "pair"));
    if (!removed.empty()) message += fmt::format(", removed: {}", removed);
    const double weight = mix.corpora()[n].weight;
    if (weight != 1) message += fmt::format(", {} in an epoch (weight {})", counts.given, weight);
    task.say(message);
  }
}

/// Opens a text, which is read twice: for statistics of the whole, and then pair by pair.
using Sources = std::function<std::unique_ptr<PairSource>()>;

/// What a corpus is for.
enum class Use { kTraining, kValidation };

/// The text of a corpus.
struct CorpusText {
  Sources open;
  std::string path;  ///< of the corpus
  uint64_t fingerprint = 0;
  Use use = Use::kTraining;
};

/// Tokenizes a text. With tokenizer.subword_regularization = n, the training corpus contains n sampled
/// segmentations of each sentence (Kudo, "Subword Regularization", 2018), sampled before the training instead
/// of in each epoch.
void make_corpus(const CorpusText& text, const TranslationTokenizer& tokenizer, const CorpusOrigin& origin,
                 const TaskInput& task) {
  const Recipe& recipe = task.options.recipe;
  const std::unique_ptr<PairSource> reader = text.open();
  CorpusBuildOptions build;
  build.vocabulary_size =
      static_cast<uint32_t>(std::max(tokenizer.size(), tokenizer.source_vocabulary().size()));
  build.max_length = origin.max_length;
  build.tokenizer_fingerprint = origin.tokenizer;
  build.pool = &task.pool;
  build.stop = task.stop;
  const RandomKey key = RandomKey::from_seed(recipe.seed);
  const int segmentations = text.use == Use::kTraining ? recipe.subword_regularization : 0;
  std::optional<Augmentation> augmentation;
  const AugmentationOptions more = augmentation_options(task.options);
  if (text.use == Use::kTraining && recipe.augmentation.title_case > 0 && more.title_case == 0) {
    task.say("augmentation.title_case adds nothing: it needs English as the source language (--pair)");
  }
  if (text.use == Use::kTraining && more.any()) {
    build.augmentation =
        &augmentation.emplace(*text.open(), more, key.fold(4), placeholder_pieces(tokenizer));
  }
  const SubwordSampling sampling{recipe.sampling_alpha, recipe.sampling_nbest, segmentations};
  // The encoder of one side, which has its own random numbers.
  const auto encoder = [&](auto encode, auto sample, uint64_t side) -> Encoder {
    return [&, encode, sample, side](std::string_view line, uint64_t number) {
      std::vector<std::vector<int32_t>> ids;
      if (segmentations == 0) {
        ids.push_back((tokenizer.*encode)(line, {}).ids);
        return ids;
      }
      Random random(key.fold(side).fold(number));
      for (Encoding& drawn : (tokenizer.*sample)(line, sampling, random)) ids.push_back(std::move(drawn.ids));
      return ids;
    };
  };
  const CorpusCounts counts = build_pair_corpus(
      *reader, encoder(&TranslationTokenizer::encode_source, &TranslationTokenizer::sample_source, 2),
      encoder(&TranslationTokenizer::encode_target, &TranslationTokenizer::sample_target, 3), text.path,
      build);
  std::string message = fmt::format("{}: {}", reader->name(), counted(counts.written, "pair"));
  if (augmentation) {
    message += fmt::format(", {} of them added ({})", augmentation->added(), augmentation->added_by_kind());
  }
  if (segmentations > 0) message += fmt::format(", {} of each", counted(segmentations, "segmentation"));
  if (counts.too_long > 0) {
    message += fmt::format(", {} skipped with more than {} tokens", counts.too_long, build.max_length);
  }
  const PairsCounts read = reader->counts();
  if (read.empty > 0) message += fmt::format(", {} skipped with an empty side", read.empty);
  if (read.extra_columns > 0) message += ", " + extra_columns_text(read);
  task.say(message);
}

Corpus prepare_corpus(const CorpusText& text, const TranslationTokenizer& tokenizer, const TaskInput& task) {
  const CorpusOrigin origin{
      text.fingerprint,
      fingerprint_files(
          task.options.output,
          {model_file::kSourceSpm, model_file::kTargetSpm, model_file::kVocabularyJson, model_file::kMerges,
           model_file::kTokenizerJson, model_file::kT5Model, model_file::kSentencePieceBpe}),
      static_cast<uint64_t>(task.options.recipe.max_length)};
  return prepared_corpus(task, {text.path, text.open()->name(), origin},
                         [&] { make_corpus(text, tokenizer, origin, task); });
}

void require_rereadable_pairs(const PairsInput& input) {
  for (const std::string* path : {&input.pairs, &input.source, &input.target}) require_rereadable(*path);
}

/// The training pairs: those of the command line, or else of the recipe.
PairsMix training_pairs(const TrainerOptions& options) {
  const PairsInput& given = options.data.pairs;
  const Recipe& recipe = options.recipe;
  std::vector<WeightedPairs> corpora;
  if (given.is_named() || recipe.corpora.empty()) {
    corpora.push_back({.input = given});
  } else {
    for (const CorpusSettings& each : recipe.corpora) {
      corpora.push_back({{each.pairs, each.source, each.target, each.swap != given.swap, given.lines},
                         each.weight,
                         each.tag});
    }
  }
  for (const WeightedPairs& each : corpora) require_rereadable_pairs(each.input);
  PairsMixOptions mix;
  mix.key = RandomKey::from_seed(recipe.seed).fold(5);
  mix.cleaning = recipe.cleaning;
  mix.cleaning.source_language = options.source_language;
  mix.cleaning.target_language = options.target_language;
  for (const std::string& path : mix.cleaning.held_out) require_rereadable(path);
  return PairsMix(std::move(corpora), mix);
}

/// Reads all pairs, to find errors before any long work begins.
uint64_t check_pairs(const PairsInput& input) {
  require_rereadable_pairs(input);
  PairsReader reader(input);
  Pair pair;
  while (reader.next(pair)) {
  }
  return reader.fingerprint();
}

}  // namespace

const std::vector<std::string>& translation_tokenizer_files() {
  static const std::vector<std::string> names{
      model_file::kSourceSpm, model_file::kTargetSpm, model_file::kVocabularyJson,
      model_file::kTargetVocabulary, model_file::kTokenizerConfig,
      // of other families
      model_file::kMerges, model_file::kTokenizerJson, model_file::kT5Model, model_file::kSentencePieceBpe};
  return names;
}

uint64_t TranslationData::fingerprint() const {
  if (!validation) return fingerprint_of_texts(corpus.content_fingerprint(), {});
  return fingerprint_of_texts(corpus.content_fingerprint(), validation->content_fingerprint());
}

PairsText read_pairs_text(const TaskInput& task) {
  const TrainerOptions& options = task.options;
  PairsText text{training_pairs(options)};
  if (options.validation.is_named()) text.validation = check_pairs(options.validation.pairs);
  const Recipe& recipe = options.recipe;
  if (!recipe.from.empty() && !task.begun) {
    const TranslationTokenizer tokenizer = TranslationTokenizer::load(recipe.from);
    check_symbols(recipe, tokenizer);
    if (recipe.subword_regularization > 0) {
      Random random(RandomKey::from_seed(recipe.seed));
      tokenizer.sample_source("a", {}, random);  // throws where a text has one segmentation
    }
    generation_of_source(task);
  }
  if (recipe.from.empty() && recipe.tokenizer == "bpe" && recipe.subword_regularization > 0) {
    fail(ErrorKind::kUsage,
         "tokenizer.subword_regularization ({}) needs a unigram model, and tokenizer.type is bpe: set one to "
         "0 "
         "or the other to unigram",
         recipe.subword_regularization);
  }
  if (recipe.from.empty() && recipe.augmentation.placeholders > 0 && recipe.placeholders == 0) {
    fail(ErrorKind::kUsage,
         "augmentation.placeholders needs tokenizer.placeholders, the number of placeholders");
  }
  return text;
}

TranslationData prepare_translation_data(const TaskInput& task, const PairsText& text) {
  const TrainerOptions& options = task.options;
  const Recipe& recipe = options.recipe;
  const std::string folder = options.output + "/training";
  const bool made = prepare_tokenizer(task, text.training.fingerprint(), [&](const std::string& directory) {
    train_tokenizer(task, text.training, directory);
  });
  TranslationTokenizer tokenizer = TranslationTokenizer::load(options.output);
  if (!tokenizer.languages().empty()) {
    tokenizer = tokenizer.with_languages(options.source_language, options.target_language);
    require_target_language(tokenizer);
  }
  if (made) task.say(described_tokenizer(recipe, counted(tokenizer.size(), "piece")));
  const std::string training = folder + "/train.ids";
  if (!std::filesystem::exists(training)) report_corpora(text.training, task);
  Corpus corpus = prepare_corpus({[&] { return std::make_unique<PairsMixReader>(text.training); }, training,
                                  text.training.fingerprint(), Use::kTraining},
                                 tokenizer, task);
  TranslationData data{std::move(tokenizer), std::move(corpus), {}, {}, {}, {}};
  if (recipe.guided_alignment) data.links = prepare_links(task, data.corpus, folder + "/train.links");
  if (options.validation.is_named()) {
    data.validation = prepare_corpus({[&] { return std::make_unique<PairsReader>(options.validation.pairs); },
                                      folder + "/valid.ids", text.validation, Use::kValidation},
                                     data.tokenizer, task);
    PairsReader reader(options.validation.pairs);
    Pair pair;
    while (static_cast<int64_t>(data.validation_source.size()) < recipe.validation_sentences &&
           reader.next(pair)) {
      data.validation_source.emplace_back(pair.source);
      data.validation_target.emplace_back(pair.target);
    }
  }
  return data;
}

}  // namespace heed::train
