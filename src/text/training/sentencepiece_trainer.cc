// Lines are sampled and checked here, because the library's trainer aborts the
// process for unusable text.
#include "text/training/sentencepiece_trainer.h"

#include <sentencepiece_trainer.h>

#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "base/text/printable.h"
#include "text/readers/sentencepiece_file.h"
#include "text/training/sentencepiece_log.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

using Settings = std::unordered_map<std::string, std::string>;

constexpr const char* kErrorsOff = "3";  // log only fatal errors
constexpr size_t kMaxLineBytes = 4192;   // longer lines would overflow the float32 sums of the E step
// The library counts characters in 32 bits, and normalization makes text slightly longer.
constexpr size_t kMaxTrainingBytes = size_t{1} << 30;

/// Iterates over lines in memory, and frees each after it was read.
class LineIterator : public sentencepiece::SentenceIterator {
 public:
  explicit LineIterator(std::vector<std::string> lines) : lines_(std::move(lines)) {}
  bool done() const override { return next_ >= lines_.size(); }
  void Next() override { std::string().swap(lines_[next_++]); }
  const std::string& value() const override { return lines_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  std::vector<std::string> lines_;
  size_t next_ = 0;
};

sentencepiece::util::Status run_trainer(const Settings& settings, std::vector<std::string> lines,
                                        std::string& model) {
  LineIterator iterator(std::move(lines));
  return sentencepiece::SentencePieceTrainer::Train(settings, &iterator, &model);
}

const char* name_of(TextNormalization normalization) {
  switch (normalization) {
    case TextNormalization::kNmtNfkc:
      return "nmt_nfkc";
    case TextNormalization::kNfkc:
      return "nfkc";
    case TextNormalization::kNmtNfkcCf:
      return "nmt_nfkc_cf";
    case TextNormalization::kNfkcCf:
      return "nfkc_cf";
    case TextNormalization::kIdentity:
      return "identity";
  }
  HEED_CHECK(false);
  return "";
}

/// A uniform sample of all usable lines in one pass (Vitter, "Random sampling with a reservoir", 1985,
/// algorithm R).
std::vector<std::string> sample_lines(const SentencePieceTrainOptions& options, const NextLine& next_line) {
  // The trainer uses U+2585 for rare characters and refuses lines that contain it.
  constexpr std::string_view kReserved = "\u2585";
  Random random(RandomKey::from_seed(options.seed));
  std::vector<std::string> sample;
  size_t seen = 0, too_long = 0;
  for (std::string line; next_line(line);) {
    std::string text = replace_invalid_utf8(line);
    if (text.size() > kMaxLineBytes) ++too_long;
    if (text.empty() || text.size() > kMaxLineBytes || text.find(kReserved) != std::string::npos) continue;
    ++seen;
    if (options.max_sentences == 0 || sample.size() < options.max_sentences) {
      sample.push_back(std::move(text));
    } else if (const uint64_t slot = random.below(seen); slot < sample.size()) {
      sample[slot] = std::move(text);
    }
  }
  if (too_long > 0)
    log_warning("tokenizer training skipped {} lines of more than {} bytes", too_long, kMaxLineBytes);
  return sample;
}

/// The normalization of the options.
SentencePieceNormalizer make_normalizer(const SentencePieceTrainOptions& options) {
  std::string bytes;
  const auto status = run_trainer({{"model_type", "char"},
                                   {"vocab_size", "8"},
                                   {"normalization_rule_name", name_of(options.normalization)},
                                   {"minloglevel", kErrorsOff}},
                                  {"a"}, bytes);
  HEED_CHECK(status.ok());
  return SentencePieceNormalizer(
      read_sentencepiece_file(std::string_view(bytes), "for normalization").normalizer);
}

/// Throws unless some text remains after normalization; otherwise the trainer would abort the process.
void check_text(const std::vector<std::string>& lines, const SentencePieceTrainOptions& options) {
  size_t bytes = 0;
  for (const std::string& line : lines) bytes += line.size();
  if (bytes > kMaxTrainingBytes) {
    fail(ErrorKind::kUsage,
         "{} MiB of text are too much for tokenizer training; set a maximum number of sentences below {}",
         bytes >> 20, lines.size());
  }
  const SentencePieceNormalizer normalizer = make_normalizer(options);
  for (const std::string& line : lines) {
    if (!normalizer.normalize(line).empty()) return;
  }
  fail(
      ErrorKind::kText,
      "there is no text to train the tokenizer on: all lines are empty, white space, or longer than {} bytes",
      kMaxLineBytes);
}

void check_options(const SentencePieceTrainOptions& options) {
  constexpr int kMaxVocabulary = 10'000'000;
  if (options.vocabulary_size < 1 || options.vocabulary_size > kMaxVocabulary) {
    fail(ErrorKind::kUsage, "the vocabulary size must be 1 to {}, not {}", kMaxVocabulary,
         options.vocabulary_size);
  }
  if (!(options.character_coverage >= 0.98 && options.character_coverage <= 1)) {
    fail(ErrorKind::kUsage, "the character coverage must be from 0.98 to 1, not {}",
         options.character_coverage);
  }
  for (const std::string& symbol : options.symbols) {
    if (symbol.empty() || symbol.find_first_of(", \t\"") != std::string::npos || find_invalid_utf8(symbol)) {
      fail(ErrorKind::kUsage, "'{}' cannot be a piece: it contains a comma, quotation mark or white space",
           shown(symbol));
    }
  }
}

std::string visible_ascii() {
  std::string characters;
  for (char c = '!'; c <= '~'; ++c) characters += c;
  return characters;
}

Settings settings_of(const SentencePieceTrainOptions& options) {
  Settings settings{
      {"model_type", options.type == SubwordType::kUnigram ? "unigram" : "bpe"},
      {"vocab_size", std::to_string(options.vocabulary_size)},
      {"hard_vocab_limit", "false"},
      {"character_coverage", fmt::format("{:.9g}", options.character_coverage)},
      {"split_digits", options.split_digits ? "true" : "false"},
      {"byte_fallback", options.byte_fallback ? "true" : "false"},
      {"normalization_rule_name", name_of(options.normalization)},
      {"remove_extra_whitespaces", options.keep_spaces ? "false" : "true"},
      {"max_sentence_length", std::to_string(kMaxLineBytes)},
      // The library adds float32 sums of one share of the lines for each thread, so their number is part
      // of the result; it is the same on every machine, however many threads can run at once.
      {"num_threads", "8"},
      {"minloglevel", kErrorsOff}};
  // Settings are stored in the model even if empty, so only set them if needed.
  if (!options.symbols.empty()) {
    settings["user_defined_symbols"] = fmt::format("{}", fmt::join(options.symbols, ","));
  }
  if (options.ascii_characters) settings["required_chars"] = visible_ascii();
  return settings;
}

/// The library's message without the prefix "file(line) [condition] ", or, where that names its own options,
/// another one: "Vocabulary size is smaller than required_chars. 100 vs 269. Increase vocab_size or ..."
std::string explained(std::string_view message) {
  const size_t end = message.rfind("] ");
  if (end != std::string_view::npos) message.remove_prefix(end + 2);
  constexpr std::string_view kTooSmall = "smaller than required_chars. ", kVersus = " vs ";
  const size_t small = message.find(kTooSmall), versus = message.find(kVersus);
  if (small == std::string_view::npos || versus == std::string_view::npos) return std::string(message);
  const std::string_view needed = message.substr(versus + kVersus.size());
  return fmt::format(
      "its characters alone need {}; ask for a larger vocabulary, or a smaller character coverage",
      needed.substr(0, needed.find('.')));
}

}  // namespace

void silence_sentencepiece() {
  static std::once_flag once;
  std::call_once(once, [] {
    // Only trainers can set the level: run one without text, which returns at once.
    std::string model;
    run_trainer({{"minloglevel", kErrorsOff}, {"normalization_rule_name", "identity"}}, {}, model)
        .IgnoreError();
  });
}

std::string train_sentencepiece(const SentencePieceTrainOptions& options, const NextLine& next_line) {
  check_options(options);
  silence_sentencepiece();
  std::vector<std::string> lines = sample_lines(options, next_line);
  check_text(lines, options);
  std::string bytes;
  const auto status = run_trainer(settings_of(options), std::move(lines), bytes);
  if (!status.ok()) {
    fail(ErrorKind::kUsage, "cannot train a vocabulary of {} pieces on this text: {}",
         options.vocabulary_size, explained(status.error_message()));
  }
  const int made = read_sentencepiece_file(std::string_view(bytes), "just trained").size();
  if (made < options.vocabulary_size) {
    log_warning("vocabulary size reduced from {} to {}: the text allows no more pieces",
                options.vocabulary_size, made);
  }
  return bytes;
}

}  // namespace heed
