// Markdown is parsed by MD4C, whose texts are parts of the document. The bytes between two texts are markup,
// identified by the spans that begin and end there.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/text/ascii.h"
#include "text/unicode/whitespace.h"
#include "translate/documents/document.h"
#include "translate/documents/html_elements.h"
#include "translate/documents/markdown_escape.h"
#include "translate/documents/markdown_html.h"
#include "translate/documents/markdown_link.h"
#include "translate/documents/markdown_text.h"

namespace heed::translate {
namespace {

/// The marks and elements in one another that are read: putting them into a translation takes time in
/// proportion to their depth.
constexpr size_t kMaxOpen = 1000;

/// The number of repetitions of a character from a position, forwards or backwards.
size_t run_forwards(std::string_view text, size_t at, char c) {
  size_t end = at;
  while (end < text.size() && text[end] == c) ++end;
  return end - at;
}
size_t run_backwards(std::string_view text, size_t at, char c) {
  size_t begin = at;
  while (begin > 0 && text[begin - 1] == c) --begin;
  return at - begin;
}

/// Whether a text of the document, alone on the first line of a quotation, says what the quotation is to
/// GitHub: "> [!NOTE]".
bool is_alert(std::string_view document, size_t at, size_t size) {
  constexpr std::string_view kKinds[] = {"[!note]", "[!tip]", "[!important]", "[!warning]", "[!caution]"};
  if (std::ranges::find(kKinds, ascii_lower(document.substr(at, size))) == std::end(kKinds)) return false;
  const std::string before = part_of_line_before(document, at);
  const std::string_view behind = document.substr(at + size);
  return strip(before).ends_with('>') && strip(behind.substr(0, behind.find('\n'))).empty();
}

class Reader {
 public:
  explicit Reader(std::string_view document) : document_(document), parsed_(document) {}

  std::vector<Segment> read() {
    MD_PARSER parser{};
    parser.flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS;
    parser.enter_block = [](MD_BLOCKTYPE type, void*, void* self) { return that(self).enter_block(type); };
    parser.leave_block = [](MD_BLOCKTYPE type, void*, void* self) { return that(self).leave_block(type); };
    parser.enter_span = [](MD_SPANTYPE type, void*, void* self) { return that(self).span({type, true}); };
    parser.leave_span = [](MD_SPANTYPE type, void*, void* self) { return that(self).span({type, false}); };
    parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* self) {
      return that(self).add(type, {text, size});
    };
    if (!parsed_.parse(parser, this)) fail(ErrorKind::kUsage, "the Markdown document cannot be parsed");
    return std::move(segments_);
  }

 private:
  struct Event {
    MD_SPANTYPE type;
    bool begins;
  };
  /// An open tag: a span of Markdown, or an element of HTML.
  struct Open {
    size_t begin, behind;  // bytes of the document: its opening part
    std::optional<MD_SPANTYPE> span = {};
    HtmlTag element = {};
    bool is_autolink = false;  // "<http://heed.example>", which encloses its address alone
  };

  static Reader& that(void* self) { return *static_cast<Reader*>(self); }

  int enter_block(MD_BLOCKTYPE type) {
    flush();
    if (type == MD_BLOCK_CODE || type == MD_BLOCK_HTML) verbatim_ = true;
    return 0;
  }
  int leave_block(MD_BLOCKTYPE type) {
    flush();
    if (type == MD_BLOCK_CODE || type == MD_BLOCK_HTML) verbatim_ = false;
    return 0;
  }

  int span(Event event) {
    if (image_ > 0 && event.type == MD_SPAN_IMG) image_ += event.begins ? 1 : -1;
    if (event.type == MD_SPAN_IMG && image_ == 0 && event.begins) image_ = 1;
    if (event.type == MD_SPAN_IMG) broken_ = true;  // its description cannot be moved
    events_.push_back(event);
    return 0;
  }

