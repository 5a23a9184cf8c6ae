// HTML is parsed by Gumbo (HTML 5), which reports the source position of each tag. Only the text of segments
// is rewritten.
#include <gumbo.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "base/text/ascii.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"
#include "translate/documents/document.h"
#include "translate/documents/html_elements.h"
#include "translate/documents/html_tree.h"

namespace heed::translate {
namespace {

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/// Whether the element contains, at any depth, an element that ends a sentence.
bool holds_block(const GumboElement& element) {
  for (unsigned n = 0; n < element.children.length; ++n) {
    const auto& node = *static_cast<const GumboNode*>(element.children.data[n]);
    if (node.type != GUMBO_NODE_ELEMENT && node.type != GUMBO_NODE_TEMPLATE) continue;
    const GumboElement& child = node.v.element;
    if (is_at_place(child.tag)) continue;
    const bool within = is_inline(child.tag) || is_kept(child.tag);
    if (!within || holds_block(child)) return true;
  }
  return false;
}

/// Whether an element contains, at any depth, one of a kind.
template <typename IsOne>
bool holds(const GumboElement& element, const IsOne& is_one) {
  for (unsigned n = 0; n < element.children.length; ++n) {
    const auto& node = *static_cast<const GumboNode*>(element.children.data[n]);
    if (node.type != GUMBO_NODE_ELEMENT) continue;
    if (is_one(node.v.element) || holds(node.v.element, is_one)) return true;
  }
  return false;
}
bool holds_translated(const GumboElement& element) {
  return holds(element, [](const GumboElement& each) { return says_translated(each) == true; });
}
bool is_link(const GumboElement& element) {
  return element.tag == GUMBO_TAG_A;
}

/// Bytes [begin, end) of the document.
struct Range {
  size_t begin = 0, end = 0;
};

/// A text without markup, with its entities decoded.
std::string decoded(std::string_view text) {
  if (text.find('&') == std::string_view::npos) return std::string(text);
  const HtmlTree tree = parse_html(text);
  const auto before = std::ranges::find_if_not(text, is_space);
  std::string result(text.begin(), before);  // which Gumbo leaves out
  std::vector<const GumboNode*> waiting{tree.document};
  while (!waiting.empty()) {
    const GumboNode& node = *waiting.back();
    waiting.pop_back();
    if (node.type == GUMBO_NODE_TEXT || node.type == GUMBO_NODE_WHITESPACE) result += node.v.text.text;
    const GumboVector* children = node.type == GUMBO_NODE_DOCUMENT  ? &node.v.document.children
                                  : node.type == GUMBO_NODE_ELEMENT ? &node.v.element.children
                                                                    : nullptr;
    for (unsigned n = children == nullptr ? 0 : children->length; n-- > 0;)
      waiting.push_back(static_cast<const GumboNode*>(children->data[n]));
  }
  return result;
}

/// Whether a tag that Gumbo ignores divides sentences, as that of a table cell.
bool ends_sentence(std::string_view markup) {
  const size_t begin = markup.starts_with("</") ? 2 : 1;
  if (markup.size() <= begin || !is_ascii_letter(markup[begin])) return false;
  const std::string_view name = markup.substr(begin, markup.find_first_of(" \t\r\n\f/>", begin) - begin);
  const GumboTag tag = gumbo_tagn_enum(name.data(), static_cast<unsigned>(name.size()));
  return tag != GUMBO_TAG_UNKNOWN && !is_inline(tag) && !is_kept(tag) && !is_at_place(tag);
}

/// Whether what the tree lacks between two nodes divides sentences. An opening tag does: its element is
/// elsewhere in the tree, or ignored as the row of a table is.
bool divides(std::string_view gap) {
  for (size_t at = 0; (at = gap.find('<', at)) != std::string_view::npos;) {
    const std::string_view markup = gap.substr(at, markup_size(gap.substr(at)));
    if (markup.size() > 1 && (is_ascii_letter(markup[1]) || ends_sentence(markup))) return true;
    at += std::max<size_t>(markup.size(), 1);
  }
  return false;
}

/// The most bytes of an entity for white space.
constexpr size_t kLongestBlankEntity = 10;

/// The bytes of an entity for white space, "&nbsp;", at the beginning of a text; 0 if there is none.
size_t blank_entity_size(std::string_view text) {
  constexpr std::array<std::string_view, 4> kNames{"nbsp", "ensp", "emsp", "thinsp"};
  const size_t end = text.substr(0, kLongestBlankEntity).find(';');
  if (!text.starts_with('&') || end == std::string_view::npos) return 0;
  std::string_view name = text.substr(1, end - 1);
  if (std::ranges::count(kNames, name) > 0) return end + 1;
  if (!name.starts_with('#')) return 0;
  const bool hexadecimal = name.size() > 1 && ascii_lower(name[1]) == 'x';
  name.remove_prefix(hexadecimal ? 2 : 1);
  uint32_t number = 0;
  const auto [behind, error] =
      std::from_chars(name.data(), name.data() + name.size(), number, hexadecimal ? 16 : 10);
  const bool read = error == std::errc() && behind == name.data() + name.size();
  return read && is_whitespace(static_cast<char32_t>(number)) ? end + 1 : 0;
}

/// The bytes of white space at the beginning of a text of HTML, if it has a no-break space or another that is
/// no ASCII, which no model would write; else 0.
size_t leading_blank(std::string_view text) {
  bool only_ascii = true;
  size_t at = 0;
  while (at < text.size()) {
    const size_t entity = blank_entity_size(text.substr(at));
    size_t end = at;
    if (entity == 0 && !is_whitespace(next_code_point(text, end))) break;
    only_ascii = only_ascii && entity == 0 && end == at + 1;
    at = std::max(end, at + entity);
  }
  return only_ascii ? 0 : at;
}

/// A text of HTML without white space at its end.
std::string_view without_trailing_blank(std::string_view text) {
  while (true) {
    text = strip_right(text);
    if (!text.ends_with(';')) return text;
    const size_t from = text.size() - std::min(text.size(), kLongestBlankEntity);
    const size_t entity = text.substr(from).rfind('&');
    if (entity == std::string_view::npos) return text;
    const std::string_view last = text.substr(from + entity);
    if (blank_entity_size(last) != last.size()) return text;
    text.remove_suffix(last.size());
  }
}

class Walker {
 public:
  explicit Walker(std::string_view html) : html_(html) {}

