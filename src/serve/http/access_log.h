// The access log: one JSON object per line, without texts, keys and queries.
#pragma once

#include <mutex>
#include <string>

#include "serve/http/fields.h"
#include "serve/http/http_server.h"

namespace heed::serve {

class AccessLog {
 public:
  /// Appends to the file; "-" is standard output, "" disables the log. Throws kFile if it cannot be opened.
  explicit AccessLog(const std::string& path);
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  void write(const HttpRecord& record, const std::string& route);
  /// Writes the texts of a request; only with --log-text.
  void write_text(const HttpRequest& request, const Fields& fields);

 private:
  void write_line(const std::string& line);
  std::mutex mutex_;
  int file_ = -1;
  bool owned_ = false;
  bool failing_ = false;
};

}  // namespace heed::serve
