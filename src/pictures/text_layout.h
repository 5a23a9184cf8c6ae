// Creates the Pango layout of a Text, for measuring and drawing.
#pragma once

#include <pango/pangocairo.h>

#include <memory>
#include <string>

#include "inspect/draw/picture.h"

namespace heed {

struct GObjectUnref {
  void operator()(void* object) const { g_object_unref(object); }
};
using PangoLayoutPointer = std::unique_ptr<PangoLayout, GObjectUnref>;

/// A layout in points without hinting, so that it is the same in all file formats. Throws kNotFound if no
/// font is installed.
PangoLayoutPointer make_text_layout(const Text& text, const std::string& font);

/// The distance from the layout's left edge to the point of alignment on its first baseline.
double alignment_offset(PangoLayout* layout, Align align);

}  // namespace heed
