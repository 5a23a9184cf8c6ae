#include "serve/routes/page_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "base/files/directory_listing.h"
#include "base/files/file.h"
#include "inspect/explorer/explorer_page.h"
#include "inspect/explorer/web_files.h"
#include "text/unicode/whitespace.h"

namespace heed::serve {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const std::map<std::string, std::string>& content_types() {
  static const std::map<std::string, std::string> types{{".html", "text/html; charset=utf-8"},
                                                        {".js", "text/javascript; charset=utf-8"},
                                                        {".mjs", "text/javascript; charset=utf-8"},
                                                        {".css", "text/css; charset=utf-8"},
                                                        {".json", "application/json"},
                                                        {".svg", "image/svg+xml"},
                                                        {".png", "image/png"},
                                                        {".ico", "image/x-icon"},
                                                        {".woff2", "font/woff2"},
                                                        {".txt", "text/plain; charset=utf-8"}};
  return types;
}

/// FNV-1a: an ETag must detect changes, not resist attacks.
uint64_t hash_of(std::string_view content) {
  uint64_t hash = 14695981039346656037ULL;
  for (const char c : content) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

/// Whether an If-None-Match names the tag, by weak comparison (RFC 9110, section 13.1.2). The tags here have
/// no commas.
bool names_tag(std::string_view list, std::string_view tag) {
  while (!list.empty()) {
    std::string_view each = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), each.size() + 1));
    each = strip(each);
    if (each.starts_with("W/")) each.remove_prefix(2);
    if (each == tag || each == "*") return true;
  }
  return false;
}

}  // namespace

WebFiles::WebFiles(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) fail(ErrorKind::kFile, "'{}' is no folder (--web)", folder);
  add_folder(folder, "/");
}

void WebFiles::add_folder(const std::string& folder, const std::string& prefix) {
  constexpr uintmax_t kLargest = 16 << 20;
  std::error_code error;
  for (const std::string& name : names_in(folder, error)) {
    const fs::path path = fs::path(folder) / name;
    const fs::file_type kind = fs::symlink_status(path, error).type();
    if (name.starts_with('.')) continue;
    if (kind == fs::file_type::directory) add_folder(path, prefix + name + "/");
    const auto type = content_types().find(path.extension().string());
    if (kind != fs::file_type::regular || type == content_types().end()) continue;
    if (fs::file_size(path, error) <= kLargest) add(prefix + name, type->second, read_file(path));
  }
}

WebFiles::WebFiles() {
  // Browsers fetch some fifty modules a few at a time, which took half of the time to the first view.
  constexpr std::string_view kMain = "main.js";
  for (const WebFile& file : web_files()) {
    if (file.path.ends_with(".js") && file.path != kMain) continue;
    add("/" + std::string(file.path), std::string(file.type),
        file.path == kMain ? bundle_modules(std::string(kMain)) : std::string(file.content));
  }
}

void WebFiles::add(const std::string& path, const std::string& type, std::string content) {
  HttpResponse file{.status = 200, .content_type = type, .body = std::move(content)};
  file.headers = {{"Content-Security-Policy", kPolicy},
                  {"Cache-Control", "no-cache"},
                  {"ETag", fmt::format("\"{:016x}\"", hash_of(file.body))}};
  files_[path] = std::move(file);
}

const HttpResponse* WebFiles::find(const std::string& path) const {
  const auto found = files_.find(path == "/" ? "/index.html" : path);
  return found == files_.end() ? nullptr : &found->second;
}

HttpResponse file_response(const HttpRequest& request, const HttpResponse& file) {
  const std::string_view known = request.header("if-none-match");
  for (const auto& [name, value] : file.headers) {
    if (name == "ETag" && names_tag(known, value)) {
      return {.status = 304, .content_type = file.content_type, .body = {}, .headers = file.headers};
    }
  }
  return file;
}

}  // namespace heed::serve
