#include "inspect/attribution/gradient.h"

#include <algorithm>
#include <numeric>

#include "inspect/attribution/quadrature.h"

namespace heed {
namespace {

/// The products of a prediction, token by token, as TokenAttribution::values.
TokenAttribution attribution_of(const Explained& explained, const std::vector<double>& products) {
  const auto middle = products.begin() + static_cast<std::ptrdiff_t>(explained.source_ids.size());
  TokenAttribution found;
  found.values = attribution_values(explained, {products.begin(), middle}, {middle, products.end()});
  found.sum = std::accumulate(found.values.begin(), found.values.end(), 0.0);
  return found;
}

/// Positions of the path of one prediction that make a batch, and what was found there.
struct Batch {
  size_t prediction = 0;
  std::vector<double> positions{};
  std::vector<std::vector<double>> products{};
};

/// A batch has about this many tokens: enough for the matrix products to be fast, and few enough for several
/// threads to have work and for the activations to stay in the cache.
constexpr size_t kBatchTokens = 128;

/// The number of copies of a sequence in a batch.
size_t batch_size(const std::vector<int32_t>& source_ids, const std::vector<int32_t>& decoder_ids) {
  const size_t tokens = source_ids.size() + decoder_ids.size();
  return std::max<size_t>(1, kBatchTokens / tokens);
}

/// f of all chosen predictions at path_samples(), prediction by prediction.
std::vector<std::vector<double>> sampled_values(const EmbeddingPath& path, const Reading& reading,
                                                const IntegratedOptions& options, ThreadPool& pool) {
  const std::vector<double> positions = path_samples();
  const size_t size = batch_size(reading.source_ids, reading.decoder_ids),
               batches = (positions.size() + size - 1) / size;
  std::vector<std::vector<double>> samples(options.chosen.size(), std::vector<double>(positions.size()));
  pool.run(batches, [&](size_t batch) {
    const size_t begin = batch * size, end = std::min(begin + size, positions.size());
    const std::vector<double> some(positions.begin() + static_cast<std::ptrdiff_t>(begin),
                                   positions.begin() + static_cast<std::ptrdiff_t>(end));
    const auto values = path.values(some, options.chosen, options.other);
    for (size_t n = begin; n < end; ++n) {
      for (size_t p = 0; p < samples.size(); ++p) samples[p][n] = values[n - begin][p];
    }
  });
  return samples;
}

/// What the quadratures want next.
std::vector<Batch> wanted_batches(const std::vector<Explained>& all,
                                  const std::vector<PathQuadrature>& quadratures) {
  std::vector<Batch> batches;
  for (size_t n = 0; n < all.size(); ++n) {
    const std::vector<double> positions = quadratures[n].wanted();
    const size_t size = batch_size(all[n].source_ids, all[n].decoder_ids);
    for (size_t begin = 0; begin < positions.size(); begin += size) {
      const size_t end = std::min(begin + size, positions.size());
      batches.push_back({n,
                         {positions.begin() + static_cast<std::ptrdiff_t>(begin),
                          positions.begin() + static_cast<std::ptrdiff_t>(end)}});
    }
  }
  return batches;
}

}  // namespace

TokenAttribution gradient_times_input(const DifferentiableModel& model, const Explained& explained) {
  const GradientAtText gradient = gradient_at_text(model, explained);
  TokenAttribution found = attribution_of(explained, gradient.products);
  found.log_probability = gradient.value;
  found.evaluations = 1;
  return found;
}

std::vector<TokenAttribution> integrated_gradients(const DifferentiableModel& model, const Reading& reading,
                                                   const IntegratedOptions& options, ThreadPool& pool) {
  std::vector<Explained> all;
  for (const size_t n : options.chosen) all.push_back(explained_token(reading, n, options.other));
  const EmbeddingPath path(model, reading, options.baseline);
  const auto samples = sampled_values(path, reading, options, pool);
  std::vector<PathQuadrature> quadratures;
  for (const std::vector<double>& each : samples) quadratures.emplace_back(each, options.tolerance);
  for (;;) {
    std::vector<Batch> batches = wanted_batches(all, quadratures);
    if (batches.empty()) break;
    pool.run(batches.size(), [&](size_t n) {
      batches[n].products = path.derivatives(batches[n].positions, all[batches[n].prediction]);
    });
    for (size_t n = 0; n < batches.size();) {
      const size_t prediction = batches[n].prediction;
      std::vector<std::vector<double>> products;
      for (; n < batches.size() && batches[n].prediction == prediction; ++n) {
        std::ranges::move(batches[n].products, std::back_inserter(products));
      }
      quadratures[prediction].add(std::move(products));
    }
  }
  std::vector<TokenAttribution> found;
  for (size_t n = 0; n < all.size(); ++n) {
    found.push_back(attribution_of(all[n], quadratures[n].values()));
    found.back().log_probability = samples[n].back();
    found.back().difference = quadratures[n].change();
    found.back().evaluations = quadratures[n].evaluations();
  }
  return found;
}

}  // namespace heed
