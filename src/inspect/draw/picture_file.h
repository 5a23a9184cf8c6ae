// Renders pictures to PNG, SVG and PDF with Cairo.
#pragma once

#include <string>
#include <string_view>

#include "inspect/draw/picture.h"

namespace heed {

enum class PictureFormat { kPng, kSvg, kPdf };

/// The format for a path's extension. Throws kUsage for an unsupported extension; `others` are those that the
/// caller writes besides, for the message: ".json, ".
PictureFormat picture_format(const std::string& path, std::string_view others = "");

/// The content of the file, deterministic for the same picture, fonts and version of Cairo. A PNG has two
/// pixels per point, or fewer to stay below 64 million pixels. Throws kUsage if half a pixel per point would
/// still be too many.
std::string render_picture(const Picture& picture, PictureFormat format);

/// Writes the file atomically. Throws kUsage and kFile.
void save_picture(const Picture& picture, const std::string& path);

}  // namespace heed
