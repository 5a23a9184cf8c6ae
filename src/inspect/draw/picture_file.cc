#include "inspect/draw/picture_file.h"

#include <filesystem>

#include "base/check.h"
#include "base/files/file.h"
#include "base/text/ascii.h"
#include "inspect/draw/picture_backend.h"

namespace heed {

PictureFormat picture_format(const std::string& path, std::string_view others) {
  const std::string extension = ascii_lower(std::filesystem::path(path).extension().string());
  if (extension == ".png") return PictureFormat::kPng;
  if (extension == ".svg") return PictureFormat::kSvg;
  if (extension == ".pdf") return PictureFormat::kPdf;
  fail(ErrorKind::kUsage, "cannot draw '{}': the name must end in {}.png, .svg or .pdf", path, others);
}

std::string render_picture(const Picture& picture, PictureFormat format) {
  HEED_CHECK(picture.width > 0 && picture.height > 0);
  return picture_backend().render(picture, format);
}

void save_picture(const Picture& picture, const std::string& path) {
  write_file(path, render_picture(picture, picture_format(path)));
}

}  // namespace heed