  int add(MD_TEXTTYPE type, std::string_view parsed) {
    if (verbatim_) return 0;
    std::string_view text = parsed_.source_of(parsed);
    const bool within = !open_.empty() || !events_.empty();  // markup
    if (type == MD_TEXT_BR) {
      if (within && !closes_all()) {
        broken_ = true;
      } else {
        flush();
      }
      return 0;
    }
    if (type == MD_TEXT_SOFTBR) {
      soft_break_ = begun_ || within;
      return 0;
    }
    if (text.data() == nullptr || type == MD_TEXT_NULLCHAR) {
      broken_ = true;
      return 0;
    }
    auto at = static_cast<size_t>(text.data() - document_.data());
    const bool html = type == MD_TEXT_HTML;
    const HtmlTag tag = html ? read_html_tag(text) : HtmlTag{};
    const bool ends_line = tag.element == GUMBO_TAG_BR && tag.part == HtmlTag::Part::kWhole;
    if (ends_line && begun_ && !events_.empty()) markup_until(at);
    if (ends_line && open_.empty() && events_.empty()) {
      flush();
      position_ = at + text.size();
      return 0;
    }
    if (!begun_ && !within && type == MD_TEXT_NORMAL) {  // behind such an element
      at += std::min(text.find_first_not_of(' '), text.size());
      text.remove_prefix(at - static_cast<size_t>(text.data() - document_.data()));
      if (text.empty()) return 0;
    }
    if (!begun_ && !within && type == MD_TEXT_NORMAL && is_alert(document_, at, text.size())) return 0;
    markup_until(at);
    position_ = segment_.end = at + text.size();
    if (html) {
      if (ends_line) segment_.add_space();
      add_html(tag, text, at);
    } else if (!open_.empty() && open_.back().is_autolink) {
      // unchanged, with the marks around it
    } else if (type == MD_TEXT_CODE) {
      if (code_end_ != at && !code_.empty()) broken_ = true;  // code spans several lines
      code_ += text;
      code_end_ = at + text.size();
    } else if (type == MD_TEXT_ENTITY && MarkdownText::is_kept(text)) {
      segment_.add_kept(text);
    } else {
      add_text(text);
    }
    return 0;
  }

  /// Whether the markup since the last text closes all that is open: "**Note:**" before the end of a line.
  bool closes_all() const {
    return events_.size() == open_.size() && std::ranges::none_of(events_, &Event::begins);
  }

  void add_text(std::string_view text) {
    if (text.starts_with(' ')) segment_.add_space();
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (!text.empty()) segment_.add_text(text);
  }

  /// Adds a tag of HTML at byte `at`.
  void add_html(const HtmlTag& tag, std::string_view source, size_t at) {
    if (broken_) return;
    switch (tag.part) {
      case HtmlTag::Part::kOpening:
        segment_.open(source, without_text(tag.element));
        push({.begin = at, .behind = at + source.size(), .element = tag});
        break;
      case HtmlTag::Part::kClosing:
        close_html(tag, source);
        break;
      case HtmlTag::Part::kWhole:
        segment_.add_point(source);
    }
  }

  void push(Open open) {
    open_.push_back(std::move(open));
    broken_ = broken_ || open_.size() > kMaxOpen;
  }

  /// Elements within, that have no end tag, are points if HTML does not know them: "vector<int>".
  void leave_unknown_open(std::string_view until = {}) {
    while (!open_.empty() && !open_.back().span && open_.back().element.name != until &&
           open_.back().element.element == GUMBO_TAG_UNKNOWN) {
      segment_.leave_open();
      open_.pop_back();
    }
  }

  void close_html(const HtmlTag& tag, std::string_view source) {
    leave_unknown_open(tag.name);
    if (open_.empty() || open_.back().span || open_.back().element.name != tag.name) {
      broken_ = true;
      return;
    }
    const Open open = std::move(open_.back());
    open_.pop_back();
    segment_.innermost().close = source;
    const SegmentBuilder::As as = becomes(tag.element, segment_, document_.substr(position_));
    segment_.close(document_.substr(open.begin, position_ - open.begin),
                   as == SegmentBuilder::As::kTag && open.element.is_kept ? SegmentBuilder::As::kKept : as);
  }

