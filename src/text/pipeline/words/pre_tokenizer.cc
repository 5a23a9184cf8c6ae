#include "text/pipeline/words/pre_tokenizer.h"

#include <utility>

#include "text/pipeline/normalization/normalizer.h"
#include "text/pipeline/words/byte_characters.h"
#include "text/unicode/characters.h"
#include "text/unicode/utf8.h"
#include "text/unicode/word_pattern.h"

namespace heed {
namespace {

/// A part of a piece that matches or lies between matches.
struct Part {
  uint32_t begin = 0, end = 0;
  bool matches = false;
};

/// All parts of a text, in order, given the matches.
void add_parts(std::vector<Part>& parts, size_t size, const std::vector<Match>& matches, bool inverted) {
  uint32_t at = 0;
  for (const Match& match : matches) {
    if (at != match.begin) parts.push_back({at, match.begin, inverted});
    parts.push_back({match.begin, match.end, !inverted});
    at = match.end;
  }
  if (at != size) parts.push_back({at, static_cast<uint32_t>(size), inverted});
}

/// The same for a class of characters: each character that `matches` is a part.
template <typename Matches>
void add_character_parts(std::vector<Part>& parts, std::string_view text, const Matches& matches) {
  uint32_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const auto begin = static_cast<uint32_t>(at);
    if (!matches(take_code_point(text, at))) continue;
    if (done < begin) parts.push_back({done, begin, false});
    done = static_cast<uint32_t>(at);
    parts.push_back({begin, done, true});
  }
  if (done < text.size()) parts.push_back({done, static_cast<uint32_t>(text.size()), false});
}

void merge_with_neighbours(std::vector<Part>& parts, CutBehavior behavior) {
  std::vector<Part> merged;
  bool previous = false;  // whether the part before, or behind, matches
  if (behavior == CutBehavior::kMergedWithNext) {
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      if (part->matches && !previous && !merged.empty()) {
        merged.back().begin = part->begin;
      } else {
        merged.push_back(*part);
      }
      previous = part->matches;
    }
    parts.assign(merged.rbegin(), merged.rend());
    return;
  }
  for (const Part& part : parts) {
    const bool joins =
        behavior == CutBehavior::kContiguous ? part.matches == previous : part.matches && !previous;
    if (joins && !merged.empty()) {
      merged.back().end = part.end;
    } else {
      merged.push_back(part);
    }
    previous = part.matches;
  }
  parts = std::move(merged);
}

/// Cuts without changing the text.
class Cutter : public PreTokenizer {
 public:
  explicit Cutter(CutBehavior behavior) : behavior_(behavior) {}

  void apply(CutText& text) const final {
    std::vector<CutText::Piece> pieces;
    pieces.reserve(text.pieces.size() + text.all.size() / 4);
    std::vector<Part> parts;
    for (const CutText::Piece& piece : text.pieces) {
      if (piece.id >= 0) {
        pieces.push_back(piece);
        continue;
      }
      parts.clear();
      find_parts(text.all.text(piece.begin, piece.end), parts);
      if (behavior_ != CutBehavior::kRemoved && behavior_ != CutBehavior::kIsolated) {
        merge_with_neighbours(parts, behavior_);
      }
      for (const Part& part : parts) {
        if (part.begin == part.end || (part.matches && behavior_ == CutBehavior::kRemoved)) continue;
        pieces.push_back({piece.begin + part.begin, piece.begin + part.end});
      }
    }
    text.pieces = std::move(pieces);
  }

 protected:
  virtual void find_parts(std::string_view text, std::vector<Part>& parts) const = 0;

 private:
  CutBehavior behavior_;
};

class Split : public Cutter {
 public:
  Split(Pattern pattern, CutBehavior behavior, bool inverted)
      : Cutter(behavior), pattern_(std::move(pattern)), inverted_(inverted) {}

 protected:
  void find_parts(std::string_view text, std::vector<Part>& parts) const override {
    add_parts(parts, text.size(), pattern_.find_in(text), inverted_);
  }

 private:
  Pattern pattern_;
  bool inverted_;
};

template <typename Matches>
class CharacterSplit : public Cutter {
 public:
  CharacterSplit(CutBehavior behavior, Matches matches) : Cutter(behavior), matches_(matches) {}

 protected:
  void find_parts(std::string_view text, std::vector<Part>& parts) const override {
    add_character_parts(parts, text, matches_);
  }

 private:
  Matches matches_;
};

