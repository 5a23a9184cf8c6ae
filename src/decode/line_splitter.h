// Lines of text as the sentences that a model can read.
//
// A model has positions for so many tokens, and was trained on sentences. A line that is too long is split
// into its sentences, and a sentence that is too long is cut, somewhere in the second half of what fits:
// behind punctuation if there is any, else at white space, else between pieces; as late as possible. Nothing
// is dropped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/sentence_splitter.h"
#include "text/tokenizer.h"

namespace heed::decode {

/// A line as parts, each to be translated by itself.
struct SplitLine {
  std::string text;             ///< the line, made valid UTF-8
  std::vector<Encoding> parts;  ///< their spans are bytes of `text`
  /// What to put before the translation of each part; the first is empty. The white space of the source where
  /// it has some, and else what the target language needs.
  std::vector<std::string> separators;
};

class LineSplitter {
 public:
  struct Options {
    size_t most_tokens = 128;      ///< of a part, the end token included; at least 8
    bool split_sentences = false;  ///< split every line into sentences, not only those that are too long
  };
  /// The tokenizer must outlive this. Throws kUsage for fewer than 8 tokens.
  LineSplitter(const Tokenizer& tokenizer, const Options& options);

  /// Thread-safe. A line that the tokenizer makes nothing of has no parts. A language code that a line begins
  /// with
  /// (">>fr<<") is put before each part.
  SplitLine split(std::string_view line) const;

 private:
  /// A line under way: its text, and the language code that it begins with or none.
  struct Line {
    std::string_view text, code;
  };
  /// Bytes [begin, end) of a line.
  struct Range {
    size_t begin = 0, end = 0;
  };
  Line read(std::string_view text) const;
  /// At most `most` tokens, or however many there are.
  Encoding encode(const Line& line, Range range, size_t most = 0) const;
  void add_sentence(const Line& line, Range range, std::vector<Range>& parts) const;
  size_t cut(const Line& line, Range window, const Encoding& encoding) const;
  std::string separator(std::string_view text, Range gap) const;

  const Tokenizer& tokenizer_;
  Options options_;
  SentenceSplitter sentence_splitter_;
  bool spaces_between_words_;  // in the target language
};

}  // namespace heed::decode
