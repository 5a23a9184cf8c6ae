// HTML is parsed by Gumbo (HTML 5), which reports the source position of each tag. Only the text of segments
// is rewritten.
#include <gumbo.h>

#include <algorithm>
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

/// The bytes of a tag or a comment at the beginning of a text; 0 if there is none.
size_t markup_size(std::string_view text) {
  if (text.size() < 2 || text[0] != '<') return 0;
  if (!is_ascii_letter(text[1]) && std::string_view("/!?").find(text[1]) == std::string_view::npos) return 0;
  const std::string_view end = text.starts_with("<!--") ? "-->" : ">";
  const size_t at = text.find(end, 1);
  return at == std::string_view::npos ? text.size() : at + end.size();
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

  std::vector<Segment> take() {
    flush();
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

  /// Whether the position follows the previous one; false if the parser has moved the node. White space is
  /// part of a segment if something follows it there.
  bool advance(Range range, bool is_blank = false) {
    if (range.begin >= range.end || range.begin < position_ || range.end > html_.size()) return false;
    position_ = range.end;
    if (is_blank) return true;
    if (segment_.begin == segment_.end) segment_.begin = range.begin;
    segment_.end = range.end;
    return true;
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
        if (ends_sentence(html_.substr(at, size))) flush();
        begin = at + size;
      }
      at += std::max<size_t>(size, 1);
    }
    if (begin == all.begin) return add_words(all, node.v.text.text);
    add_words({begin, all.end}, decoded(source_of({begin, all.end})));
  }

  void add_words(Range range, std::string_view content) {
    if (!advance(range, std::ranges::all_of(content, is_space))) return;
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
    if (segment_.begin == segment_.end) {  // before the text: stays where it is
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
      children(element.children);
      flush();
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
    --open_;
    // A flush within, by an element without an end tag, has left the opening tag to the segment before.
    if (!advance(close) || flushes != flushes_) {
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
    Segment segment = building.finish();
    // White space around it is not part of the segment.
    segment.begin = building.begin;
    segment.end = segment.begin + strip_right(source_of({building.begin, building.end})).size();
    while (segment.begin < segment.end && is_space(html_[segment.begin])) ++segment.begin;
    segments_.push_back(std::move(segment));
  }

  struct Building : SegmentBuilder {
    size_t begin = 0, end = 0;  // bytes of the document
    bool broken = false;
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
