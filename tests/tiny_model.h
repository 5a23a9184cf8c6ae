// An artificial language for command tests, and a small model that is trained on it in seconds. German-like
// sentences of a grammar with about a hundred words, and their word-by-word English. The command trains the
// model once per build and keeps it next to the executable, since every test is a separate process.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "command.h"
#include "paths.h"

namespace heed {

struct SentencePair {
  std::string source, target;
};

/// Random pairs out of 20000 different sentences.
inline std::vector<SentencePair> tiny_pairs(size_t count, uint64_t seed) {
  using Words = std::vector<std::pair<std::string, std::string>>;
  static const Words nouns{{"Hund", "dog"},       {"Mann", "man"},   {"Baum", "tree"},   {"Vogel", "bird"},
                           {"Tisch", "table"},    {"Fisch", "fish"}, {"Stuhl", "chair"}, {"Garten", "garden"},
                           {"Bruder", "brother"}, {"König", "king"}};
  static const Words adjectives{{"alte", "old"},  {"junge", "young"}, {"kleine", "small"},
                                {"große", "big"}, {"rote", "red"},    {"müde", "tired"}};
  static const Words verbs{
      {"sieht", "sees"}, {"hört", "hears"}, {"findet", "finds"}, {"sucht", "seeks"}, {"kennt", "knows"}};
  Random random(RandomKey::from_seed(seed));
  const auto pick = [&](const Words& words) { return words[random.below(words.size())]; };
  std::vector<SentencePair> pairs;
  for (size_t n = 0; n < count; ++n) {
    const auto subject = pick(nouns), object = pick(nouns), first = pick(adjectives),
               second = pick(adjectives), verb = pick(verbs);
    const bool short_object = random.below(2) == 0;
    pairs.push_back({"Der " + first.first + " " + subject.first + " " + verb.first + " den " +
                         (short_object ? "" : second.first + "n ") + object.first + ".",
                     "The " + first.second + " " + subject.second + " " + verb.second + " the " +
                         (short_object ? "" : second.second + " ") + object.second + "."});
  }
  return pairs;
}

/// As a file for --pairs.
inline std::string to_tsv(const std::vector<SentencePair>& pairs) {
  std::string text;
  for (const SentencePair& pair : pairs) text += pair.source + "\t" + pair.target + "\n";
  return text;
}

/// Common arguments of trainings in tests: preset tiny with a small vocabulary.
inline std::vector<std::string> tiny_training(const std::string& pairs, const std::string& output,
                                              int steps) {
  return {"train",
          "--pairs",
          pairs,
          "--output",
          output,
          "--preset",
          "tiny",
          "--max-steps",
          std::to_string(steps),
          "--set",
          "schedule.fit=false",
          "--set",
          "tokenizer.vocabulary=400",
          "--threads",
          "2",
          "--pair",
          "de-en"};
}

/// The directory of the trained model. The first test trains it, and others wait for it.
inline std::string tiny_model() {
  namespace fs = std::filesystem;
  const fs::path command = heed_command();
  const fs::path folder = command.parent_path().parent_path() / "test-models";
  const auto built = fs::last_write_time(command).time_since_epoch().count();
  const fs::path model = folder / ("tiny-" + std::to_string(built));
  fs::create_directories(folder);
  const int lock = ::open((folder / "lock").c_str(), O_RDWR | O_CREAT, 0600);
  ::flock(lock, LOCK_EX);
  if (!fs::exists(model)) {
    for (const auto& old : fs::directory_iterator(folder)) {
      if (old.is_directory()) fs::remove_all(old.path());
    }
    const TestFolder texts;
    const std::string pairs = texts.write("train.tsv", to_tsv(tiny_pairs(3000, 1)));
    const std::string valid = texts.write("valid.tsv", to_tsv(tiny_pairs(50, 2)));
    const std::string part = model.string() + ".part";
    auto arguments = tiny_training(pairs, part, 250);
    arguments.insert(arguments.end(), {"--valid-pairs", valid});
    const CommandResult result = heed_command(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    if (result.status == 0) fs::rename(part, model);
  }
  ::close(lock);
  return model.string();
}

}  // namespace heed