  void walk(const GumboNode& node) {
    switch (node.type) {
      case GUMBO_NODE_DOCUMENT:
        children(node.v.document.children);
        break;
      case GUMBO_NODE_TEXT:
      case GUMBO_NODE_WHITESPACE:
      case GUMBO_NODE_CDATA:
        add_text(node);
        break;
      case GUMBO_NODE_COMMENT:
        add_at_place(range_of(node.v.text.original_text));
        break;
      default:
        add_element(node.v.element);
    }
  }

  /// In the order of the document.
  std::vector<Segment> take() {
    flush();
    std::ranges::stable_sort(segments_, {}, &Segment::begin);
    size_t end = 0;
    std::erase_if(segments_, [&](const Segment& segment) {
      if (segment.begin < end) return true;
      end = segment.end;
      return false;
    });
    return std::move(segments_);
  }

 private:
  void children(const GumboVector& nodes) {
    for (unsigned n = 0; n < nodes.length; ++n) walk(*static_cast<const GumboNode*>(nodes.data[n]));
  }

  Range range_of(const GumboStringPiece& piece) const {
    if (piece.data == nullptr || piece.length == 0) return {};
    const auto begin = static_cast<size_t>(piece.data - html_.data());
    return {begin, begin + piece.length};
  }

  std::string_view source_of(Range range) const { return html_.substr(range.begin, range.end - range.begin); }

