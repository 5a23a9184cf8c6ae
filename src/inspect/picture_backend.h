// What measures text and draws pictures: Cairo and Pango, which bring some thirty libraries with them. They
// are linked to a library of their own (src/pictures), which is loaded when the first picture is made, so
// that a program that makes none neither loads nor needs them.
#pragma once

#include <string>

#include "inspect/picture.h"
#include "inspect/picture_file.h"

namespace heed {

struct MeasuredText {
  Box ink;           ///< relative to the point of alignment, for text that is not turned
  double width = 0;  ///< by which the next text would be moved
  bool elided = false;
};

class PictureBackend {
 public:
  virtual ~PictureBackend() = default;
  /// Throws kNotFound where no font is installed.
  virtual MeasuredText measure(const Text& text, const std::string& font) const = 0;
  /// As render_picture().
  virtual std::string render(const Picture& picture, PictureFormat format) const = 0;
};

/// Loads the library at the first call. Throws kNotFound where it is not installed, or is of another version.
const PictureBackend& picture_backend();

/// The function that the library exports, under this name: null for another version of Heed than its own.
using PictureBackendFunction = const PictureBackend*(const char* version);
constexpr const char* kPictureBackendFunction = "heed_picture_backend";

}  // namespace heed
