// Builds a segment from its text and markup, in the order of the document.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "translate/documents/document_segment.h"

namespace heed::translate {

/// The markup that it is given must outlive it.
class SegmentBuilder {
 public:
  /// What becomes of an element with text.
  enum class As {
    kTag,    ///< its text is translated, and it encloses the translation
    kKept,   ///< unchanged markup
    kPoint,  ///< a point: its text is not that of the sentence
  };

  /// Text so far, in which one character stands for each piece of unchanged markup.
  const std::string& text() const { return text_; }

  /// Text without NUL.
  void add_text(std::string_view text);
  /// Adds a space, unless the text ends with one or is empty. Then it is part of the markup before it, so
  /// that an icon keeps its distance.
  void add_space();
  /// Markup without text, such as that of an image.
  void add_point(std::string_view source);
  /// Markup that must not change, with its text.
  void add_kept(std::string_view source, bool has_link = false);

  /// Begins a tag.
  void open(std::string_view source, Tag::WithoutText without_text);
  /// The innermost open tag.
  Tag& innermost() { return tags_[open_.back().tag].tag; }
  /// Whether the text within the innermost open tag has a letter, apart from that of unchanged markup.
  bool has_letter() const { return last_.letter > begin(); }
  /// Whether that text is in square brackets.
  bool is_bracketed() const;
  /// Whether the innermost open tag has a link in it, or begins the text of one.
  bool is_linked() const;
  /// Whether the innermost open tag follows a word or punctuation without a space, or begins the text.
  bool is_attached() const;
  /// Whether the innermost open tag follows a space, or begins the text.
  bool begins_word() const { return begin() == 0 || text_[begin() - 1] == ' '; }
  /// Whether the text within the innermost open tag is a short part of a word, and not its beginning.
  bool continues_word() const;
  /// Ends the innermost open tag, which is in the document from its opening part to its closing part. Without
  /// text it is a point, and if all its text is unchanged markup, it is unchanged markup too.
  void close(std::string_view source, As as = As::kTag);
  /// Ends the innermost open tag, which has no closing part: its opening part is a point.
  void leave_open() { open_.pop_back(); }

  /// The segment, without white space at the end of its text. All tags must be closed. No-break spaces there
  /// that are in a tag, or before one, are part of it.
  Segment finish(const Escape& escape);

 private:
  /// Behind the last text of each kind; 0 without any.
  struct Last {
    size_t any = 0;     // not blank
    size_t plain = 0;   // apart from unchanged markup
    size_t letter = 0;  // with letters, apart from unchanged markup
  };
  /// A tag, whose opening part is copied in the end only, as that of a point may have a whole paragraph.
  struct Part {
    Tag tag;
    std::string_view open;
    std::string before = {};  // white space
    bool space_behind = false;
  };
  struct Open {
    size_t tag, kept;  // the numbers of tags and of pieces of unchanged markup before it
    Last last;
  };

  struct Kept {
    std::string_view source;
    bool ends_word, has_link;
  };

  size_t begin() const { return tags_[open_.back().tag].tag.begin; }
  /// Whether the innermost open tag is a link or has one in it.
  bool has_link() const;
  /// Takes the innermost open tag away, with all that is in it; returns its text.
  std::string take_innermost();
  /// Puts the points from tag `first` on that are behind a space at `size`, at the end of the text, before
  /// it. The first one then begins with the space.
  void move_before_space(size_t first, size_t size, const std::string& space = " ");
  std::string take_blank(size_t size, const Escape& escape);
  void trim(const Escape& escape);

  std::string text_;
  std::vector<Part> tags_;
  std::vector<Kept> kept_;
  Last last_;
  std::vector<Open> open_;
};

}  // namespace heed::translate