  bool has_begun() const { return segment_.begin < segment_.end; }

  /// Whether the position follows the previous one; false if the parser has moved the node. White space is
  /// part of a segment if something follows it there.
  bool advance(Range range, bool is_blank = false) {
    if (range.begin >= range.end || range.begin < position_ || range.end > html_.size()) return false;
    reach(range.begin);
    position_ = range.end;
    if (is_blank) return true;
    for (const Range& passed : std::exchange(segment_.passed, {})) {
      if (passed.begin < passed.end) {
        segment_.add_point(source_of(passed));
      } else {
        segment_.add_space();
      }
    }
    if (!has_begun()) segment_.begin = range.begin;
    segment_.end = range.end;
    return true;
  }

  /// Moves to a position behind what the tree lacks there: tags that Gumbo ignores, and what it has moved.
  void reach(size_t position) {
    const Range gap{position_, position};
    position_ = position;
    // The CR of a line end belongs to no node.
    if (has_begun() && !strip(source_of(gap)).empty()) pass(gap, divides(source_of(gap)));
  }

  /// Markup without a node is a point if more of the segment follows, or ends it.
  void pass(Range markup, bool ends) {
    if (ends) {
      flush();
    } else if (has_begun()) {
      segment_.passed.push_back(markup);
    }
  }

  /// A text may have markup in it: Gumbo ignores tags that it does not expect and joins the texts on both
  /// sides, such as those of table cells without a table, and puts white space behind </body> into the body.
  void add_text(const GumboNode& node) {
    if (!translates_) return;
    const Range all = range_of(node.v.text.original_text);
    const bool is_raw = node.parent != nullptr && node.parent->type == GUMBO_NODE_ELEMENT &&
                        node.parent->v.element.tag == GUMBO_TAG_TITLE;  // which has no tags in it
    size_t begin = all.begin, at = is_raw ? all.end : all.begin;
    while ((at = std::min(html_.find('<', at), all.end)) < all.end) {
      const size_t size = markup_size(html_.substr(at, all.end - at));
      if (size > 0) {
        add_words({begin, at}, decoded(source_of({begin, at})));
        begin = at + size;
        if (at >= position_) {
          position_ = begin;
          pass({at, begin}, ends_sentence(html_.substr(at, size)));
        }
      }
      at += std::max<size_t>(size, 1);
    }
    if (begin == all.begin) return add_words(all, node.v.text.text);
    add_words({begin, all.end}, decoded(source_of({begin, all.end})));
  }

  void add_words(Range range, std::string_view content) {
    if (range.begin >= range.end || range.begin < position_) return;
    reach(range.begin);
    if (const size_t blank = segment_.text().empty() ? leading_blank(source_of(range)) : 0; blank > 0) {
      add_at_place({range.begin, range.begin + blank});
      range.begin += blank;
      while (!content.empty()) {
        size_t at = 0;
        if (!is_whitespace(next_code_point(content, at))) break;
        content.remove_prefix(at);
      }
    }
    const bool is_blank = std::ranges::all_of(content, is_space);
    if (is_blank && !without_trailing_blank(source_of(range)).empty()) return;  // text in a <frameset>
    if (!advance(range, is_blank)) return;
    if (!segment_.passed.empty()) {  // white space, behind markup
      segment_.passed.push_back({});
      return;
    }
    while (!content.empty()) {
      const auto word = std::ranges::find_if(content, is_space),
                 end = std::find_if_not(word, content.end(), is_space);
      const auto size = static_cast<size_t>(word - content.begin());
      if (size > 0) segment_.add_text(content.substr(0, size));
      if (word < end) segment_.add_space();
      content = {end, content.end()};
    }
  }

  void add_at_place(Range range) {
    if (!has_begun()) {  // before the text: stays where it is
      position_ = std::max(position_, range.end);
      return;
    }
    if (advance(range)) segment_.add_point(source_of(range));
  }