  /// Parses the markup between the last text and `next`: closing spans, then opening spans.
  void markup_until(size_t next) {
    if (!std::exchange(begun_, true)) {
      // Size of the markup before the first text, parsed backwards.
      size_t begin = next;
      for (auto event = events_.rbegin(); event != events_.rend(); ++event)
        begin -= opening(event->type, begin);
      segment_.begin = position_ = begin;
      segment_.end = next;
    }
    for (const Event& event : std::exchange(events_, {})) apply(event, next);
    std::string_view left = document_.substr(position_, next - std::min(position_, next));
    if (std::exchange(soft_break_, false) && !left.empty()) {  // else it is before a span that begins
      if (left.find_first_not_of(" \t\r\n>") != std::string_view::npos) broken_ = true;
      left = {};
      segment_.add_space();
    }
    if (left == "\\") {
      escaped_ += document_[next];
    } else if (!strip(left).empty()) {
      broken_ = true;
    }
    segment_.end = next;
    position_ = next;
  }

  /// Length of the opening markup of a span that ends at `end`.
  size_t opening(MD_SPANTYPE type, size_t end) const {
    switch (type) {
      case MD_SPAN_EM:
        return std::min<size_t>(end, 1);
      case MD_SPAN_STRONG:
        return std::min<size_t>(end, 2);
      case MD_SPAN_A:
        return std::min<size_t>(end, 1);
      case MD_SPAN_DEL:
        return run_backwards(document_, end, '~');
      case MD_SPAN_CODE: {
        const size_t space = end > 1 && document_[end - 1] == ' ' ? 1 : 0;
        return space + run_backwards(document_, end - space, '`');
      }
      default:
        return 0;
    }
  }

  /// The position after the closing markup of a span, which ends at the next text at the latest.
  size_t behind_closing(MD_SPANTYPE type, size_t at, size_t next) const {
    const auto expect = [&](size_t count, std::string_view chars) {
      for (size_t k = at; k < at + count; ++k) {
        if (k >= document_.size() || chars.find(document_[k]) == std::string_view::npos) return at;
      }
      return at + count;
    };
    switch (type) {
      case MD_SPAN_EM:
        return expect(1, "*_");
      case MD_SPAN_STRONG:
        return expect(2, "*_");
      case MD_SPAN_DEL:
        return at + run_forwards(document_, at, '~');
      case MD_SPAN_A: {
        if (at < document_.size() && document_[at] == '>') return at + 1;
        const size_t behind = behind_link(document_.substr(0, next), at);
        // "[name](no destination)" is a link by its name, and text.
        return behind == at && at < next && document_[at] == ']' ? at + 1 : behind;
      }
      case MD_SPAN_CODE: {
        const size_t space = at < document_.size() && document_[at] == ' ' ? 1 : 0;
        return at + space + run_forwards(document_, at + space, '`');
      }
      default:
        return at;
    }
  }

