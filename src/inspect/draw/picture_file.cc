#include "inspect/draw/picture_file.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/check.h"
#include "base/files/file.h"
#include "inspect/draw/picture_backend.h"

namespace heed {

PictureFormat picture_format(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (extension == ".png") return PictureFormat::kPng;
  if (extension == ".svg") return PictureFormat::kSvg;
  if (extension == ".pdf") return PictureFormat::kPdf;
  fail(ErrorKind::kUsage, "cannot draw '{}': the name must end in .png, .svg or .pdf", path);
}

std::string render_picture(const Picture& picture, PictureFormat format) {
  HEED_CHECK(picture.width > 0 && picture.height > 0);
  return picture_backend().render(picture, format);
}

void save_picture(const Picture& picture, const std::string& path) {
  write_file(path, render_picture(picture, picture_format(path)));
}

}  // namespace heed
