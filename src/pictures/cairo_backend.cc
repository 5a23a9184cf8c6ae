// Pictures drawn by Cairo, their text by Pango.
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <pango/pangocairo.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "heed/version.h"
#include "inspect/draw/picture_backend.h"
#include "pictures/text_layout.h"

namespace heed {
namespace {

constexpr double kPixelsPerPoint = 2, kMinPixelsPerPoint = 0.5;
constexpr double kMaxPixels = 64e6;  // 256 MB while drawing
constexpr double kMaxSide = 32767;   // of an image in Cairo
/// Enlargement of adjoining boxes in vector files, in points: invisible, but covers seams.
constexpr double kOverlap = 0.15;

struct SurfaceDestroy {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
struct ContextDestroy {
  void operator()(cairo_t* context) const { cairo_destroy(context); }
};
using SurfacePointer = std::unique_ptr<cairo_surface_t, SurfaceDestroy>;
using ContextPointer = std::unique_ptr<cairo_t, ContextDestroy>;

cairo_status_t append_bytes(void* closure, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

void check_status(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS) {
    fail(ErrorKind::kFile, "cannot draw the picture: {}", cairo_status_to_string(status));
  }
}

double pixels_per_point(const Picture& picture) {
  const double longest = std::max(picture.width, picture.height);
  const double scale = std::min(
      {kPixelsPerPoint, kMaxSide / longest, std::sqrt(kMaxPixels / (picture.width * picture.height))});
  if (!(scale >= kMinPixelsPerPoint)) {
    fail(ErrorKind::kUsage,
         "a picture of {:.0f} x {:.0f} points is too large for a PNG: choose fewer layers or heads, or SVG "
         "or PDF",
         picture.width, picture.height);
  }
  return scale;
}

void set_colour(cairo_t* context, Colour colour) {
  cairo_set_source_rgb(context, colour.red, colour.green, colour.blue);
}

void draw(cairo_t* context, const Boxes& boxes, bool vector) {
  const double grow = vector && boxes.adjoining ? kOverlap : 0;
  // Half-covered pixels of two neighbours would show the background between them.
  if (!vector && boxes.adjoining) cairo_set_antialias(context, CAIRO_ANTIALIAS_NONE);
  for (const Box& box : boxes.boxes) {
    cairo_rectangle(context, box.left, box.top, box.width + grow, box.height + grow);
  }
  set_colour(context, boxes.fill);
  cairo_fill(context);
  cairo_set_antialias(context, CAIRO_ANTIALIAS_DEFAULT);
}

void draw(cairo_t* context, const Polyline& line, bool) {
  cairo_new_path(context);  // text leaves a current point
  for (const Point& point : line.points) cairo_line_to(context, point.x, point.y);
  set_colour(context, line.colour);
  cairo_set_line_width(context, line.width);
  cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND);
  cairo_set_dash(context, line.dashes.data(), static_cast<int>(line.dashes.size()), 0);
  cairo_stroke(context);
}

void draw_text(cairo_t* context, const Text& text, const std::string& font) {
  const PangoLayoutPointer layout = make_text_layout(text, font);
  cairo_save(context);
  cairo_translate(context, text.at.x, text.at.y);
  if (text.upward) cairo_rotate(context, -std::acos(0.0));
  const double baseline = static_cast<double>(pango_layout_get_baseline(layout.get())) / PANGO_SCALE;
  cairo_move_to(context, -alignment_offset(layout.get(), text.align), -baseline);
  set_colour(context, text.colour);
  pango_cairo_show_layout(context, layout.get());
  cairo_restore(context);
}

void draw_picture(cairo_surface_t* surface, const Picture& picture, double scale, bool vector) {
  const ContextPointer context(cairo_create(surface));
  cairo_scale(context.get(), scale, scale);
  set_colour(context.get(), picture.background);
  cairo_paint(context.get());
  for (const PictureShape& shape : picture.shapes) {
    if (const Boxes* boxes = std::get_if<Boxes>(&shape)) draw(context.get(), *boxes, vector);
    if (const Polyline* line = std::get_if<Polyline>(&shape)) draw(context.get(), *line, vector);
    if (const Text* text = std::get_if<Text>(&shape)) draw_text(context.get(), *text, picture.font);
  }
  cairo_show_page(context.get());
  check_status(cairo_status(context.get()));
}

std::string escape_xml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {  // "]]>" is not allowed in text
      escaped += "&gt;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

/// Cairo draws text as outlines; the title keeps it readable for programs and screen readers. Also removes
/// Cairo's process-wide surface number, for deterministic output.
std::string finish_svg(std::string svg, const Picture& picture) {
  const size_t root = svg.find("<svg ");
  const size_t inside = svg.find('>', root) + 1;
  svg.insert(inside, "\n<title>" + escape_xml(picture.title) + "</title>");
  if (const size_t id = svg.find("<g id=\"surface"); id != std::string::npos) {
    const size_t begin = id + std::string_view("<g id=\"").size();
    svg.replace(begin, svg.find('"', begin) - begin, "picture");
  }
  return svg;
}

std::string render_png(const Picture& picture) {
  const double scale = pixels_per_point(picture);
  // Rounding errors may put the longest side just above the limit.
  const auto pixels = [scale](double points) {
    return static_cast<int>(std::min(kMaxSide, std::ceil(points * scale)));
  };
  const SurfacePointer surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, pixels(picture.width), pixels(picture.height)));
  check_status(cairo_surface_status(surface.get()));
  draw_picture(surface.get(), picture, scale, false);
  std::string bytes;
  check_status(cairo_surface_write_to_png_stream(surface.get(), append_bytes, &bytes));
  return bytes;
}

std::string render_vector(const Picture& picture, PictureFormat format) {
  std::string bytes;
  const bool svg = format == PictureFormat::kSvg;
  const auto create = svg ? cairo_svg_surface_create_for_stream : cairo_pdf_surface_create_for_stream;
  const SurfacePointer surface(create(append_bytes, &bytes, picture.width, picture.height));
  check_status(cairo_surface_status(surface.get()));
  if (!svg) {
    cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE, picture.title.c_str());
    cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE,
                                   "");  // deterministic output
  }
  draw_picture(surface.get(), picture, 1, true);
  cairo_surface_finish(surface.get());
  check_status(cairo_surface_status(surface.get()));
  return svg ? finish_svg(std::move(bytes), picture) : bytes;
}

