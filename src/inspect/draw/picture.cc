#include "inspect/draw/picture.h"

#include <algorithm>
#include <utility>

#include "inspect/draw/picture_backend.h"

namespace heed {

Box Picture::add(Text text) {
  const MeasuredText measured = picture_backend().measure(text, font);
  const Box& ink = measured.ink;
  if (text.upward) {  // a quarter turn: along the text is up, below it is right
    text.bounds = {text.at.x + ink.top, text.at.y - ink.right(), ink.height, ink.width};
  } else {
    text.bounds = {text.at.x + ink.left, text.at.y + ink.top, ink.width, ink.height};
  }
  text.elided = measured.elided;
  const Box bounds = text.bounds;
  shapes.emplace_back(std::move(text));
  return bounds;
}

void Picture::outline(Box box, Colour colour, double line_width) {
  add(Polyline{{{box.left, box.top},
                {box.right(), box.top},
                {box.right(), box.bottom()},
                {box.left, box.bottom()},
                {box.left, box.top}},
               colour,
               line_width,
               {}});
}

void Picture::add_below(const Picture& other) {
  const auto lower = [down = height](Point& point) { point.y += down; };
  for (PictureShape shape : other.shapes) {
    if (auto* boxes = std::get_if<Boxes>(&shape)) {
      for (Box& box : boxes->boxes) box.top += height;
    } else if (auto* line = std::get_if<Polyline>(&shape)) {
      std::ranges::for_each(line->points, lower);
    } else if (auto* text = std::get_if<Text>(&shape)) {
      lower(text->at);
      text->bounds.top += height;
    }
    shapes.push_back(std::move(shape));
  }
  width = std::max(width, other.width);
  height += other.height;
}

std::vector<Text> Picture::texts() const {
  std::vector<Text> found;
  for (const PictureShape& shape : shapes) {
    if (const Text* text = std::get_if<Text>(&shape)) found.push_back(*text);
  }
  return found;
}

TextSize Picture::measure(const Text& text) const {
  const MeasuredText measured = picture_backend().measure(text, font);
  return {measured.width, std::max(0.0, -measured.ink.top), std::max(0.0, measured.ink.bottom()),
          measured.elided};
}

TextSize measure_labels(const Picture& picture, const std::vector<Label>& labels, const Text& style) {
  TextSize all;
  for (const Label& label : labels) {
    Text text = style;
    text.label = label;
    const TextSize size = picture.measure(text);
    all = {std::max(all.width, size.width), std::max(all.ascent, size.ascent),
           std::max(all.descent, size.descent), all.elided || size.elided};
  }
  return all;
}

}  // namespace heed
