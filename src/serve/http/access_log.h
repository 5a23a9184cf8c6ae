// The access log: one JSON object per line, without texts, keys and queries.
#pragma once

#include <memory>
#include <string>

#include "serve/http/fields.h"
#include "serve/http/http_server.h"
#include "serve/http/log_writer.h"

namespace heed::serve {

class AccessLog {
 public:
  /// Appends to the file; "-" is standard output, "" disables the log. Throws kFile if it cannot be opened.
  explicit AccessLog(const std::string& path);

  /// Starts the thread that writes. Lines before it wait. Throws std::system_error if the system starts none.
  void start();
  void write(const HttpRecord& record, const std::string& route);
  /// Writes the texts of a request; only with --log-text.
  void write_text(const HttpRequest& request, const Fields& fields);
  /// Waits until everything is written, if that does not take too long.
  void flush();

 private:
  std::unique_ptr<LogWriter> writer_;  // null: no log
};

}  // namespace heed::serve
