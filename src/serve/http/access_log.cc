#include "serve/http/access_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/files/errno_reason.h"
#include "text/unicode/utf8.h"

namespace heed::serve {
namespace {

using nlohmann::ordered_json;

/// The fields of all routes that hold texts.
constexpr const char* kTexts[] = {"q",      "text",    "prompt", "input",    "target", "other",
                                  "prefix", "require", "forbid", "glossary", "stop"};

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

std::string lost_line(size_t count) {
  return to_line({{"time", timestamp()}, {"lost_lines", count}});
}

/// Of a path without a route, which may contain anything: what lies before a field, since the field may be a
/// key, as in /translate%3Fapi_key=KEY.
std::string beginning(const std::string& path) {
  constexpr size_t kMaxPath = 200;
  return replace_invalid_utf8(path.substr(0, std::min(kMaxPath, path.find_first_of("?&;=%"))));
}

}  // namespace

AccessLog::AccessLog(const std::string& path) {
  if (path.empty()) return;
  LogWriter::Options options{.file = STDOUT_FILENO, .lost_line = lost_line};
  if (path != "-") {
    options.file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (options.file < 0) fail(ErrorKind::kFile, "cannot write the access log '{}': {}", path, reason(errno));
    options.owned = true;
  }
  writer_ = std::make_unique<LogWriter>(std::move(options));
}

void AccessLog::start() {
  if (writer_) writer_->start();
}

void AccessLog::flush() {
  if (writer_) writer_->flush();
}

void AccessLog::write(const HttpRecord& record, const std::string& route) {
  if (!writer_) return;
  const std::string path = route.empty() ? beginning(record.path) : route;
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
  writer_->write(to_line(json));
}

void AccessLog::write_text(const HttpRequest& request, const Fields& fields) {
  if (!writer_) return;
  ordered_json json{{"time", timestamp()}, {"id", request.id}, {"path", request.path}};
  for (const char* name : kTexts) {
    if (const auto* value = fields.find(name)) json[name] = *value;
  }
  writer_->write(to_line(json));
}

}  // namespace heed::serve
