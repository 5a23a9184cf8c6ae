// Colours for weights from 0 to 1, in which equal steps of weight look equally large.
//
// The map is ColorBrewer's nine "Blues" (Cynthia Brewer, colorbrewer2.org), led in by the white of the paper,
// and run through at constant speed: the path between the published colours is measured in CIE L*a*b* (D65),
// where distance is what the eye sees, and the weight is the share of the path. One hue that only darkens:
// safe for the colour-blind, sparing with ink, and the same picture in grey.
#pragma once

#include <array>

namespace heed {

/// Red, green and blue from 0 to 1, in sRGB.
struct Colour {
  double red = 0, green = 0, blue = 0;
  static Colour from_hex(unsigned rgb);
  bool operator==(const Colour&) const = default;
};

/// The map is drawn in so many steps, so that cells of one colour can be drawn together; one step is
/// invisible.
inline constexpr int kColourLevels = 256;

/// The level of a value; what lies outside 0 to 1 has the colour of the nearer end.
int colour_level(double value);
Colour level_colour(int level);

/// Lightness from 0 (black) to 100, and the two colour axes of CIE L*a*b*.
std::array<double, 3> to_lab(Colour colour);

/// Black or white, whichever can be read on this colour.
Colour ink_on(Colour background);

}  // namespace heed
