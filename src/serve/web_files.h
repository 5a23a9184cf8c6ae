// The files of the explorer page, in memory: those that were compiled in, or those of a folder, read once. No
// request can reach any other file.
#pragma once

#include <map>
#include <string>

#include "serve/http_message.h"

namespace heed::serve {

class WebFiles {
 public:
  /// The files that were compiled in.
  WebFiles();
  /// Reads all files below the folder whose extension is known; hidden ones, links and files above 16 MB are
  /// left out. A missing folder has none.
  explicit WebFiles(const std::string& folder);

  /// "/" is index.html. Null if there is no such file. With a strict Content-Security-Policy: nothing from
  /// elsewhere, no inline scripts.
  const HttpResponse* find(const std::string& path) const;
  size_t size() const { return files_.size(); }

 private:
  void add(const std::string& path, const std::string& type, std::string content);
  std::map<std::string, HttpResponse> files_;  // by path
};

/// The answer for a client that may have the file already.
HttpResponse file_response(const HttpRequest& request, const HttpResponse& file);

}  // namespace heed::serve
