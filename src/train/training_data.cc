#include "train/training_data.h"

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "base/file.h"
#include "data/corpus_builder.h"
#include "data/fingerprint.h"

namespace heed::train {
namespace {

bool is_named(const PairsInput& input) {
  return !input.pairs.empty() || !input.source.empty() || !input.target.empty();
}

SentencePieceTrainOptions piece_options(const Recipe& recipe) {
  static const std::vector<std::pair<std::string, TextNormalization>> normalizations{
      {"nmt_nfkc", TextNormalization::kNmtNfkc},
      {"nfkc", TextNormalization::kNfkc},
      {"identity", TextNormalization::kIdentity}};
  SentencePieceTrainOptions options;
  options.type = recipe.tokenizer == "bpe" ? SubwordType::kBpe : SubwordType::kUnigram;
  options.vocabulary_size = recipe.vocabulary;
  options.byte_fallback = recipe.byte_fallback;
  options.character_coverage = recipe.character_coverage;
  for (const auto& [name, value] : normalizations) {
    if (name == recipe.normalization) options.normalization = value;
  }
  return options;
}

/// One side of the pairs, line by line.
NextLine side_of(const PairsInput& input, bool target) {
  auto reader = std::make_shared<PairsReader>(input);
  return [reader, target](std::string& line) {
    Pair pair;
    if (!reader->next(pair)) return false;
    line = target ? pair.target : pair.source;
    return true;
  };
}

Tokenizer prepare_tokenizer(const TrainerOptions& options,
                            const std::function<void(const std::string&)>& say) {
  if (std::filesystem::exists(options.output + "/vocab.json")) return Tokenizer::load(options.output);
  const Recipe& recipe = options.recipe;
  say(fmt::format("learning {} {} pieces", recipe.vocabulary, recipe.tokenizer));
  TokenizerTrainOptions train_options;
  train_options.joint = recipe.joint;
  train_options.source = train_options.target = piece_options(recipe);
  train_options.source_language = options.source_language;
  train_options.target_language = options.target_language;
  train_options.max_length = static_cast<int>(recipe.model.longest);
  Tokenizer tokenizer =
      Tokenizer::train(train_options, side_of(options.data, false), side_of(options.data, true));
  tokenizer.save(options.output);
  return Tokenizer::load(options.output);
}

uint64_t fingerprint_of(const std::string& directory) {
  Fingerprint fingerprint;
  for (const char* name : {"/source.spm", "/target.spm", "/vocab.json"}) {
    const std::string content = read_file(directory + name);
    fingerprint.add(content.data(), content.size());
  }
  return fingerprint.value();
}

/// Of training text: with tokenizer.sampled_cuts, each sentence stands there so many times, cut into pieces
/// by chance: subword regularisation (Kudo, "Subword Regularization", 2018), drawn before the training
/// instead of on the way.
Corpus prepare_corpus(const PairsInput& input, const std::string& path, const Tokenizer& tokenizer,
                      const TrainerOptions& options, bool validation, ThreadPool& pool,
                      const std::function<void(const std::string&)>& say) {
  const CorpusOrigin wanted{fingerprint_pairs(input), fingerprint_of(options.output),
                            static_cast<uint64_t>(options.recipe.max_length)};
  const std::string name = PairsReader(input).name();
  if (std::filesystem::exists(path)) {
    Corpus corpus(path);
    if (corpus.info().origin == wanted) return corpus;
    fail(ErrorKind::kUsage,
         "the training in '{}' was begun on other text than {} holds now; give the same text, or train into "
         "another "
         "directory",
         options.output, name);
  }
  PairsReader reader(input);
  CorpusBuildOptions build;
  build.vocabulary_size = static_cast<uint32_t>(tokenizer.size());
  build.max_length = wanted.max_length;
  build.tokenizer_fingerprint = wanted.tokenizer;
  build.pool = &pool;
  const Recipe& recipe = options.recipe;
  const RandomKey key = RandomKey::from_seed(recipe.seed);
  const int cuts = validation ? 0 : recipe.sampled_cuts;
  std::optional<Augmentation> augmentation;
  const AugmentationOptions more{recipe.invented_names, recipe.other_numbers, recipe.capitals, recipe.joined,
                                 key.fold(4)};
  if (!validation && more.any()) build.augmentation = &augmentation.emplace(input, more);
  const SubwordSampling sampling{recipe.sampling_alpha, recipe.sampling_nbest, cuts};
  // Of one side, which is cut by one of two functions and has random numbers of its own.
  const auto encoder = [&](auto encode, auto sample, uint64_t side) -> Encoder {
    return [&, encode, sample, side](std::string_view text, uint64_t number) {
      std::vector<std::vector<int32_t>> ids;
      if (cuts == 0) {
        ids.push_back((tokenizer.*encode)(text, {}).ids);
        return ids;
      }
      Random random(key.fold(side).fold(number));
      for (Encoding& drawn : (tokenizer.*sample)(text, sampling, random)) ids.push_back(std::move(drawn.ids));
      return ids;
    };
  };
  const CorpusCounts counts =
      build_pair_corpus(reader, encoder(&Tokenizer::encode_source, &Tokenizer::sample_source, 2),
                        encoder(&Tokenizer::encode_target, &Tokenizer::sample_target, 3), path, build);
  std::string message = fmt::format("{}: {} pairs", name, counts.written);
  if (augmentation) message += fmt::format(", {} of them added", augmentation->added());
  if (cuts > 0) message += fmt::format(", {} cuts of each", cuts);
  if (counts.too_long > 0) {
    message += fmt::format(", {} left out with more than {} tokens", counts.too_long, build.max_length);
  }
  if (reader.counts().empty > 0)
    message += fmt::format(", {} left out with an empty side", reader.counts().empty);
  if (reader.counts().extra_columns > 0) {
    message += fmt::format(", {} lines with more than two columns (the first two are used)",
                           reader.counts().extra_columns);
  }
  say(message);
  return Corpus(path);
}

}  // namespace

TrainingData prepare_training_data(const TrainerOptions& options, ThreadPool& pool,
                                   const std::function<void(const std::string&)>& say) {
  const std::string folder = options.output + "/training";
  Tokenizer tokenizer = prepare_tokenizer(options, say);
  Corpus corpus = prepare_corpus(options.data, folder + "/train.ids", tokenizer, options, false, pool, say);
  TrainingData data{std::move(tokenizer), std::move(corpus), {}, {}, {}};
  if (is_named(options.validation)) {
    data.validation =
        prepare_corpus(options.validation, folder + "/valid.ids", data.tokenizer, options, true, pool, say);
    PairsReader reader(options.validation);
    Pair pair;
    while (static_cast<int64_t>(data.validation_source.size()) < options.recipe.validation_sentences &&
           reader.next(pair)) {
      data.validation_source.emplace_back(pair.source);
      data.validation_target.emplace_back(pair.target);
    }
  }
  return data;
}

}  // namespace heed::train
