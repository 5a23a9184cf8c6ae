// A perceptually uniform colour map for weights from 0 to 1.
//
// ColorBrewer's nine "Blues" (Cynthia Brewer, colorbrewer2.org), preceded by white, interpolated with
// constant speed in CIE L*a*b* (D65). A single hue of decreasing lightness: colour-blind-safe, and readable
// in greyscale.
#pragma once

#include <array>

namespace heed {

/// Red, green and blue from 0 to 1, in sRGB.
struct Colour {
  double red = 0, green = 0, blue = 0;
  static Colour from_hex(unsigned rgb);
  bool operator==(const Colour&) const = default;
};

/// Number of discrete levels, so that cells of one colour can be drawn together; one level is not visible.
inline constexpr int kColourLevels = 256;

/// The level of a value, clamped to 0 to 1.
int colour_level(double value);
Colour level_colour(int level);

/// Lightness from 0 (black) to 100, and the two colour axes of CIE L*a*b*.
std::array<double, 3> to_lab(Colour colour);

/// Black or white, whichever can be read on this colour.
Colour ink_on(Colour background);

}  // namespace heed