  /// The children of an element that says whether they are translated, where those around it are otherwise.
  void add_otherwise(const GumboElement& element, bool translates) {
    flush();
    translates_ = translates;
    children(element.children);
    flush();
    translates_ = !translates;
  }

  void add_element(const GumboElement& element) {
    const std::optional<bool> says = says_translated(element);
    if (!translates_) {
      if (is_untouched(element.tag)) return;
      return says == true ? add_otherwise(element, true) : children(element.children);
    }
    if (says == false && !is_untouched(element.tag) && holds_translated(element))
      return add_otherwise(element, false);
    const Range open = range_of(element.original_tag), close = range_of(element.original_end_tag);
    const bool kept = is_kept(element.tag) || says == false;
    const bool within = is_inline(element.tag) || is_kept(element.tag);
    const Range all{open.begin, std::max(open.end, close.end)};
    if (is_at_place(element.tag) && (is_void(element.tag) || close.begin < close.end))
      return add_at_place(all);
    if (is_untouched(element.tag) || (kept && !within)) {
      flush();
      position_ = std::max(position_, all.end);
      return;
    }
    const bool whole = open.begin < open.end && close.begin < close.end && open.begin >= position_;
    if (!within || !whole || holds_block(element)) {
      flush();
      const size_t position = position_;
      // Texts directly in a table are before it in the tree; its cells are not behind them.
      if (element.tag == GUMBO_TAG_TABLE && open.begin < open.end) position_ = std::min(position_, open.end);
      children(element.children);
      flush();
      position_ = std::max(position_, position);
      return;
    }
    if (kept) {
      if (advance(all)) segment_.add_kept(source_of(all), is_link(element) || holds(element, is_link));
      return;
    }
    advance(open);
    const size_t flushes = flushes_;
    segment_.open(source_of(open), without_text(element.tag));
    ++open_;
    children(element.children);
    const bool ends = advance(close);
    --open_;
    // A flush within, by an element without an end tag, has left the opening tag to the segment before.
    if (!ends || flushes != flushes_) {
      segment_.broken = true;
      return;
    }
    segment_.innermost().close = source_of(close);
    segment_.close(source_of(all), becomes(element.tag, segment_, html_.substr(all.end)));
  }

  void flush() {
    ++flushes_;
    Building building = std::exchange(segment_, {});
    if (building.broken || open_ > 0 || !is_translatable(building.text())) return;  // stays unchanged
    Segment segment = building.finish(escape_html);
    // White space around it is not part of the segment.
    segment.begin = building.begin;
    segment.end = segment.begin + without_trailing_blank(source_of({building.begin, building.end})).size();
    while (segment.begin < segment.end && is_space(html_[segment.begin])) ++segment.begin;
    segments_.push_back(std::move(segment));
  }

  struct Building : SegmentBuilder {
    size_t begin = 0, end = 0;  // bytes of the document
    bool broken = false;
    std::vector<Range> passed;  // markup behind the text so far that has no node; an empty range is a space
  };

  std::string_view html_;
  size_t position_ = 0;  // everything before it is processed
  Building segment_;
  std::vector<Segment> segments_;
  bool translates_ = true;
  int open_ = 0;        // number of open inline elements
  size_t flushes_ = 0;  // number of segments begun
};

}  // namespace

std::string escape_html(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    switch (next_code_point(text, at)) {
      case U'&':
        result += "&amp;";
        break;
      case U'<':
        result += "&lt;";
        break;
      case U'>':
        result += "&gt;";
        break;
      case U'\u00A0':
        result += "&nbsp;";
        break;
      default:
        result += text.substr(begin, at - begin);
    }
  }
  return result;
}

std::vector<Segment> html_segments(std::string_view html, const Stop& stop) {
  const HtmlTree tree = parse_html(html, stop);
  Walker walker(html);
  walker.walk(*tree.document);
  return walker.take();
}

}  // namespace heed::translate