template <typename Matches>
std::unique_ptr<PreTokenizer> split_at_characters(CutBehavior behavior, Matches matches) {
  return std::make_unique<CharacterSplit<Matches>>(behavior, matches);
}

/// \w+|[^\w\s]+
class Words : public Cutter {
 public:
  Words() : Cutter(CutBehavior::kIsolated) {}

 protected:
  void find_parts(std::string_view text, std::vector<Part>& parts) const override {
    enum class Class { kSpace, kWord, kOther };
    Class last = Class::kSpace;
    for (size_t at = 0; at < text.size();) {
      const auto begin = static_cast<uint32_t>(at);
      const char32_t c = take_code_point(text, at);
      const Class found = is_word_character(c) ? Class::kWord
                          : is_white_space(c)  ? Class::kSpace
                                               : Class::kOther;
      const auto end = static_cast<uint32_t>(at);
      if (found != Class::kSpace && found == last) {
        parts.back().end = end;
      } else if (found != Class::kSpace) {
        parts.push_back({begin, end, true});
      }
      last = found;
    }
  }
};

class BertPreTokenizer : public Cutter {
 public:
  BertPreTokenizer() : Cutter(CutBehavior::kRemoved) {}

 protected:
  void find_parts(std::string_view text, std::vector<Part>& parts) const override {
    uint32_t done = 0;
    for (size_t at = 0; at < text.size();) {
      const auto begin = static_cast<uint32_t>(at);
      const char32_t c = take_code_point(text, at);
      const bool space = is_white_space(c);
      if (!space && !is_punctuation(c)) continue;
      if (done < begin) parts.push_back({done, begin});
      done = static_cast<uint32_t>(at);
      if (!space) parts.push_back({begin, done});
    }
    if (done < text.size()) parts.push_back({done, static_cast<uint32_t>(text.size())});
  }
};

class FixedLength : public Cutter {
 public:
  explicit FixedLength(size_t length) : Cutter(CutBehavior::kIsolated), length_(length) {}

 protected:
  void find_parts(std::string_view text, std::vector<Part>& parts) const override {
    size_t characters = 0;
    for (size_t at = 0; at < text.size(); ++characters) {
      const auto begin = static_cast<uint32_t>(at);
      at += length_of_character(text[at]);
      if (characters % length_ == 0) parts.push_back({begin, begin});
      parts.back().end = static_cast<uint32_t>(at);
    }
  }

 private:
  size_t length_;
};

class Scripts : public Cutter {
 public:
  Scripts() : Cutter(CutBehavior::kIsolated) {}

 protected:
  void find_parts(std::string_view text, std::vector<Part>& parts) const override {
    int last = -1;
    for (size_t at = 0; at < text.size();) {
      const auto begin = static_cast<uint32_t>(at);
      const int script = joined_script(take_code_point(text, at));
      if (script >= 0 && script != last) {
        parts.push_back({begin, begin});
        last = script;
      }
      if (!parts.empty()) parts.back().end = static_cast<uint32_t>(at);
    }
  }
};

/// Copies a piece to the end of another text.
CutText::Piece copy(const CutText& text, const CutText::Piece& piece, AlignedText& to) {
  const auto begin = static_cast<uint32_t>(to.size());
  to.append(text.all, piece.begin, piece.end);
  return {begin, static_cast<uint32_t>(to.size()), piece.id};
}

class ByteLevelPreTokenizer : public PreTokenizer {
 public:
  ByteLevelPreTokenizer(bool adds_space, bool cuts) : adds_space_(adds_space), cuts_(cuts) {}

  void apply(CutText& text) const override {
    CutText result;
    result.all.reserve(text.all.size() + text.all.size() / 4);
    result.pieces.reserve(text.pieces.size() + text.all.size() / 4);
    AlignedText spaced;
    for (const CutText::Piece& piece : text.pieces) {
      if (piece.id >= 0) {
        result.pieces.push_back(copy(text, piece, result.all));
        continue;
      }
      if (!adds_space_ || text.all.text()[piece.begin] == ' ') {
        add_words(text.all, piece.begin, piece.end, result);
        continue;
      }
      spaced.clear();
      spaced.append(text.all, piece.begin, piece.end);
      spaced.prepend(" ");
      add_words(spaced, 0, spaced.size(), result);
    }
    text = std::move(result);
  }

