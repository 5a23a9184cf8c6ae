// Pictures as files: PNG, SVG and PDF from one drawing code (Cairo).
#pragma once

#include <string>

#include "inspect/picture.h"

namespace heed {

enum class PictureFormat { kPng, kSvg, kPdf };

/// The format that a path's extension names. Throws kUsage for any other, naming those there are.
PictureFormat picture_format(const std::string& path);

/// The bytes of the file: the same for the same picture, fonts and version of Cairo. A PNG has two pixels per
/// point, fewer where it would pass 64 million pixels. Throws kUsage where even one pixel per two points
/// would be too many.
std::string render_picture(const Picture& picture, PictureFormat format);

/// Writes it whole or not at all. Throws kUsage and kFile.
void save_picture(const Picture& picture, const std::string& path);

}  // namespace heed
