#include "pictures/text_layout.h"

#include "base/check.h"

namespace heed {
namespace {

void add_faint(PangoAttrList* attributes, size_t begin, size_t end) {
  PangoAttribute* attribute = pango_attr_foreground_alpha_new(0x7000);
  attribute->start_index = static_cast<guint>(begin);
  attribute->end_index = static_cast<guint>(end);
  pango_attr_list_insert(attributes, attribute);
}

using ContextPointer = std::unique_ptr<PangoContext, GObjectUnref>;

ContextPointer make_context() {
  ContextPointer context(pango_font_map_create_context(pango_cairo_font_map_get_default()));
  pango_cairo_context_set_resolution(context.get(), 72);
  pango_context_set_round_glyph_positions(context.get(), FALSE);
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  pango_cairo_context_set_font_options(context.get(), options);
  cairo_font_options_destroy(options);
  return context;
}

/// Pango measures nonsense without any font. Success is cached, failure is not.
void require_fonts() {
  static const bool there = [] {
    const ContextPointer context = make_context();
    const PangoLayoutPointer layout(pango_layout_new(context.get()));
    pango_layout_set_text(layout.get(), "x", 1);
    if (pango_layout_get_unknown_glyphs_count(layout.get()) > 0) {
      fail(ErrorKind::kNotFound,
           "no font with Latin letters is installed: install one for pictures, such as Debian's "
           "fonts-dejavu-core");
    }
    return true;
  }();
  HEED_CHECK(there);
}

}  // namespace

PangoLayoutPointer make_text_layout(const Text& text, const std::string& font) {
  require_fonts();
  const ContextPointer context = make_context();
  PangoLayoutPointer layout(pango_layout_new(context.get()));
  PangoFontDescription* description = pango_font_description_from_string(font.c_str());
  pango_font_description_set_size(description, static_cast<gint>(text.size * PANGO_SCALE));
  if (text.bold) pango_font_description_set_weight(description, PANGO_WEIGHT_SEMIBOLD);
  pango_layout_set_font_description(layout.get(), description);
  pango_font_description_free(description);

  const Label& label = text.label;
  pango_layout_set_text(layout.get(), label.text.data(), static_cast<int>(label.text.size()));
  PangoAttrList* attributes = pango_attr_list_new();
  if (label.faint_prefix > 0) add_faint(attributes, 0, label.faint_prefix);
  if (label.faint_suffix > 0)
    add_faint(attributes, label.text.size() - label.faint_suffix, label.text.size());
  pango_layout_set_attributes(layout.get(), attributes);
  pango_attr_list_unref(attributes);

  pango_layout_set_single_paragraph_mode(layout.get(), text.lines == 1 ? TRUE : FALSE);
  int width = 0, height = 0;
  pango_layout_get_size(layout.get(), &width, &height);
  if (text.max_width > 0 && width > text.max_width * PANGO_SCALE) {
    pango_layout_set_width(layout.get(), static_cast<int>(text.max_width * PANGO_SCALE));
    pango_layout_set_height(layout.get(), -text.lines);
    pango_layout_set_wrap(layout.get(), PANGO_WRAP_WORD_CHAR);
    pango_layout_set_ellipsize(layout.get(), PANGO_ELLIPSIZE_END);
    // "Right" is where lines end, which for text from right to left is the left edge: there all text begins
    // here.
    const bool leftward = pango_layout_get_direction(layout.get(), 0) == PANGO_DIRECTION_RTL;
    pango_layout_set_alignment(layout.get(), leftward ? PANGO_ALIGN_RIGHT : PANGO_ALIGN_LEFT);
  }
  return layout;
}

double alignment_offset(PangoLayout* layout, Align align) {
  PangoRectangle logical;
  pango_layout_get_extents(layout, nullptr, &logical);
  const double share = align == Align::kStart ? 0 : align == Align::kMiddle ? 0.5 : 1;
  return (logical.x + share * logical.width) / PANGO_SCALE;
}

}  // namespace heed
