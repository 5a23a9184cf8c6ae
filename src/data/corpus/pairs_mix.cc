#include "data/corpus/pairs_mix.h"

#include <bit>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace heed {
namespace {

void check_corpus(const WeightedPairs& corpus) {
  if (corpus.input.pairs == "-" || corpus.input.source == "-" || corpus.input.target == "-") {
    fail(ErrorKind::kUsage, "standard input cannot be read twice: give a file");
  }
  if (!(corpus.weight >= 0 && corpus.weight <= PairsMix::kMaxWeight)) {
    fail(ErrorKind::kUsage, "the weight of a corpus is a number from 0 to {}, not {}", PairsMix::kMaxWeight,
         corpus.weight);
  }
}

void add(PairsCounts& sum, const PairsCounts& more) {
  sum.lines += more.lines;
  sum.pairs += more.pairs;
  sum.empty += more.empty;
  sum.extra_columns += more.extra_columns;
}

}  // namespace

PairsMix::PairsMix(std::vector<WeightedPairs> corpora, const PairsMixOptions& options)
    : corpora_(std::move(corpora)), counts_(corpora_.size()), times_(corpora_.size()) {
  if (corpora_.empty()) fail(ErrorKind::kUsage, "no sentence pairs: give a corpus");
  for (const WeightedPairs& corpus : corpora_) check_corpus(corpus);
  Cleaner cleaner(options.cleaning, corpora_[0].input.lines);
  held_out_ = cleaner.held_out_fingerprint();
  std::vector<uint64_t> texts;
  uint64_t given = 0;
  for (size_t corpus = 0; corpus < corpora_.size(); ++corpus) {
    texts.push_back(plan(corpus, options, cleaner));
    given += counts_[corpus].given;
  }
  if (given == 0) {
    fail(ErrorKind::kFormat, "{}: no pair is left to learn from: weights and cleaning leave none", name());
  }
  fingerprint_ = combine(texts);
}

uint64_t PairsMix::plan(size_t corpus, const PairsMixOptions& options, Cleaner& cleaner) {
  const WeightedPairs& of = corpora_[corpus];
  const double whole = std::floor(of.weight), fraction = of.weight - whole;
  const RandomKey key = options.key.fold(corpus);
  MixedCorpusCounts& counts = counts_[corpus];
  std::vector<uint16_t>& times = times_[corpus];
  const bool clean = options.cleaning.any();
  PairsReader reader(of.input);
  Pair pair;
  for (uint64_t number = 0; reader.next(pair); ++number) {
    auto each = static_cast<uint16_t>(whole);
    if (fraction > 0 && Random(key.fold(number)).uniform() < fraction) ++each;
    if (clean && each > 0) {
      if (const std::optional<Fault> fault = cleaner.fault(pair.source, pair.target)) {
        ++counts.removed[static_cast<size_t>(*fault)];
        each = 0;
      }
    }
    if (of.weight != 1 || clean) times.push_back(each);
    counts.used += each > 0 ? 1 : 0;
    counts.given += each;
  }
  counts.name = reader.name();
  counts.read = reader.counts();
  return reader.fingerprint();
}

std::optional<uint16_t> PairsMix::times(size_t corpus, uint64_t pair) const {
  const std::vector<uint16_t>& times = times_[corpus];
  if (pair >= counts_[corpus].read.pairs) return std::nullopt;
  return times.empty() ? uint16_t{1} : times[pair];
}

uint64_t PairsMix::combine(const std::vector<uint64_t>& texts) const {
  const bool alone = texts.size() == 1 && corpora_[0].weight == 1 && corpora_[0].tag.empty();
  if (alone && held_out_ == 0) return texts[0];
  Fingerprint all;
  if (held_out_ != 0) all.add_number(held_out_);
  for (size_t corpus = 0; corpus < texts.size(); ++corpus) {
    all.add_number(texts[corpus]);
    all.add_number(std::bit_cast<uint64_t>(corpora_[corpus].weight));
    all.add_number(corpora_[corpus].tag.size());
    all.add(corpora_[corpus].tag);
  }
  return all.value();
}

bool PairsMixReader::next(Pair& pair) {
  while (left_ == 0) {
    if (corpus_ == mix_.corpora().size()) return false;
    if (!reader_) reader_.emplace(mix_.corpora()[corpus_].input);
    if (!reader_->next(pair_)) {
      finish_corpus();
      continue;
    }
    const std::optional<uint16_t> times = mix_.times(corpus_, pair_number_++);
    if (!times) fail(ErrorKind::kFile, "{} has changed while it was used", reader_->name());
    left_ = *times;
    pair_.tag = mix_.corpora()[corpus_].tag;
  }
  --left_;
  pair = pair_;
  return true;
}

void PairsMixReader::finish_corpus() {
  const PairsCounts counts = reader_->counts();
  if (counts.pairs != mix_.counts()[corpus_].read.pairs) {
    fail(ErrorKind::kFile, "{} has changed while it was used", reader_->name());
  }
  texts_.push_back(reader_->fingerprint());
  add(counts_, counts);
  reader_.reset();
  pair_number_ = 0;
  ++corpus_;
}

}  // namespace heed