  void apply(const Event& event, size_t next) {
    if (event.type == MD_SPAN_IMG) return;
    if (event.begins) {
      // Between texts, opening markup is directly before the next text or the next opening markup.
      size_t size = 0;
      switch (event.type) {
        case MD_SPAN_STRONG:
          size = 2;
          break;
        case MD_SPAN_DEL:
          size = run_forwards(document_, skip_spaces(next), '~');
          break;
        case MD_SPAN_CODE:
          size = run_forwards(document_, skip_spaces(next), '`');
          break;
        default:
          size = 1;
      }
      const size_t begin = skip_spaces(next);
      const std::string_view mark = document_.substr(begin, size);
      if (size == 0 || begin + size > next ||
          mark.find_first_not_of(mark_characters(event.type)) != std::string_view::npos) {
        broken_ = true;
        return;
      }
      if (begin > position_) segment_.add_space();
      const bool link = event.type == MD_SPAN_A, autolink = link && mark == "<";
      if (event.type != MD_SPAN_CODE && !autolink)
        segment_.open(mark, link ? Tag::WithoutText::kNearest : Tag::WithoutText::kOmitted);
      push({.begin = begin, .behind = begin + size, .span = event.type, .is_autolink = autolink});
      position_ = begin + size;
      if (event.type == MD_SPAN_CODE) {
        code_.clear();
        position_ = next;
      }
      return;
    }
    leave_unknown_open();
    const size_t behind = behind_closing(event.type, position_, next);
    if (open_.empty() || open_.back().span != event.type || behind == position_) {
      broken_ = true;
      return;
    }
    const Open open = std::move(open_.back());
    open_.pop_back();
    const std::string_view content = document_.substr(open.behind, position_ - open.behind);
    const std::string_view close = document_.substr(position_, behind - position_);
    const std::string_view source = document_.substr(open.begin, behind - open.begin);
    position_ = segment_.end = behind;
    if (event.type == MD_SPAN_CODE || open.is_autolink) {
      segment_.add_kept(source, open.is_autolink);
      code_.clear();
      return;
    }
    segment_.innermost().close = close;
    if (event.type == MD_SPAN_A && names_its_text(close)) {
      segment_.innermost().named = link_name(content);
      segment_.innermost().close_of_other = link_end(segment_.innermost().named);
    }
    const bool link = event.type == MD_SPAN_A;
    segment_.close(
        source, link ? becomes(GUMBO_TAG_A, segment_, document_.substr(behind)) : SegmentBuilder::As::kTag);
  }

  static std::string_view mark_characters(MD_SPANTYPE type) {
    switch (type) {
      case MD_SPAN_A:
        return "[<";
      case MD_SPAN_CODE:
        return "`";
      case MD_SPAN_DEL:
        return "~";
      default:
        return "*_";
    }
  }

  /// White space between two marks, or a line end with the prefix of the next line.
  size_t skip_spaces(size_t next) const {
    size_t at = position_;
    while (at < next && std::string_view(" \t\r\n>").find(document_[at]) != std::string_view::npos) ++at;
    return at;
  }

  void flush() {
    if (std::exchange(begun_, false)) {
      segment_.end = std::max(segment_.end, position_);
      for (const Event& event : std::exchange(events_, {})) apply(event, document_.size());
    }
    events_.clear();
    leave_unknown_open();
    Building building = std::exchange(segment_, {});
    const bool broken = std::exchange(broken_, false) || !open_.empty();
    open_.clear();
    code_.clear();
    soft_break_ = false;
    image_ = 0;
    const std::string escaped = std::exchange(escaped_, {});
    if (broken || !escaped.empty() || !is_translatable(building.text())) return;  // stays unchanged
    Segment segment = building.finish(escape_markdown);
    segment.begin = building.begin;
    const std::string_view source = document_.substr(building.begin, building.end - building.begin);
    segment.end = segment.begin + strip_right(source).size();
    segments_.push_back(std::move(segment));
  }

  struct Building : SegmentBuilder {
    size_t begin = 0, end = 0;  // bytes of the document
  };

  std::string_view document_;
  MarkdownText parsed_;
  std::vector<Segment> segments_;
  Building segment_;
  std::vector<Event> events_;  // since the last text
  std::vector<Open> open_;     // open tags
  size_t position_ = 0;        // everything in the segment before it is processed
  size_t code_end_ = 0;
  std::string code_, escaped_;
  bool begun_ = false, verbatim_ = false, broken_ = false, soft_break_ = false;
  int image_ = 0;
};

}  // namespace

std::vector<Segment> markdown_segments(std::string_view markdown) {
  return Reader(markdown).read();
}

}  // namespace heed::translate
