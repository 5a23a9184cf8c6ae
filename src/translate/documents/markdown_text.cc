#include "translate/documents/markdown_text.h"

#include <algorithm>

#include "text/unicode/whitespace.h"
#include "translate/documents/document_labels.h"

namespace heed::translate {
namespace {

/// What stands for a footnote reference: MD4C passes on entities as they are, and looks for no markup in
/// them.
constexpr std::string_view kReference = "&fn;";

/// What may stand before the fence of a block of code: indentation, and marks of quotations; before the first
/// one, of items of lists, too.
constexpr std::string_view kBeforeFence = " \t>", kBeforeFirstFence = " \t>-*+.)0123456789";

size_t indentation(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

/// The bytes by which the further paragraphs of a note are indented; 0 for a line that is not.
size_t note_indentation(std::string_view line) {
  if (line.starts_with('\t')) return 1;
  return line.starts_with("    ") ? 4 : 0;
}

}  // namespace

size_t footnote_label(std::string_view text, size_t at) {
  if (!text.substr(at).starts_with("[^")) return 0;
  const size_t end = text.find_first_of("[] \t\r\n", at + 2);
  if (end == std::string_view::npos || text[end] != ']' || end == at + 2) return 0;
  return end + 1 - at;
}

MarkdownText::MarkdownText(std::string_view document) : document_(document) {
  for (size_t at = behind_front_matter(document); at < document.size();) {
    const size_t end = document.find('\n', at);
    const std::string_view line = document.substr(at, end == std::string_view::npos ? end : end + 1 - at);
    add(line);
    at += line.size();
  }
}

bool MarkdownText::parse(const MD_PARSER& parser, void* self) const {
  return md_parse(text_.data(), static_cast<MD_SIZE>(text_.size()), &parser, self) == 0;
}

std::string_view MarkdownText::source_of(std::string_view text) const {
  if (text.data() < text_.data() || text.data() + text.size() > text_.data() + text_.size()) return {};
  const auto at = static_cast<size_t>(text.data() - text_.data());
  const size_t begin = original(at);
  return document_.substr(begin, original(at + text.size()) - begin);
}

void MarkdownText::add(std::string_view line) {
  const size_t indented = indentation(line), label = footnote_label(line, indented);
  const bool begins = indented < 4 && label > 0 && line.substr(indented + label).starts_with(':');
  if (begins && fence_.empty()) return add_note(line, indented + label + 1);
  in_note_ = in_note_ && (strip(line).empty() || note_indentation(line) > 0);
  if (in_note_) line.remove_prefix(note_indentation(line));
  follow_fence(line);
  copy_with_references(line);
}

void MarkdownText::follow_fence(std::string_view line) {
  line = strip(line);
  const size_t begin = line.find_first_not_of(fence_.empty() ? kBeforeFirstFence : kBeforeFence);
  if (begin == std::string_view::npos || (line[begin] != '`' && line[begin] != '~')) return;
  const size_t end = std::min(line.find_first_not_of(line[begin], begin), line.size());
  const std::string_view fence = line.substr(begin, end - begin), rest = line.substr(end);
  if (!fence_.empty()) {
    if (rest.empty() && fence.starts_with(fence_)) fence_.clear();
  } else if (fence.size() >= 3 && (fence[0] == '~' || rest.find('`') == std::string_view::npos)) {
    fence_ = fence;
  }
}

/// Without its label, and as a paragraph of its own.
void MarkdownText::add_note(std::string_view line, size_t label) {
  text_ += '\n';
  line.remove_prefix(label);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  in_note_ = true;
  copy_with_references(line);
}

void MarkdownText::copy(std::string_view part) {
  if (part.empty()) return;
  origins_.emplace_back(text_.size(), static_cast<size_t>(part.data() - document_.data()));
  text_ += part;
}

void MarkdownText::copy_with_references(std::string_view part) {
  size_t done = 0;
  for (size_t at = 0; at < part.size(); ++at) {
    if (part[at] == '\\') {
      ++at;  // the next character is no markup
      continue;
    }
    const size_t size = footnote_label(part, at);
    if (size == 0) continue;
    copy(part.substr(done, at - done));
    origins_.emplace_back(text_.size(), static_cast<size_t>(part.data() - document_.data()) + at);
    text_ += kReference;
    done = at + size;
    // What follows begins here, also if it is empty.
    origins_.emplace_back(text_.size(), static_cast<size_t>(part.data() - document_.data()) + done);
    at = done - 1;
  }
  copy(part.substr(done));
}

size_t MarkdownText::original(size_t at) const {
  const auto next = std::ranges::upper_bound(origins_, at, {}, &std::pair<size_t, size_t>::first);
  if (next == origins_.begin()) return 0;
  return std::prev(next)->second + (at - std::prev(next)->first);
}

}  // namespace heed::translate