/// The ink of a layout relative to its left edge and first baseline; x and y in points.
Box ink_of(PangoLayout* layout) {
  PangoRectangle ink;
  pango_layout_get_extents(layout, &ink, nullptr);
  const double baseline = pango_layout_get_baseline(layout);
  return {static_cast<double>(ink.x) / PANGO_SCALE, (ink.y - baseline) / PANGO_SCALE,
          static_cast<double>(ink.width) / PANGO_SCALE, static_cast<double>(ink.height) / PANGO_SCALE};
}

class CairoBackend : public PictureBackend {
 public:
  MeasuredText measure(const Text& text, const std::string& font) const override {
    const PangoLayoutPointer layout = make_text_layout(text, font);
    Box ink = ink_of(layout.get());
    ink.left -= alignment_offset(layout.get(), text.align);
    PangoRectangle logical;
    pango_layout_get_extents(layout.get(), nullptr, &logical);
    return {ink, static_cast<double>(logical.width) / PANGO_SCALE,
            pango_layout_is_ellipsized(layout.get()) != FALSE};
  }
  std::string render(const Picture& picture, PictureFormat format) const override {
    return format == PictureFormat::kPng ? render_png(picture) : render_vector(picture, format);
  }
};

}  // namespace
}  // namespace heed

extern "C" const heed::PictureBackend* heed_picture_backend(const char* version) {
  static const heed::CairoBackend backend;
  return std::string_view(version) == HEED_VERSION ? &backend : nullptr;
}
