// Splits lines into parts that a model can translate.
//
// A model has a maximum length and was trained on sentences. A line that is too long is split into sentences.
// A sentence that is too long is split in the second half of the maximum length, as late as possible: after
// punctuation, else at white space, else between tokens. Nothing is dropped.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/sentences/sentence_splitter.h"
#include "text/terms/glossary.h"
#include "text/terms/protected_spans.h"
#include "text/tokenizers/translation_tokenizer.h"
#include "text/unicode/unicode_properties.h"
#include "translate/values/languages/value_language.h"

namespace heed::translate {

/// A part of a line, with what is needed to post-process its translation.
struct LinePart : Encoding {
  /// Instead of a translation: text without a letter or digit, such as an emoji, and protected spans as they
  /// are, and a number alone as the target language writes it. Then there are no ids.
  std::string literal = {};
  /// Texts that the translation must contain, in source order.
  std::vector<RequiredText> required = {};
  /// For each of `required`, bytes [begin, end) of the line that it translates.
  std::vector<std::pair<size_t, size_t>> required_source = {};
  /// The placeholders "⟦0⟧", "⟦1⟧", ... in the encoded text; they replace the first of `required`, one each.
  std::vector<std::string> marks = {};
  bool capitals = false;  ///< the source was all capitals; so will be the translation
};

/// A line split into parts that are translated separately.
struct SplitLine {
  std::string text;             ///< the line as valid UTF-8
  std::vector<LinePart> parts;  ///< their spans are bytes of `text`

  /// The separator before the translation of each part; the first is empty. Where the target language has
  /// spaces, white space of the source if any.
  std::vector<std::string> separators;
};

class LineSplitter {
 public:
  struct Options {
    size_t max_part_tokens = 128;  ///< maximum tokens per part, including the end token; at least 8
    bool split_sentences = false;  ///< split every line into sentences, not only those that are too long
    bool protect = false;          ///< protect spans such as URLs
    const Glossary* glossary = nullptr;  ///< null: none
    bool true_case = false;              ///< true-case lines in capitals
    /// Copy text without a letter or digit. Models translate it badly, often up to their maximum length.
    bool copy_wordless = true;
    /// Where both are given, a number alone is written in the target language without the model, which loses
    /// zeros and adds periods: "1,234.50". Null: none.
    const ValueLanguage *source_values = nullptr, *target_values = nullptr;
  };
  /// The tokenizer must outlive this. Throws kUsage for fewer than 8 tokens.
  LineSplitter(const TranslationTokenizer& tokenizer, const Options& options);

  /// Thread-safe. A line without tokens has no parts. The leading language code of a line (">>fr<<") is
  /// prepended to each part. Throws kUsage for a line without a code if the model needs one. `terms`: instead
  /// of those that the glossary finds; null: these.
  SplitLine split(std::string_view line, const std::vector<Glossary::Match>* terms = nullptr) const;

  size_t max_part_tokens() const { return options_.max_part_tokens; }

 private:
  /// A line: its text, its leading language code if any, its protected spans, and the spacing of its target
  /// language.
  struct Line {
    std::string_view text, code = {};
    std::vector<ProtectedSpan> spans = {};
    std::vector<Glossary::Match> terms = {};
    Spacing spacing = Spacing::kWords;
    bool has_ignorable = false;  ///< characters that the model does not read: is_ignorable()
  };
  /// Bytes [begin, end) of a line.
  struct Range {
    size_t begin = 0, end = 0;
  };
  Line read(std::string_view text) const;
  /// The text of a part for the model, and the line offset of each of its bytes and of its end.
  struct Rewritten;
  Rewritten rewrite(const Line& line, Range range) const;
  void append_true_case(const Rewritten& seen, Rewritten& result) const;
  /// Encodes a range, truncated to `most` tokens (0: no limit).
  LinePart encode(const Line& line, Range range, size_t most = 0) const;
  bool has_text(const Line& line, const Encoding& part) const;
  bool target_can_hold(std::string_view text) const;
  static std::string outside_of_spans(const Line& line, Range range);
  static bool holds_only_spans(const Line& line, Range range);
  bool is_copied(const Line& line, Range range) const;
  std::optional<std::string> only_numbers(const Line& line, Range range) const;
  std::vector<Range> cut_around_literals(const Line& line, Range range) const;
  static size_t begin_of_cut_span(const Line& line, Range window);
  void add_sentence(const Line& line, Range range, std::vector<Range>& parts) const;
  size_t split_point(const Line& line, Range window, const Encoding& encoding) const;
  std::string separator(const Line& line, Range gap) const;
  static Range without_spaces(std::string_view text, Range range);

  const TranslationTokenizer& tokenizer_;
  Options options_;
  SentenceSplitter sentence_splitter_;
  Spacing target_spacing_;  // unless a line begins with the code of its target language
  size_t marks_ = 0;        // number of placeholder tokens of the model
};

}  // namespace heed::translate
