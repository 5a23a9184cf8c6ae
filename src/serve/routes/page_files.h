// The files of the explorer page, in memory: the built-in ones, or those of a folder, read once. Requests
// cannot reach any other file.
#pragma once

#include <map>
#include <string>

#include "serve/http/http_message.h"

namespace heed::serve {

class WebFiles {
 public:
  /// The built-in files, with all modules in main.js.
  WebFiles();
  /// Reads all files with known extensions below the folder, except hidden files, links, and files above 16
  /// MB. Throws kFile if there is no such folder.
  explicit WebFiles(const std::string& folder);

  /// "/" is index.html. Null if there is no such file. With a strict Content-Security-Policy: no external
  /// resources, no inline scripts.
  const HttpResponse* find(const std::string& path) const;
  size_t size() const { return files_.size(); }

 private:
  void add_folder(const std::string& folder, const std::string& prefix);
  void add(const std::string& path, const std::string& type, std::string content);
  std::map<std::string, HttpResponse> files_;  // by path
};

/// 304 if the client's ETag matches, otherwise the file.
HttpResponse file_response(const HttpRequest& request, const HttpResponse& file);

}  // namespace heed::serve
