#include "translate/documents/html_tree.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstddef>
#include <map>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/text/ascii.h"
#include "text/unicode/whitespace.h"

namespace heed::translate {
namespace {

/// Maximum nesting of elements: what reads the tree is recursive.
constexpr int kMaxDepth = 4000;
/// Maximum number of tags before <frameset>, for which Gumbo frees the elements so far, recursively.
constexpr int kMaxTagsBeforeFrames = 1000;

constexpr std::array kUntouched{GUMBO_TAG_SCRIPT,  GUMBO_TAG_STYLE, GUMBO_TAG_PRE,       GUMBO_TAG_TEXTAREA,
                                GUMBO_TAG_SVG,     GUMBO_TAG_MATH,  GUMBO_TAG_TEMPLATE,  GUMBO_TAG_NOSCRIPT,
                                GUMBO_TAG_IFRAME,  GUMBO_TAG_XMP,   GUMBO_TAG_PLAINTEXT, GUMBO_TAG_NOEMBED,
                                GUMBO_TAG_NOFRAMES};
/// Elements without an end tag, and those that mostly go without.
constexpr std::array<std::string_view, 30> kUnclosed{
    "area",   "base",  "br",   "col",   "colgroup", "dd",     "dt", "embed", "hr",  "img",
    "input",  "li",    "link", "meta",  "optgroup", "option", "p",  "param", "rp",  "rt",
    "source", "tbody", "td",   "tfoot", "th",       "thead",  "tr", "track", "wbr", "keygen"};

/// Elements whose content is text, in which are no tags.
constexpr std::array<std::string_view, 8> kRawText{"iframe", "noembed",  "noframes", "script",
                                                   "style",  "textarea", "title",    "xmp"};

[[noreturn]] void fail_deep() {
  fail(ErrorKind::kUsage, "HTML with elements nested more than {} deep is not supported", kMaxDepth);
}

/// The name of the tag that begins at a byte, in lower case; its beginning if it is long.
std::string name_at(std::string_view html, size_t at) {
  constexpr size_t kLongest = 32;
  const std::string_view rest = html.substr(at, kLongest);
  return ascii_lower(rest.substr(0, rest.find_first_of(" \t\n\f\r/>")));
}

/// The bytes of the comment at the beginning of a text.
size_t comment_size(std::string_view text) {
  constexpr size_t kBegin = 4, kDashes = 2;  // of "<!--", which may share its dashes with "-->"
  for (size_t at = kBegin - kDashes; (at = text.find("--", at)) != std::string_view::npos; ++at) {
    const std::string_view behind = text.substr(at + kDashes);
    if (behind.starts_with('>')) return at + kDashes + 1;
    if (at >= kBegin && behind.starts_with("!>")) return at + kDashes + 2;
  }
  return text.size();
}

/// The bytes of the tag at the beginning of a text, whose name begins at `at`. Values of attributes may have
/// any character within quotation marks.
size_t tag_size(std::string_view text, size_t at) {
  constexpr std::string_view kSpace = " \t\n\f\r";
  const auto skip = [&](std::string_view any) {
    at = std::min(text.find_first_not_of(any, at), text.size());
  };
  const auto skip_to = [&](std::string_view any) { at = std::min(text.find_first_of(any, at), text.size()); };
  skip_to(" \t\n\f\r/>");
  while (true) {
    skip(" \t\n\f\r/");
    if (at == text.size()) return at;
    if (text[at] == '>') return at + 1;
    ++at;  // the name of an attribute begins with any character
    skip_to(" \t\n\f\r/>=");
    skip(kSpace);
    if (at == text.size() || text[at] != '=') continue;
    ++at;
    skip(kSpace);
    if (at == text.size()) return at;
    if (text[at] == '"' || text[at] == '\'') {
      at = text.find(text[at], at + 1);
      if (at == std::string_view::npos) return text.size();
      ++at;
    } else {
      skip_to(" \t\n\f\r>");
    }
  }
}

/// Where the end tag of an element begins, from a position on.
size_t find_end_tag(std::string_view html, std::string_view name, size_t at) {
  for (; (at = html.find("</", at)) != std::string_view::npos; ++at) {
    if (name_at(html, at + 2) == name) return at;
  }
  return html.size();
}

/// Refuses most of what is nested too deeply before Gumbo sees it, which takes quadratic time for it. An end
/// tag counts if a tag of its name is open; depth_of() measures what Gumbo makes of them.
void require_shallow(std::string_view html) {
  std::map<std::string, int> open;
  int depth = 0, tags = 0;
  for (size_t at = 0; (at = html.find('<', at)) != std::string_view::npos; ++tags) {
    const std::string_view markup = html.substr(at, std::max<size_t>(markup_size(html.substr(at)), 1));
    at += markup.size();
    const bool ends = markup.starts_with("</");
    const size_t begin = ends ? 2 : 1;
    if (markup.size() <= begin || !is_ascii_letter(markup[begin])) continue;
    const std::string name = name_at(markup, begin);
    if (ends) {
      const auto found = open.find(name);
      if (found == open.end() || found->second == 0) continue;
      --found->second;
      --depth;
      continue;
    }
    if (name == "frameset" && tags > kMaxTagsBeforeFrames) {
      fail(ErrorKind::kUsage, "HTML with a <frameset> behind more than {} tags is not supported",
           kMaxTagsBeforeFrames);
    }
    if (std::ranges::count(kUnclosed, name) > 0) continue;
    // Where <x/> is an element without content, and <style> may have elements in it; <select> ignores
    // <style>.
    const bool foreign = open["svg"] > 0 || open["math"] > 0;
    if (foreign && markup.ends_with("/>")) continue;
    if (!foreign && open["select"] == 0 && std::ranges::count(kRawText, name) > 0) {
      at = find_end_tag(html, name, at);
      continue;
    }
    ++open[name];
    if (++depth > kMaxDepth) fail_deep();
  }
}

/// The nesting of a tree. Gumbo moves and repeats elements, so it may be more than the text has.
int depth_of(const GumboNode& document) {
  int deepest = 0;
  std::vector<std::pair<const GumboNode*, int>> waiting{{&document, 0}};
  while (!waiting.empty()) {
    const auto [node, depth] = waiting.back();
    waiting.pop_back();
    deepest = std::max(deepest, depth);
    const GumboVector* children = nullptr;
    if (node->type == GUMBO_NODE_DOCUMENT) children = &node->v.document.children;
    if (node->type == GUMBO_NODE_ELEMENT || node->type == GUMBO_NODE_TEMPLATE) {
      children = &node->v.element.children;
    }
    if (children == nullptr) continue;
    for (unsigned n = 0; n < children->length; ++n) {
      waiting.emplace_back(static_cast<const GumboNode*>(children->data[n]), depth + 1);
    }
  }
  return deepest;
}

// Gumbo opens formatting elements that were not closed again in each paragraph, so 20 KB of text can become a
// tree of 1 GB, and it does not expect that an allocation fails. Its only resource is memory, which it gets
// from allocate() below. To end a parse, that jumps out of Gumbo's C functions, and all memory is freed
// together. It also spares gumbo_destroy_output(), which is recursive.

/// Trees of real pages take about 10 bytes for each byte, of tags alone up to 200.
constexpr size_t kBytesForEach = 512, kBytesForAll = size_t{1} << 20;

enum class ParseEnd { kWhole, kTooLarge, kStopped, kNoMemory };

struct ParseMemory {
  std::pmr::memory_resource& resource;
  size_t left = 0;  ///< bytes that the parse may still take
  Stop stop = {};
  ParseEnd end = ParseEnd::kWhole;
  std::jmp_buf out = {};
};

void* allocate(void* parse, size_t size) {
  ParseMemory& memory = *static_cast<ParseMemory*>(parse);
  constexpr size_t kAlignment = alignof(std::max_align_t);
  const size_t taken = (size + kAlignment - 1) / kAlignment * kAlignment;
  void* block = nullptr;
  if (memory.stop.requested()) {
    memory.end = ParseEnd::kStopped;
  } else if (taken > memory.left) {
    memory.end = ParseEnd::kTooLarge;
  } else {
    try {
      block = memory.resource.allocate(taken, kAlignment);
    } catch (const std::bad_alloc&) {
      memory.end = ParseEnd::kNoMemory;
    }
  }
  if (block == nullptr) std::longjmp(memory.out, 1);  // no object between here and setjmp has a destructor
  memory.left -= taken;
  return block;
}

void keep(void*, void*) {}

/// Null if the parse was ended: memory.end says why.
const GumboOutput* parse_within(ParseMemory& memory, const GumboOptions& options, std::string_view html) {
  if (setjmp(memory.out) != 0) return nullptr;
  return gumbo_parse_with_options(&options, html.data(), html.size());
}

}  // namespace

HtmlTree parse_html(std::string_view html, const Stop& stop) {
  require_shallow(html);
  HtmlTree tree{std::make_unique<std::pmr::monotonic_buffer_resource>()};
  const size_t most = kBytesForAll + kBytesForEach * html.size();
  ParseMemory memory{.resource = *tree.memory, .left = most, .stop = stop};
  GumboOptions options = kGumboDefaultOptions;
  options.allocator = allocate;
  options.deallocator = keep;
  options.userdata = &memory;
  options.max_errors = 0;  // each would keep the names of all open elements
  const GumboOutput* output = parse_within(memory, options, html);
  switch (memory.end) {
    case ParseEnd::kWhole:
      break;
    case ParseEnd::kTooLarge:
      fail(ErrorKind::kUsage,
           "the HTML would become a tree of more than {} MB: close formatting elements such as <b> and "
           "<font>, "
           "which are else opened again in each paragraph",
           most >> 20);
    case ParseEnd::kStopped:
      throw Cancelled();
    case ParseEnd::kNoMemory:
      throw std::bad_alloc();
  }
  if (depth_of(*output->document) > kMaxDepth) fail_deep();
  tree.document = output->document;
  return tree;
}

size_t markup_size(std::string_view text) {
  if (text.size() < 2 || text[0] != '<') return 0;
  if (text.starts_with("<!--")) return comment_size(text);
  const size_t name = text[1] == '/' ? 2 : 1;
  if (name < text.size() && is_ascii_letter(text[name])) return tag_size(text, name);
  if (std::string_view("/!?").find(text[1]) == std::string_view::npos) return 0;
  return std::min(text.find('>'), text.size() - 1) + 1;
}

bool is_untouched(GumboTag tag) {
  return std::find(kUntouched.begin(), kUntouched.end(), tag) != kUntouched.end();
}

std::optional<bool> says_translated(const GumboElement& element) {
  const GumboAttribute* classes = gumbo_get_attribute(&element.attributes, "class");
  if (classes != nullptr) {
    const auto words = split_whitespace(classes->value);
    if (std::find(words.begin(), words.end(), "notranslate") != words.end()) return false;
  }
  const GumboAttribute* translate = gumbo_get_attribute(&element.attributes, "translate");
  const std::string value = translate == nullptr ? "" : ascii_lower(std::string_view(translate->value));
  if (value == "no") return false;
  return value == "yes" ? std::optional(true) : std::nullopt;
}

}  // namespace heed::translate
