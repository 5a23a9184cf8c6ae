// heed shortlist: learns a vocabulary shortlist, the target tokens that each source token may be translated
// with.

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/counted.h"
#include "cli/files/model_lookup.h"
#include "cli/jobs/sentence_pairs.h"
#include "cli/options/checked_options.h"
#include "cli/options/command.h"
#include "data/align/translation_table.h"
#include "models/shortlist.h"

namespace heed::cli {
namespace {

struct ShortlistOptions {
  std::string model;
  PairsInput input;
  int64_t common = 100, best = 100;
  double least = 1e-4;
  int64_t max_pairs = 1'000'000;
  bool quiet = false;
};

struct EncodedPairs {
  Sequences sources, targets;
};

EncodedPairs encode_pairs(const ShortlistOptions& o, const TranslationTokenizer& tokenizer) {
  EncodedPairs encoded;
  PairsReader reader(o.input);
  for (Pair pair; encoded.sources.count() < o.max_pairs && reader.next(pair);) {
    encoded.sources.append(tokenizer.encode_source(std::string(pair.source)).ids);
    encoded.targets.append(tokenizer.encode_target(std::string(pair.target)).ids);
  }
  return encoded;
}

/// The most frequent token ids; ties are broken by the smaller id.
std::vector<int32_t> most_frequent(const Sequences& sequences, int64_t vocabulary, int64_t count) {
  std::vector<int64_t> times(static_cast<size_t>(vocabulary));
  for (const int32_t id : sequences.ids) ++times[id];
  std::vector<int32_t> ids(times.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::stable_sort(ids.begin(), ids.end(), [&](int32_t a, int32_t b) { return times[a] > times[b]; });
  while (!ids.empty() && (static_cast<int64_t>(ids.size()) > count || times[ids.back()] == 0)) ids.pop_back();
  return ids;
}

models::Shortlist learn(const ShortlistOptions& o, const EncodedPairs& pairs, int64_t vocabulary) {
  const TranslationTable table(pairs.sources, pairs.targets, vocabulary);
  std::vector<std::vector<int32_t>> translations(static_cast<size_t>(vocabulary));
  for (int32_t id = 0; id < vocabulary; ++id) {
    for (const auto& [word, probability] : table.of(id)) {
      if (static_cast<int64_t>(translations[id].size()) == o.best || probability < o.least) break;
      translations[id].push_back(word);
    }
  }
  return {most_frequent(pairs.targets, vocabulary, o.common), translations};
}

int run_shortlist(const ShortlistOptions& o) {
  require_argument(o.model, "MODEL", "--model");
  require_one_input(o.input);
  const TranslationModel model = translation_model(models::load_model(
      models::ModelDirectory::open(model_directory_at(o.model, "MODEL")), {.shortlist = false}));
  const std::string directory = model.loaded.directory();
  if (model.tokenizer.has_two_vocabularies()) {
    fail(ErrorKind::kUsage,
         "'{}' has separate vocabularies for source and target, which shortlists do not support", directory);
  }
  const EncodedPairs pairs = encode_pairs(o, model.tokenizer);
  const models::Shortlist list = learn(o, pairs, model.loaded.seq2seq().vocabulary_size());
  list.write(directory);
  if (o.quiet) return kExitDone;
  int64_t tokens = 0;
  for (int n = 0; n < pairs.sources.count(); ++n) {
    tokens += static_cast<int64_t>(list.tokens(pairs.sources[n]).size());
  }
  std::fprintf(stderr, "wrote %s/%s: learnt from %s; %.0f of %ld tokens per sentence on average\n",
               directory.c_str(), model_file::kShortlist, counted(pairs.sources.count(), "pair").c_str(),
               static_cast<double>(tokens) / pairs.sources.count(), static_cast<long>(list.vocabulary()));
  return kExitDone;
}

}  // namespace

void add_shortlist(Command& app, Work& work) {
  auto [command, o] = add_command(
      app, work, "shortlist", "Add a vocabulary shortlist to a model, for faster translation", run_shortlist);
  command->footer(R"(Example:
  heed shortlist my-model --pairs train.tsv

Learns token translation probabilities from sentence pairs (IBM model 1) and stores a shortlist next to the
weights. Translation in int8 or int4 with --beam 1 then computes logits only for the translations of the
source tokens, the most frequent tokens, and the source tokens themselves, which is faster. See --shortlist of
heed translate.)");
  add_argument(*command, "MODEL", "--model", o->model, "Model directory; the shortlist is added to it");
  add_pairs_options(*command, o->input);
  add_pairs_switches(*command, o->input);
  command->group("Shortlist");
  const IntegerRange count{1, 1 << 30};
  add_integer(*command, "--common", o->common, "Number of most frequent tokens in every shortlist", count);
  add_integer(*command, "--best", o->best, "Maximum number of translations of a token", count);
  add_number(*command, "--least P", o->least, "Minimum translation probability", {.least = 0, .most = 1});
  add_integer(*command, "--max-pairs", o->max_pairs, "Maximum number of pairs to read into memory", count);
  add_quiet(*command, o->quiet);
}

}  // namespace heed::cli
