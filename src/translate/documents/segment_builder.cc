#include "translate/documents/segment_builder.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text/ascii.h"
#include "text/unicode/unicode_properties.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed::translate {
namespace {

/// Stands for unchanged markup until all of the text is known. No text of a document has it.
constexpr char kMarker = '\0';

/// The numbers n of "`x<n>`" in a text, also where a marker takes the place of a backtick.
std::set<std::string_view> numbers_in(std::string_view text) {
  const auto is_backtick = [&](size_t at) {
    return at < text.size() && (text[at] == '`' || text[at] == kMarker);
  };
  std::set<std::string_view> numbers;
  for (size_t x = text.find('x', 1); x < text.size(); x = text.find('x', x + 1)) {
    if (!is_backtick(x - 1)) continue;
    const size_t end = std::min(text.find_first_not_of("0123456789", x + 1), text.size());
    if (is_backtick(end)) numbers.insert(text.substr(x + 1, end - x - 1));
  }
  return numbers;
}

/// Whether a text ends with a letter or digit, or punctuation behind one.
bool ends_with_word(std::string_view text) {
  if (text.empty()) return false;
  size_t last = character_start(text, text.size() - 1);
  if (std::string_view(".,:;!?)").find(text[last]) != std::string_view::npos) return true;
  return is_letter_or_digit(next_code_point(text, last));
}

/// Gives unchanged markup texts that occur nowhere else.
void name_kept(Segment& segment) {
  if (segment.kept.empty()) return;
  const std::set<std::string_view> taken = numbers_in(segment.text);
  std::string text;
  std::vector<size_t> places;  // where each byte of the text has gone
  size_t number = 0;
  auto kept = segment.kept.begin();
  for (const char c : segment.text) {
    places.push_back(text.size());
    if (c != kMarker || kept == segment.kept.end()) {
      text += c;
      continue;
    }
    while (taken.contains(std::to_string(number))) ++number;
    kept->text = "`x" + std::to_string(number++) + "`";
    text += kept++->text;
  }
  places.push_back(text.size());
  for (Tag& tag : segment.tags) {
    tag.begin = places[tag.begin];
    tag.end = places[tag.end];
  }
  segment.text = std::move(text);
}

bool is_link(const Tag& tag) {
  return tag.without_text == Tag::WithoutText::kNearest;
}

}  // namespace

void SegmentBuilder::add_text(std::string_view text) {
  text_ += text;
  const size_t end = text_.size();
  if (!strip(text).empty()) last_.any = last_.plain = end;
  if (heed::has_letter(text)) last_.letter = end;
}

void SegmentBuilder::add_space() {
  if (!text_.empty() && text_.back() != ' ') {
    text_ += ' ';
  } else if (!tags_.empty()) {
    const Tag& last = tags_.back().tag;
    // Emphasis of Markdown does not begin with a space.
    const bool takes = last.begin == text_.size() && last.without_text != Tag::WithoutText::kOmitted;
    if (takes) tags_.back().space_behind = true;
  }
}

void SegmentBuilder::add_point(std::string_view source) {
  tags_.push_back({{text_.size(), text_.size(), "", ""}, source});
}

void SegmentBuilder::add_kept(std::string_view source, bool has_link) {
  kept_.push_back({source, ends_with_word(text_), has_link});
  text_ += kMarker;
  last_.any = text_.size();
}

void SegmentBuilder::open(std::string_view source, Tag::WithoutText without_text) {
  open_.push_back({tags_.size(), kept_.size(), last_});
  add_point(source);
  innermost().without_text = without_text;
}

bool SegmentBuilder::is_bracketed() const {
  const std::string_view within = std::string_view(text_).substr(begin());
  return within.starts_with('[') && within.ends_with(']');
}

bool SegmentBuilder::has_link() const {
  const Open& open = open_.back();
  return std::any_of(tags_.begin() + static_cast<std::ptrdiff_t>(open.tag), tags_.end(),
                     [](const Part& part) { return is_link(part.tag); }) ||
         std::any_of(kept_.begin() + static_cast<std::ptrdiff_t>(open.kept), kept_.end(),
                     [](const Kept& kept) { return kept.has_link; });
}

