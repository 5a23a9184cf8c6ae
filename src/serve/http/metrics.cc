#include "serve/http/metrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace heed::serve {

void Histogram::add(double value) {
  const auto bound = std::lower_bound(bounds_.begin(), bounds_.end(), value);
  ++counts_[static_cast<size_t>(bound - bounds_.begin())];
  sum_ += value;
}

std::string Histogram::text(const std::string& name, const std::string& labels) const {
  std::string result;
  uint64_t total = 0;
  const std::string comma = labels.empty() ? "" : ",";
  for (size_t n = 0; n < counts_.size(); ++n) {
    total += counts_[n];
    const std::string bound = n < bounds_.size() ? fmt::format("{}", bounds_[n]) : "+Inf";
    result += fmt::format("{}_bucket{{{}{}le=\"{}\"}} {}\n", name, labels, comma, bound, total);
  }
  const std::string braces = labels.empty() ? "" : "{" + labels + "}";
  return result + fmt::format("{}_sum{} {}\n{}_count{} {}\n", name, braces, sum_, name, braces, total);
}

void Metrics::add_request(const std::string& route, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{route, status}];
  seconds_.try_emplace(route, Histogram({0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}))
      .first->second.add(seconds);
}

void Metrics::add_step(size_t rows) {
  const std::lock_guard lock(mutex_);
  rows_.add(static_cast<double>(rows));
}

void Metrics::add_sentence(size_t source_tokens, size_t target_tokens) {
  const std::lock_guard lock(mutex_);
  ++sentences_;
  source_tokens_ += source_tokens;
  target_tokens_ += target_tokens;
}

void Metrics::add_rejected(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  ++rejected_[reason];
}

std::string Metrics::text(const Gauges& gauges) const {
  const std::lock_guard lock(mutex_);
  std::string result;
  const auto open = [&](const char* name, const char* type, const char* help) {
    result += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  };
  const auto single = [&](const char* name, const char* type, const char* help, uint64_t value) {
    open(name, type, help);
    result += fmt::format("{} {}\n", name, value);
  };
  open("heed_requests_total", "counter", "Requests that were answered, by route and HTTP status.");
  for (const auto& [key, count] : requests_) {
    result +=
        fmt::format("heed_requests_total{{route=\"{}\",status=\"{}\"}} {}\n", key.first, key.second, count);
  }
  open("heed_request_seconds", "histogram",
       "Seconds from the first byte of a request to the end of its answer.");
  for (const auto& [route, histogram] : seconds_) {
    result += histogram.text("heed_request_seconds", fmt::format("route=\"{}\"", route));
  }
  open("heed_rejected_total", "counter", "Requests that were refused, by reason.");
  for (const auto& [reason, count] : rejected_) {
    result += fmt::format("heed_rejected_total{{reason=\"{}\"}} {}\n", reason, count);
  }
  open("heed_batch_rows", "histogram", "Hypotheses in each decoder step.");
  result += rows_.text("heed_batch_rows", "");
  single("heed_sentences_total", "counter", "Sentences and prompts that were decoded.", sentences_);
  single("heed_source_tokens_total", "counter", "Tokens of these that models read.", source_tokens_);
  single("heed_target_tokens_total", "counter", "Tokens of their best hypotheses.", target_tokens_);
  single("heed_connections", "gauge", "Open connections.", gauges.connections);
  single("heed_requests_running", "gauge", "Requests that are being worked on.", gauges.running);
  single("heed_requests_queued", "gauge", "Requests that wait in the queue.", gauges.queued);
  single("heed_sentences_waiting", "gauge", "Sentences that wait for a place in a batch.",
         gauges.waiting_sentences);
  single("heed_models", "gauge", "Models that are loaded.", gauges.models);
  return result;
}

}  // namespace heed::serve
