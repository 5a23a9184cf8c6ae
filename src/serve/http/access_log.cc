#include "serve/http/access_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/files/descriptor_io.h"
#include "base/files/errno_reason.h"
#include "base/log.h"
#include "text/unicode/utf8.h"

namespace heed::serve {
namespace {

using nlohmann::ordered_json;

std::string timestamp() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const std::time_t seconds = milliseconds / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  const size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", std::string_view(text, length), milliseconds % 1000);
}

std::string to_line(const ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

AccessLog::AccessLog(const std::string& path) {
  if (path.empty()) return;
  if (path == "-") {
    file_ = STDOUT_FILENO;
    return;
  }
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file_ < 0) fail(ErrorKind::kFile, "cannot write the access log '{}': {}", path, reason(errno));
  owned_ = true;
}

AccessLog::~AccessLog() {
  if (owned_) ::close(file_);
}

/// One write per line, so that lines are not interleaved. Errors must not stop the server: the first of
/// several in a row is a warning.
void AccessLog::write_line(const std::string& line) {
  const std::lock_guard lock(mutex_);
  const bool failed = !write_all(file_, line.data(), line.size());
  if (failed && !failing_) log_warning("the access log lacks lines: {}", reason(errno));
  failing_ = failed;
}

void AccessLog::write(const HttpRecord& record, const std::string& route) {
  if (file_ < 0) return;
  constexpr size_t kMaxPath = 200;
  // Unknown paths may contain anything, such as a key.
  const std::string path = route.empty() ? replace_invalid_utf8(record.path.substr(0, kMaxPath)) : route;
  ordered_json json{{"time", timestamp()},
                    {"id", record.id},
                    {"address", record.address},
                    {"method", record.method},
                    {"path", path},
                    {"status", record.status},
                    {"seconds", record.seconds},
                    {"bytes_in", record.bytes_in},
                    {"bytes_out", record.bytes_out}};
  if (record.gone) json["gone"] = true;
  write_line(to_line(json));
}

void AccessLog::write_text(const HttpRequest& request, const Fields& fields) {
  if (file_ < 0) return;
  ordered_json json{{"time", timestamp()}, {"id", request.id}, {"path", request.path}};
  for (const char* name : {"q", "text", "prompt", "target", "prefix"}) {
    if (const auto* value = fields.find(name)) json[name] = *value;
  }
  write_line(to_line(json));
}

}  // namespace heed::serve
