// Counters and histograms in Prometheus text format.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace heed::serve {

/// A Prometheus histogram: numbers of values up to each bound.
class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}
  void add(double value);
  /// The lines of the histogram; `labels` such as route="/translate" may be empty.
  std::string text(const std::string& name, const std::string& labels) const;

 private:
  std::vector<double> bounds_;
  std::vector<uint64_t> counts_;
  double sum_ = 0;
};

/// Thread-safe.
class Metrics {
 public:
  void add_request(const std::string& route, int status, double seconds);
  void add_step(size_t rows);
  void add_sentence(size_t source_tokens, size_t target_tokens);
  void add_rejected(const std::string& reason);

  /// Current values, for text().
  struct Gauges {
    size_t connections = 0, running = 0, queued = 0, waiting_sentences = 0, models = 0;
  };
  std::string text(const Gauges& gauges) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, uint64_t> requests_;
  std::map<std::string, Histogram> seconds_;
  std::map<std::string, uint64_t> rejected_;
  Histogram rows_{{1, 2, 4, 8, 16, 32, 48, 64, 128}};
  uint64_t sentences_ = 0, source_tokens_ = 0, target_tokens_ = 0;
};

}  // namespace heed::serve