 private:
  void add_words(const AlignedText& text, size_t at, size_t end, CutText& result) const {
    const std::string_view until_end = text.text(0, end);
    const std::vector<std::string>& characters = characters_of_bytes();
    while (at < end) {
      const size_t word = cuts_ ? word_end(until_end, at) : end;
      const auto begin = static_cast<uint32_t>(result.all.size());
      for (; at < word; ++at) {
        const std::string& character = characters[static_cast<unsigned char>(until_end[at])];
        const Origin origin = text.origin(at);
        for (const char byte : character) result.all.append(byte, origin);
      }
      result.pieces.push_back({begin, static_cast<uint32_t>(result.all.size())});
    }
  }

  bool adds_space_, cuts_;
};

class MetaspacePreTokenizer : public PreTokenizer {
 public:
  explicit MetaspacePreTokenizer(const MetaspaceOptions& options) : options_(options) {
    append_utf8(replacement_, options.replacement);
  }

  void apply(CutText& text) const override {
    CutText result;
    result.all.reserve(text.all.size() + text.all.size() / 2);
    result.pieces.reserve(text.pieces.size() + text.all.size() / 4);
    for (const CutText::Piece& piece : text.pieces) {
      if (piece.id >= 0) {
        result.pieces.push_back(copy(text, piece, result.all));
        continue;
      }
      const size_t begin = result.all.size();
      write(text, piece, result.all);
      add_pieces(begin, result);
    }
    text = std::move(result);
  }

 private:
  void write(const CutText& text, const CutText::Piece& piece, AlignedText& to) const {
    const std::string_view bytes = text.all.text(piece.begin, piece.end);
    using Prepend = MetaspaceOptions::Prepend;
    const bool wanted = options_.prepend == Prepend::kAlways ||
                        (options_.prepend == Prepend::kFirst && text.all.origin(piece.begin).begin == 0);
    if (wanted && bytes[0] != ' ' && !bytes.starts_with(replacement_)) {
      to.append(replacement_, text.all.origin(piece.begin));
    }
    size_t at = 0;
    for (size_t space = bytes.find(' '); space != std::string_view::npos; space = bytes.find(' ', at)) {
      to.append(text.all, piece.begin + at, piece.begin + space);
      to.append(replacement_, text.all.origin(piece.begin + space));
      at = space + 1;
    }
    to.append(text.all, piece.begin + at, piece.end);
  }

  void add_pieces(size_t begin, CutText& result) const {
    const std::string_view all = result.all.text();
    if (!options_.cuts) {
      result.pieces.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(all.size())});
      return;
    }
    while (begin < all.size()) {
      const size_t end = std::min(all.find(replacement_, begin + 1), all.size());
      result.pieces.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
      begin = end;
    }
  }

  MetaspaceOptions options_;
  std::string replacement_;
};

}  // namespace

std::unique_ptr<PreTokenizer> split_pre_tokenizer(Pattern pattern, CutBehavior behavior, bool inverted) {
  return std::make_unique<Split>(std::move(pattern), behavior, inverted);
}
std::unique_ptr<PreTokenizer> white_space_pre_tokenizer() {
  return split_at_characters(CutBehavior::kRemoved, [](char32_t c) { return is_white_space(c); });
}
std::unique_ptr<PreTokenizer> word_pre_tokenizer() {
  return std::make_unique<Words>();
}
std::unique_ptr<PreTokenizer> punctuation_pre_tokenizer(CutBehavior behavior) {
  return split_at_characters(behavior, [](char32_t c) { return is_punctuation(c); });
}
std::unique_ptr<PreTokenizer> digits_pre_tokenizer(bool individual) {
  return split_at_characters(individual ? CutBehavior::kIsolated : CutBehavior::kContiguous,
                             [](char32_t c) { return is_numeric(c); });
}
std::unique_ptr<PreTokenizer> bert_pre_tokenizer() {
  return std::make_unique<BertPreTokenizer>();
}
std::unique_ptr<PreTokenizer> delimiter_pre_tokenizer(char32_t delimiter) {
  return split_at_characters(CutBehavior::kRemoved, [delimiter](char32_t c) { return c == delimiter; });
}
std::unique_ptr<PreTokenizer> fixed_length_pre_tokenizer(size_t length) {
  return std::make_unique<FixedLength>(length);
}
std::unique_ptr<PreTokenizer> script_pre_tokenizer() {
  return std::make_unique<Scripts>();
}
std::unique_ptr<PreTokenizer> byte_level_pre_tokenizer(bool adds_space, bool cuts) {
  return std::make_unique<ByteLevelPreTokenizer>(adds_space, cuts);
}
std::unique_ptr<PreTokenizer> metaspace_pre_tokenizer(const MetaspaceOptions& options) {
  return std::make_unique<MetaspacePreTokenizer>(options);
}

}  // namespace heed
