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

#include "text/glossary.h"
#include "text/protected_spans.h"
#include "text/sentence_splitter.h"
#include "text/tokenizer.h"

namespace heed::decode {

/// A part of a line. What it holds besides text is put back behind the translation.
struct LinePart : Encoding {
  /// Instead of a translation: what the model has no tokens for, such as an emoji. Then there are no ids.
  std::string literal = {};
  /// What the translation must hold, in the order of the text.
  std::vector<RequiredText> required = {};
  /// The first of `required` that `marks` stand for, one each, in the encoded text: "⟦0⟧", "⟦1⟧", ...
  std::vector<std::string> marks = {};
  bool capitals = false;  ///< was in capitals, and its translation is to be
};

/// A line as parts, each to be translated by itself.
struct SplitLine {
  std::string text;             ///< the line, made valid UTF-8
  std::vector<LinePart> parts;  ///< their spans are bytes of `text`
  /// What to put before the translation of each part; the first is empty. The white space of the source where
  /// it has some, and else what the target language needs.
  std::vector<std::string> separators;
};

class LineSplitter {
 public:
  struct Options {
    size_t most_tokens = 128;      ///< of a part, the end token included; at least 8
    bool split_sentences = false;  ///< split every line into sentences, not only those that are too long
    bool protect = false;          ///< look for protected spans
    const Glossary* glossary = nullptr;  ///< or none
    bool true_case = false;              ///< give lines in capitals their usual form
  };
  /// The tokenizer must outlive this. Throws kUsage for fewer than 8 tokens.
  LineSplitter(const Tokenizer& tokenizer, const Options& options);

  /// Thread-safe. A line that the tokenizer makes nothing of has no parts. A language code that a line begins
  /// with
  /// (">>fr<<") is put before each part.
  SplitLine split(std::string_view line) const;

 private:
  /// A line under way: its text, the language code that it begins with or none, and what it protects.
  struct Line {
    std::string_view text, code;
    std::vector<ProtectedSpan> spans = {};
    std::vector<Glossary::Match> terms = {};
  };
  /// Bytes [begin, end) of a line.
  struct Range {
    size_t begin = 0, end = 0;
  };
  Line read(std::string_view text) const;
  /// A part as the model reads it, and for each of its bytes, and the end, the byte of the line.
  struct Rewritten;
  Rewritten rewrite(const Line& line, Range range) const;
  void append_true_case(std::string_view text, size_t origin, Rewritten& result) const;
  /// At most `most` tokens, or however many there are.
  LinePart encode(const Line& line, Range range, size_t most = 0) const;
  bool target_can_hold(std::string_view text) const;
  std::vector<Range> cut_around_literals(const Line& line, Range range) const;
  void add_sentence(const Line& line, Range range, std::vector<Range>& parts) const;
  size_t cut(const Line& line, Range window, const Encoding& encoding) const;
  std::string separator(const Line& line, Range gap) const;
  static Range without_spaces(std::string_view text, Range range);

  const Tokenizer& tokenizer_;
  Options options_;
  SentenceSplitter sentence_splitter_;
  bool spaces_between_words_;  // in the target language
  size_t marks_ = 0;           // "⟦0⟧" to "⟦marks - 1⟧" are tokens of the model
};

}  // namespace heed::decode