bool SegmentBuilder::is_linked() const {
  if (has_link()) return true;
  if (open_.size() < 2) return false;
  const Tag& around = tags_[open_[open_.size() - 2].tag].tag;
  return is_link(around) && open_.back().last.any <= around.begin;
}

bool SegmentBuilder::is_attached() const {
  if (begin() == 0) return true;
  const char before = text_[begin() - 1];
  return before != ' ' && before != kMarker && !is_ascii_digit(before);
}

bool SegmentBuilder::continues_word() const {
  constexpr size_t kLongest = 16;
  const std::string_view text = text_, within = text.substr(begin());
  return !begins_word() && within.size() <= kLongest && within.find(' ') == std::string_view::npos;
}

void SegmentBuilder::close(std::string_view source, As as) {
  const bool empty = last_.any <= begin();
  if (!empty && as == As::kTag && last_.plain > begin()) {
    innermost().end = text_.size();
    if (text_.ends_with(' ')) move_before_space(open_.back().tag + 1, text_.size() - 1);
    innermost().within = tags_.size() - open_.back().tag - 1;
    open_.pop_back();
    return;
  }
  const bool link = has_link();
  const std::string text = take_innermost();
  if (text.starts_with(' ') && !empty) add_space();
  if (empty || as == As::kPoint) {
    add_point(source);
    if (link) tags_.back().tag.without_text = Tag::WithoutText::kNearest;
  } else {
    add_kept(source, link);
  }
  if (text.ends_with(' ')) add_space();
}

std::string SegmentBuilder::take_innermost() {
  const Open open = open_.back();
  std::string text = text_.substr(begin());
  text_.resize(begin());
  tags_.resize(open.tag);
  kept_.resize(open.kept);
  last_ = open.last;
  open_.pop_back();
  return text;
}

Segment SegmentBuilder::finish(const Escape& escape) {
  trim(escape);
  Segment segment;
  segment.text = std::move(text_);
  for (Part& part : tags_) {
    part.tag.open = part.before;
    part.tag.open += part.open;
    if (part.space_behind) part.tag.open += ' ';
    segment.tags.push_back(std::move(part.tag));
  }
  for (const Kept& kept : kept_) {
    segment.kept.push_back({"", std::string(kept.source), kept.ends_word, kept.has_link});
  }
  name_kept(segment);
  return segment;
}

void SegmentBuilder::move_before_space(size_t first, size_t size, const std::string& space) {
  size_t begin = tags_.size();
  while (begin > first && tags_[begin - 1].tag.begin > size) --begin;
  if (begin < tags_.size()) tags_[begin].before = space;
  for (size_t n = begin; n < tags_.size(); ++n) tags_[n].tag.begin = tags_[n].tag.end = size;
}

/// What the points behind the text, from `size` on, begin with: a space, or the no-break spaces there. Those
/// at the end of a tag become part of it.
std::string SegmentBuilder::take_blank(size_t size, const Escape& escape) {
  size_t inner = tags_.size(), point = tags_.size(), end = size;
  for (size_t n = 0; n < tags_.size(); ++n) {
    const Tag& tag = tags_[n].tag;
    end = std::max(end, tag.end);
    if (tag.begin < size && tag.end > size) inner = n;
    if (tag.begin > size) point = std::min(point, n);
  }
  const std::string_view blank = std::string_view(text_).substr(size, end - size);
  if (blank.find_first_not_of(' ') == std::string_view::npos) return " ";
  if (inner == tags_.size() || point <= inner + tags_[inner].tag.within) return escape(blank);
  tags_[inner].tag.close.insert(0, escape(blank));
  return "";
}

void SegmentBuilder::trim(const Escape& escape) {
  const size_t size = strip_right(text_).size();
  const std::string space = take_blank(size, escape);
  text_.resize(size);
  move_before_space(0, size, space);
  for (Part& part : tags_) part.tag.end = std::min(part.tag.end, size);
  // A space behind a point at the end is behind the segment.
  if (!tags_.empty() && tags_.back().tag.begin == size) tags_.back().space_behind = false;
}

}  // namespace heed::translate
