// The interface to Cairo and Pango, which measure text and draw pictures and depend on some thirty libraries.
// They are in a separate library (src/pictures) that is loaded with the first picture, so that programs
// without pictures neither load nor need them.
#pragma once

#include <string>

#include "inspect/draw/picture.h"
#include "inspect/draw/picture_file.h"

namespace heed {

struct MeasuredText {
  Box ink;           ///< relative to the point of alignment, for horizontal text
  double width = 0;  ///< the advance width
  bool elided = false;
};

class PictureBackend {
 public:
  virtual ~PictureBackend() = default;
  /// Throws kNotFound if no font is installed.
  virtual MeasuredText measure(const Text& text, const std::string& font) const = 0;
  /// As render_picture().
  virtual std::string render(const Picture& picture, PictureFormat format) const = 0;
};

/// Loads the library at the first call. Throws kNotFound if it is not installed or has another version.
const PictureBackend& picture_backend();

/// The function that the library exports; null for another version of Heed.
using PictureBackendFunction = const PictureBackend*(const char* version);
constexpr const char* kPictureBackendFunction = "heed_picture_backend";

}  // namespace heed
