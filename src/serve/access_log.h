// The access log: one JSON object a line. It never holds texts, keys or queries.
#pragma once

#include <mutex>
#include <string>

#include "serve/fields.h"
#include "serve/http_server.h"

namespace heed::serve {

class AccessLog {
 public:
  /// Appends to the file; "-" is standard output, "" no log. Throws kFile where it cannot be opened.
  explicit AccessLog(const std::string& path);
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  void write(const HttpRecord& record, const std::string& route);
  /// The texts of a request; only where the operator asked for it (--log-text).
  void write_text(const HttpRequest& request, const Fields& fields);

 private:
  void write_line(const std::string& line);
  std::mutex mutex_;
  int file_ = -1;
  bool owned_ = false;
};

}  // namespace heed::serve
