#include "inspect/draw/elements/colour_map.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace heed {
namespace {

constexpr std::array<unsigned, 10> kPublished{0xffffff, 0xf7fbff, 0xdeebf7, 0xc6dbef, 0x9ecae1,
                                              0x6baed6, 0x4292c6, 0x2171b5, 0x08519c, 0x08306b};

/// sRGB to the amount of light (IEC 61966-2-1).
double to_linear(double value) {
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

Colour mix(Colour from, Colour to, double share) {
  return {std::lerp(from.red, to.red, share), std::lerp(from.green, to.green, share),
          std::lerp(from.blue, to.blue, share)};
}

double distance(Colour one, Colour other) {
  const auto a = to_lab(one), b = to_lab(other);
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

using Table = std::array<Colour, kColourLevels>;

/// Samples the piecewise linear path through the published colours at equal distances.
Table make_table() {
  constexpr int kStepsPerPiece = 200;  // many more than the levels between two published colours
  std::vector<Colour> path;
  for (size_t n = 0; n + 1 < kPublished.size(); ++n) {
    for (int step = 0; step < kStepsPerPiece; ++step) {
      path.push_back(mix(Colour::from_hex(kPublished[n]), Colour::from_hex(kPublished[n + 1]),
                         static_cast<double>(step) / kStepsPerPiece));
    }
  }
  path.push_back(Colour::from_hex(kPublished.back()));
  std::vector<double> travelled{0};
  for (size_t n = 1; n < path.size(); ++n)
    travelled.push_back(travelled.back() + distance(path[n - 1], path[n]));
  Table table;
  size_t next = 0;
  for (int level = 0; level < kColourLevels; ++level) {
    const double wanted = travelled.back() * level / (kColourLevels - 1);
    while (next + 1 < path.size() && travelled[next] < wanted) ++next;
    table[level] = path[next];
  }
  return table;
}

}  // namespace

Colour Colour::from_hex(unsigned rgb) {
  return {(rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0};
}

int colour_level(double value) {
  return static_cast<int>(std::lround(std::clamp(value, 0.0, 1.0) * (kColourLevels - 1)));
}

Colour level_colour(int level) {
  static const Table table = make_table();
  return table[std::clamp(level, 0, kColourLevels - 1)];
}

std::array<double, 3> to_lab(Colour colour) {
  const double red = to_linear(colour.red), green = to_linear(colour.green), blue = to_linear(colour.blue);
  // To CIE XYZ relative to the white of D65, then CIE 15:2004, section 8.2.1.
  const double x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047;
  const double y = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  const double z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883;
  const auto f = [](double t) { return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116; };
  return {116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))};
}

Colour ink_on(Colour background) {
  // Where black and white contrast equally, 4.6 to 1: luminance sqrt(1.05 * 0.05) - 0.05 (WCAG 2.1's
  // formula).
  return to_lab(background)[0] > 49.4 ? Colour{0, 0, 0} : Colour{1, 1, 1};
}

}  // namespace heed
