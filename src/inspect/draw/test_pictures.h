// Test helper: checks pictures for overlapping or clipped text, and lists their texts.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "inspect/draw/picture.h"
#include "inspect/trace/test_traces.h"

namespace heed::testing {

inline Trace trace_of(int tokens, int layers, int heads) {
  return make_trace(make_tokens(tokens), make_tokens(tokens + 1), layers, heads);
}

/// Describes texts that overlap or leave the page.
inline std::vector<std::string> faults(const Picture& picture) {
  std::vector<std::string> found;
  std::vector<Text> texts = picture.texts();
  std::erase_if(texts, [](const Text& text) { return text.bounds.width <= 0; });
  std::sort(texts.begin(), texts.end(),
            [](const Text& a, const Text& b) { return a.bounds.left < b.bounds.left; });
  for (size_t n = 0; n < texts.size(); ++n) {
    const Box& box = texts[n].bounds;
    if (box.left < 0 || box.top < 0 || box.right() > picture.width || box.bottom() > picture.height) {
      found.push_back("'" + texts[n].label.text + "' leaves the page");
    }
    for (size_t m = n + 1; m < texts.size() && texts[m].bounds.left < box.right(); ++m) {
      const Box& other = texts[m].bounds;
      if (box.top < other.bottom() && other.top < box.bottom()) {
        found.push_back("'" + texts[n].label.text + "' lies on '" + texts[m].label.text + "'");
      }
    }
  }
  for (const PictureShape& shape : picture.shapes) {
    const Boxes* boxes = std::get_if<Boxes>(&shape);
    if (boxes == nullptr) continue;
    for (const Box& box : boxes->boxes) {
      const bool inside = box.left >= 0 && box.top >= 0 && box.right() <= picture.width + 1e-6 &&
                          box.bottom() <= picture.height + 1e-6;
      if (!inside) found.emplace_back("a box leaves the page");
    }
  }
  return found;
}

inline std::multiset<std::string> words(const Picture& picture) {
  std::multiset<std::string> found;
  for (const Text& text : picture.texts()) found.insert(text.label.text);
  return found;
}

}  // namespace heed::testing
