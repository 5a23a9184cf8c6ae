#include "train/store/metrics_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "base/check.h"
#include "base/files/descriptor_io.h"
#include "base/files/errno_reason.h"
#include "base/files/file.h"
#include "base/log.h"
#include "base/text/json_file.h"

namespace heed::train {
std::string to_line(const Metrics& m) {
  nlohmann::ordered_json json{{"step", m.step},
                              {"loss", m.loss},
                              {"learning_rate", m.learning_rate},
                              {"gradient_norm", m.gradient_norm},
                              {"target_tokens", m.target_tokens},
                              {"target_tokens_per_second", m.target_tokens_per_second},
                              {"seconds", m.seconds},
                              {"epochs", m.epochs}};
  // JSON has no numbers for what is not finite, such as the perplexity of a loss above 709.
  const auto add = [&](const std::string& key, double value) {
    if (std::isfinite(value)) json[key] = value;
  };
  if (m.valid_loss) add("valid_loss", *m.valid_loss);
  for (const Score& score : m.scores) add(score.name, score.value);
  if (m.best) json["best"] = true;
  return json.dump() + "\n";
}

Metrics metrics_of_line(const std::string& line, const std::string& origin) {
  const JsonObject json = JsonObject::parse(line, origin);
  Metrics m;
  m.step = json.integer("step");
  m.loss = json.number("loss");
  m.learning_rate = json.number("learning_rate");
  m.gradient_norm = json.number("gradient_norm", {}, 0.0);
  m.target_tokens = json.integer("target_tokens");
  m.target_tokens_per_second = json.number("target_tokens_per_second");
  m.seconds = json.number("seconds");
  m.epochs = json.number("epochs", {}, 0.0);
  m.best = json.boolean("best", false);
  static const std::set<std::string> fields{
      "step",    "loss",   "learning_rate", "gradient_norm", "target_tokens", "target_tokens_per_second",
      "seconds", "epochs", "valid_loss",    "best"};
  if (json.has("valid_loss")) m.valid_loss = json.number("valid_loss");
  for (const std::string& key : json.keys()) {  // earlier versions wrote null for what is not finite
    if (fields.count(key) == 0 && json.has(key)) m.scores.push_back({key, json.number(key)});
  }
  return m;
}

namespace {

/// Calls visit(line, metrics) for each valid line, and report(message) for invalid ones. Ignores an
/// incomplete last line.
template <class Visit, class Report>
void for_each_line(const std::string& path, std::string_view text, const Visit& visit, const Report& report) {
  size_t begin = 0, end = 0;
  for (int64_t number = 1; (end = text.find('\n', begin)) != std::string_view::npos; ++number) {
    const std::string line(text.substr(begin, end - begin));
    begin = end + 1;
    if (line.empty()) continue;
    try {
      visit(line, metrics_of_line(line, fmt::format("'{}', line {}", path, number)));
    } catch (const Error& error) {
      report(fmt::format("{}: left out", error.what()));
    }
  }
}

}  // namespace

std::vector<Metrics> read_metrics(const std::string& path) {
  std::vector<Metrics> all;
  const MappedFile file(path);
  for_each_line(
      path, file.view(), [&](const std::string&, const Metrics& metrics) { all.push_back(metrics); },
      [](const std::string& message) { log_warning("{}", message); });
  return all;
}

MetricsLog::MetricsLog(std::string path, int64_t resume_step,
                       const std::function<void(const std::string&)>& report)
    : path_(std::move(path)) {
  if (!std::filesystem::exists(path_)) return;
  const MappedFile before(path_);  // that of a long training may be larger than memory
  AtomicFile kept(path_);
  for_each_line(
      path_, before.view(),
      [&](const std::string& line, const Metrics& metrics) {
        if (metrics.step <= resume_step) kept.write(line + "\n");
      },
      [&](const std::string& message) {
        if (report) report(message);
      });
  if (kept.size() != before.size()) kept.commit();
}

void MetricsLog::append(const Metrics& metrics) {
  const std::string line = to_line(metrics);
  const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const bool written = file >= 0 && write_all(file, line.data(), line.size());
  const int number = errno;
  if (file >= 0) ::close(file);
  if (!written) fail(ErrorKind::kFile, "cannot write '{}': {}", path_, reason(number));
}

}  // namespace heed::train
