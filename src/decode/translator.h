// Text in one language to text in another: a model, its tokenizer and a search, on all threads.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "decode/alignment.h"
#include "decode/line_splitter.h"
#include "decode/scoring.h"
#include "decode/search.h"
#include "decode/word_alignment.h"
#include "models/seq2seq.h"
#include "text/tokenizer.h"

namespace heed::decode {

struct TranslatorOptions {
  SearchOptions search = {};
  SearchBudget budget = {};  ///< of each thread
  /// Every line is split into sentences, which are translated one by one.
  bool split_sentences = false;
  /// URLs, format strings, numbers and the like (text/protected_spans.h) come out as they went in. A model
  /// with the tokens ⟦0⟧, ⟦1⟧, ... reads these instead; with others, and where one gets lost, the sentence is
  /// translated again by a search that requires them.
  bool protect_spans = false;
  /// Terms whose translations are given; null: none.
  std::shared_ptr<const Glossary> glossary = {};
  /// Lines in capitals are read in their usual form and translated into capitals, lines in title case are
  /// read in their usual form, unless the tokenizer's settings say no.
  bool true_case = false;
  /// Lines of more tokens than this (or than the model has positions for) are split into sentences, and
  /// sentences of more are cut. Models are trained on sentences, and few of those are longer; on what they
  /// have never seen they are no good. 0: as far as the positions reach.
  int64_t most_tokens = 128;
  /// Every translation begins with this text; its last word must be whole.
  std::string prefix = {};
  bool align = false;  ///< find word alignments, which costs one more pass over each candidate
  AlignmentOptions alignment = {};
  /// Lines are read, sorted by length, translated and given out so many at a time.
  size_t window = 2048;
  /// Where searches run, together with those of others; null: on the translator's own pool.
  SearchExecutor* executor = nullptr;
};

/// Whether each piece continues the word before it: SearchOptions::continues_word, which a translator
/// computes if its options lack it.
std::vector<bool> continuing_pieces(const Vocabulary& vocabulary);

/// One translation of a line. For a line of several parts everything is put together from those of the parts.
struct Candidate {
  std::string text;
  double log_probability = 0;
  double score = 0;  ///< log_probability / n^length_penalty, n the tokens behind prefixes
  std::vector<int32_t> ids;
  std::vector<std::string> pieces;
  std::vector<float> log_probabilities;  ///< of each token
  /// Between words as white space divides them; where asked for.
  std::vector<WordLink> alignment;
};

/// A line and its translations.
struct Translation {
  std::string source;  ///< as it was, or with U+FFFD where it was not UTF-8
  std::vector<std::string> source_pieces;
  /// Best first; of several parts, the n-th joins the n-th of each. Never empty: a line of white space has
  /// one empty candidate, and the model is not asked.
  std::vector<Candidate> candidates;

  const Candidate& best() const { return candidates.front(); }
};

/// The log-probability of a given translation.
struct TargetScore {
  std::vector<int32_t> ids;
  std::vector<std::string> pieces;
  std::vector<float> log_probabilities;  ///< of each token, the end token last
  double log_probability = 0;            ///< their sum
};

class Translator {
 public:
  /// All of these must outlive the translator. Throws kUsage for options that make no sense.
  Translator(const models::Seq2Seq& model, const nn::Context& context, const Tokenizer& tokenizer,
             ThreadPool& pool, TranslatorOptions options = {});

  /// What is done so far.
  struct Progress {
    size_t lines = 0;  ///< whole ones
    /// Of the lines with their ends, parts of lines included. Lines are not searched in their order but the
    /// longest first, so this, not `lines`, tells how far the work has come.
    double bytes = 0;
  };

  /// What callers may want to know or do while it runs.
  struct Control {
    /// Told whenever a part of a line is done, one call at a time, from any thread.
    std::function<void(const Progress& done)> progress = {};
    const std::atomic<bool>* cancelled = nullptr;  ///< stops soon after it is set
  };

  /// Translates lines until there are no more. `take` gets them in order, as many as came in, on the calling
  /// thread. Returns false where it was cancelled: then the lines of the last window are missing. A line's
  /// translation does not depend on the others nor on the threads, but sampled ones depend on how many parts
  /// came before.
  bool translate(const NextLine& next, const std::function<void(Translation)>& take,
                 const Control& control) const;
  bool translate(const NextLine& next, const std::function<void(Translation)>& take) const {
    return translate(next, take, {});
  }
  /// Every line's, in order.
  std::vector<Translation> translate(const std::vector<std::string>& lines) const;
  Translation translate(const std::string& line) const;

  /// Sentence pairs, scored by teacher forcing, in order. Throws kUsage for one that is too long for the
  /// model's positions, and names its number. Nothing where `cancelled` was set meanwhile.
  std::vector<TargetScore> score(const std::vector<std::pair<std::string, std::string>>& pairs,
                                 const std::atomic<bool>* cancelled = nullptr) const;

 private:
  struct Window;
  struct Missing;
  bool run(std::vector<SearchSentence> sentences, const Search::TakeHypotheses& take,
           const Control& control) const;
  bool search_again(Window& window, const Control& control) const;
  Missing missing(const LinePart& part, const std::vector<Hypothesis>& hypotheses) const;
  SearchSentence sentence_of(const Window& window, size_t part) const;
  std::string text_of(const LinePart& part, const std::string& source, const std::vector<int32_t>& ids) const;
  void split(Window& window, const Control& control) const;
  bool search(Window& window, const Control& control) const;
  Translation assemble(const Window& window, size_t line) const;
  Candidate join(const Window& window, size_t line, size_t rank) const;
  std::vector<WordLink> align(const Window& window, size_t line, size_t rank) const;
  ScoringPair encode_pair(const std::pair<std::string, std::string>& pair, size_t number) const;
  std::vector<std::string> pieces_of(const std::vector<int32_t>& ids) const;

  const models::Seq2Seq& model_;
  nn::Context context_;
  const Tokenizer& tokenizer_;
  ThreadPool& pool_;
  TranslatorOptions options_;
  LineSplitter splitter_;
  Search search_;
  std::vector<int32_t> prefix_;
  std::vector<int32_t> marks_;  // the ids of ⟦0⟧, ⟦1⟧, ...
};

}  // namespace heed::decode
