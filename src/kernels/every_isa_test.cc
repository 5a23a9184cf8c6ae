// Every kernel on every instruction set that this processor has, against the generic one.
//
// A kernel does the same additions in another order, with fused or separate multiplication, and its own exp.
// For a sum of n terms of size 1, orders differ by at most 2 n epsilon; the other steps add some more. So
// results of size s may differ by 8 (n + 8) epsilon max(s, 1). Dropout masks must be equal to the last bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "heed/error.h"
#include "kernels/attention/attention.h"
#include "kernels/pointwise/adam.h"
#include "kernels/pointwise/dropout.h"
#include "kernels/pointwise/elementwise.h"
#include "kernels/recurrent/additive_attention.h"
#include "kernels/recurrent/recurrent_cell.h"
#include "kernels/reduction/batch_norm.h"
#include "kernels/reduction/layer_norm.h"
#include "kernels/reduction/rms_norm.h"
#include "kernels/reduction/softmax.h"
#include "kernels/simd/isa.h"
#include "paths.h"

namespace heed {
namespace {

// Around the lengths of vectors and of two vectors of every instruction set, float and double.
const std::vector<int64_t> kRowSizes{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 127, 130};
constexpr int64_t kTestRows = 3;

/// Numbers behind each array that no kernel may touch.
constexpr int64_t kGuards = 20;
constexpr double kGuard = 12345;

/// What a kernel gave, and how many terms its largest sum had.
template <typename T>
struct Results {
  std::vector<T> values;
  int64_t terms = 0;
};

/// Runs all kernels; the results by kernel's name.
template <typename T>
class AllKernels {
 public:
  std::map<std::string, Results<T>> run() {
    for (const int64_t size : kRowSizes) {
      elementwise(size);
      rows(size);
      if (size > 0) other_norms(size);
      if (size > 0) softmaxes(size);
      optimizer(size);
      for (const bool causal : {false, true}) {
        for (const double probability : {0.0, 0.3}) attend(size, 5, 9, causal, probability);
      }
      for (const RecurrentCell cell : {RecurrentCell::kGru, RecurrentCell::kLstm}) step(cell, size);
      for (const bool additive : {false, true}) ask(size, additive);
    }
    for (const bool causal : {false, true}) {  // large enough for AMX
      for (const double probability : {0.0, 0.3}) attend(401, 32, 64, causal, probability);
    }
    return std::move(results_);
  }

 private:
  std::vector<T> normal(int64_t size) {
    std::vector<T> values(static_cast<size_t>(size + kGuards), static_cast<T>(kGuard));
    for (int64_t i = 0; i < size; ++i) values[i] = static_cast<T>(random_.normal());
    return values;
  }
  std::vector<T> positive(int64_t size) {
    std::vector<T> values = normal(size);
    for (T& value : values) value = std::abs(value);
    return values;
  }
  std::vector<int32_t> ids(int64_t size, int64_t bound) {
    std::vector<int32_t> values;
    for (int64_t i = 0; i < size; ++i)
      values.push_back(static_cast<int32_t>(random_.below(static_cast<uint64_t>(bound))));
    return values;
  }
  void keep(const std::string& kernel, const std::vector<T>& values, int64_t terms) {
    for (size_t i = values.size() - kGuards; i < values.size(); ++i) {
      ASSERT_EQ(values[i], static_cast<T>(kGuard)) << kernel << " wrote behind the end of its output";
    }
    Results<T>& all = results_[kernel];
    all.values.insert(all.values.end(), values.begin(), values.end() - kGuards);
    all.terms = std::max(all.terms, terms);
  }

  void elementwise(int64_t size) {
    const std::vector<T> x = normal(size), dy = normal(size);
    std::vector<T> y = normal(size);
    add_scaled({.size = size, .factor = static_cast<T>(0.7), .x = x.data(), .y = y.data()});
    keep("add_scaled", y, 1);
    add({.size = size, .x = x.data(), .z = dy.data(), .y = y.data()});
    keep("add", y, 1);
    for (const Activation function : {Activation::kRelu, Activation::kGelu, Activation::kGeluTanh,
                                      Activation::kSwish, Activation::kTanh, Activation::kSigmoid}) {
      activate({.function = function, .size = size, .x = x.data(), .y = y.data()});
      keep("activate", y, 4);
      activate_backward({.function = function, .size = size, .x = x.data(), .dy = dy.data(), .dx = y.data()});
      keep("activate_backward", y, 4);
    }
    const DropoutStream stream(RandomKey::from_seed(static_cast<uint64_t>(size)), 0.4);
    dropout({.stream = stream, .size = size, .x = x.data(), .residual = nullptr, .y = y.data()});
    keep("dropout", y, 0);
    dropout({.stream = stream, .size = size, .x = x.data(), .residual = dy.data(), .y = y.data()});
    keep("dropout", y, 1);
    double sum = 0;
    sum_of_squares({.size = size, .x = x.data(), .sum = &sum});
    std::vector<T> one = normal(1);
    one[0] = static_cast<T>(sum / static_cast<double>(std::max<int64_t>(size, 1)));
    keep("sum_of_squares", one, 1);
  }

  void rows(int64_t width) {
    const int64_t size = kTestRows * width;
    const std::vector<T> x = normal(size), weight = normal(width), bias = normal(width), dy = normal(size);
    std::vector<T> y = normal(size), mean = normal(kTestRows), rstd = normal(kTestRows);
    std::vector<T> dx = normal(size), dweight = normal(width), dbias = normal(width);
    add_rows({.rows = kTestRows, .columns = width, .x = x.data(), .x_stride = width, .sum = dbias.data()});
    keep("add_rows", dbias, kTestRows);
    if (width == 0) return;
    layer_norm({.rows = kTestRows,
                .width = width,
                .epsilon = 1e-2,
                .x = x.data(),
                .weight = weight.data(),
                .bias = bias.data(),
                .y = y.data(),
                .mean = mean.data(),
                .rstd = rstd.data()});
    keep("layer_norm", y, width);
    keep("layer_norm", mean, width);
    keep("layer_norm", rstd, width);
    layer_norm({.rows = kTestRows,
                .width = width,
                .epsilon = 1e-2,
                .x = x.data(),
                .weight = weight.data(),
                .bias = bias.data(),
                .y = y.data(),
                .added = dy.data()});
    keep("layer_norm", y, width);
    layer_norm_backward({.rows = kTestRows,
                         .width = width,
                         .x = x.data(),
                         .weight = weight.data(),
                         .mean = mean.data(),
                         .rstd = rstd.data(),
                         .dy = dy.data(),
                         .dx = dx.data(),
                         .dweight = dweight.data(),
                         .dbias = dbias.data()});
    for (const auto* gradient : {&dx, &dweight, &dbias}) keep("layer_norm_backward", *gradient, 4 * width);
  }

  void other_norms(int64_t width) {
    const int64_t size = kTestRows * width;
    const std::vector<T> x = normal(size), weight = normal(width), shift = normal(width), dy = normal(size);
    std::vector<T> y = normal(size), rrms = normal(kTestRows), dx = normal(size), dweight = normal(width);
    rms_norm({.rows = kTestRows,
              .width = width,
              .epsilon = 1e-2,
              .x = x.data(),
              .weight = weight.data(),
              .y = y.data(),
              .rrms = rrms.data()});
    keep("rms_norm", y, width);
    keep("rms_norm", rrms, width);
    rms_norm_backward({.rows = kTestRows,
                       .width = width,
                       .x = x.data(),
                       .weight = weight.data(),
                       .rrms = rrms.data(),
                       .dy = dy.data(),
                       .dx = dx.data(),
                       .dweight = dweight.data()});
    for (const auto* gradient : {&dx, &dweight}) keep("rms_norm_backward", *gradient, 4 * width);
    std::vector<T> mean = normal(width), variance = normal(width), dbias = normal(width);
    column_moments({.rows = kTestRows,
                    .columns = width,
                    .x = x.data(),
                    .mean = mean.data(),
                    .variance = variance.data()});
    for (const auto* moment : {&mean, &variance}) keep("column_moments", *moment, kTestRows);
    scale_columns({.rows = kTestRows,
                   .columns = width,
                   .x = x.data(),
                   .scale = weight.data(),
                   .shift = shift.data(),
                   .y = y.data()});
    keep("scale_columns", y, 1);
    for (const bool constant : {false, true}) {
      batch_norm_backward({.rows = kTestRows,
                           .columns = width,
                           .x = x.data(),
                           .weight = weight.data(),
                           .mean = mean.data(),
                           .rstd = shift.data(),
                           .dy = dy.data(),
                           .constant_moments = constant,
                           .dx = dx.data(),
                           .dweight = dweight.data(),
                           .dbias = dbias.data()});
      for (const auto* gradient : {&dx, &dweight, &dbias})
        keep("batch_norm_backward", *gradient, 4 * kTestRows);
    }
  }

  void softmaxes(int64_t classes) {
    const int64_t size = kTestRows * classes;
    const std::vector<T> x = normal(size), bias = normal(size), dw = normal(size);
    const std::vector<int32_t> targets = ids(kTestRows, classes), bits = ids(size, 3);
    std::vector<uint8_t> visible(bits.begin(), bits.end());
    std::fill_n(visible.begin(), classes, uint8_t{0});  // a row that sees nothing
    std::vector<T> y = normal(size), losses = normal(kTestRows), likelihoods = normal(kTestRows);
    for (const bool others : {false, true}) {
      cross_entropy({.rows = kTestRows,
                     .classes = classes,
                     .logits = x.data(),
                     .targets = targets.data(),
                     .smoothing = 0.1,
                     .others = others,
                     .losses = losses.data(),
                     .negative_log_likelihoods = likelihoods.data(),
                     .dlogits = y.data(),
                     .gradient_scale = static_cast<T>(0.5)});
      for (const auto* result : {&losses, &likelihoods, &y}) keep("cross_entropy", *result, classes);
    }
    log_softmax({.rows = kTestRows, .classes = classes, .x = x.data(), .y = y.data()});
    keep("log_softmax", y, classes);
    masked_softmax({.rows = kTestRows,
                    .columns = classes,
                    .scores = x.data(),
                    .bias = bias.data(),
                    .visible = visible.data(),
                    .bias_stride = classes,
                    .visible_stride = classes,
                    .weights = y.data()});
    keep("masked_softmax", y, classes);
    std::vector<T> ds = normal(size);
    softmax_backward({.rows = kTestRows,
                      .columns = classes,
                      .weights = y.data(),
                      .dweights = dw.data(),
                      .dscores = ds.data()});
    keep("softmax_backward", ds, classes);
  }

  void optimizer(int64_t size) {
    const std::vector<T> gradients = normal(size);
    std::vector<T> weights = normal(size), m = normal(size), v = positive(size);
    adam({.size = size,
          .weights = weights.data(),
          .m = m.data(),
          .v = v.data(),
          .gradients = gradients.data(),
          .gradient_scale = 0.5,
          .rate = 0.01,
          .weight_decay = 0.1,
          .n = 3});
    for (const auto* result : {&weights, &m, &v}) keep("adam", *result, 4);
  }

  /// `keys` keys, and as many queries, but five in the second span.
  void attend(int64_t keys, int64_t key_width, int64_t value_width, bool causal, double probability) {
    constexpr int kHeads = 2;
    const auto n = static_cast<int32_t>(keys);
    const AttentionSpan spans[] = {{0, n, 0, n, 0}, {n, n + 5, n, 2 * n, keys * keys}};
    const int64_t queries = keys + 5;
    const std::vector<T> q = normal(queries * kHeads * key_width), k = normal(2 * keys * kHeads * key_width);
    const std::vector<T> v = normal(2 * keys * kHeads * value_width),
                         dy = normal(queries * kHeads * value_width);
    std::vector<T> y = normal(queries * kHeads * value_width), lse = normal(queries * kHeads);
    std::vector<T> dq = normal(queries * kHeads * key_width), dk = normal(2 * keys * kHeads * key_width);
    std::vector<T> dv = normal(2 * keys * kHeads * value_width);
    const AttentionArguments<T> forward{.spans = spans,
                                        .span_count = 2,
                                        .heads = kHeads,
                                        .key_width = key_width,
                                        .value_width = value_width,
                                        .scale = static_cast<T>(0.4),
                                        .causal = causal,
                                        .dropout = DropoutStream(RandomKey::from_seed(7), probability),
                                        .query = q.data(),
                                        .key = k.data(),
                                        .value = v.data(),
                                        .query_stride = kHeads * key_width,
                                        .key_stride = kHeads * key_width,
                                        .value_stride = kHeads * value_width,
                                        .output = y.data(),
                                        .output_stride = kHeads * value_width,
                                        .log_sum_exp = lse.data()};
    attention(forward);
    keep("attention", y, keys + key_width);
    for (T& value : lse)
      value = std::max(value, static_cast<T>(-kGuard));  // minus infinity where nothing is seen
    keep("attention", lse, keys + key_width);
    attention_backward({.forward = forward,
                        .doutput = dy.data(),
                        .doutput_stride = kHeads * value_width,
                        .dquery = dq.data(),
                        .dkey = dk.data(),
                        .dvalue = dv.data(),
                        .dquery_stride = kHeads * key_width,
                        .dkey_stride = kHeads * key_width,
                        .dvalue_stride = kHeads * value_width});
    for (const auto* gradient : {&dq, &dk, &dv}) keep("attention_backward", *gradient, 4 * queries);
  }

  void step(RecurrentCell cell, int64_t width) {
    const int64_t gate_width = gates_of(cell) * width, size = kTestRows * width;
    const std::vector<T> hidden = normal(kTestRows * gate_width), bias = normal(gate_width), h = normal(size);
    const std::vector<T> c = normal(size), dnext_h = normal(size), dnext_c = normal(size);
    std::vector<T> gates = normal(kTestRows * gate_width), next_h = normal(size), next_c = normal(size);
    std::vector<T> dgates = normal(kTestRows * gate_width), dhidden = dgates, dh = normal(size),
                   dc = normal(size);
    const RecurrentCellArguments<T> forward{.cell = cell,
                                            .rows = kTestRows,
                                            .width = width,
                                            .gates = gates.data(),
                                            .hidden = hidden.data(),
                                            .hidden_stride = gate_width,
                                            .hidden_bias = bias.data(),
                                            .h = h.data(),
                                            .c = c.data(),
                                            .next_h = next_h.data(),
                                            .next_c = next_c.data()};
    recurrent_cell(forward);
    for (const auto* result : {&gates, &next_h, &next_c}) keep("recurrent_cell", *result, 4);
    recurrent_cell_backward({.forward = forward,
                             .dnext_h = dnext_h.data(),
                             .dnext_c = dnext_c.data(),
                             .dgates = dgates.data(),
                             .dhidden = dhidden.data(),
                             .dhidden_stride = gate_width,
                             .dh = dh.data(),
                             .dc = dc.data()});
    for (const auto* gradient : {&dgates, &dhidden, &dh, &dc}) keep("recurrent_cell_backward", *gradient, 8);
  }

  /// `width` columns of queries, keys and values, and as many keys in the second span.
  void ask(int64_t width, bool additive) {
    const auto n = static_cast<int32_t>(width);
    const AttentionSpan spans[] = {{0, 2, 0, 3, 0}, {2, 3, 3, 3 + n, 6}};
    const int64_t keys = 3 + width;
    const std::vector<T> q = normal(3 * width), k = normal(keys * width), h = normal(keys * width);
    const std::vector<T> v = normal(width), dcontext = normal(3 * width);
    std::vector<T> weights = normal(6 + width), context = normal(3 * width), dq = normal(3 * width);
    std::vector<T> dk = normal(keys * width), dh = normal(keys * width), dv = normal(width);
    const AdditiveAttentionArguments<T> forward{.spans = spans,
                                                .span_count = 2,
                                                .key_width = width,
                                                .value_width = width,
                                                .query = q.data(),
                                                .key = k.data(),
                                                .value = h.data(),
                                                .query_stride = width,
                                                .key_stride = width,
                                                .value_stride = width,
                                                .v = additive ? v.data() : nullptr,
                                                .weights = weights.data(),
                                                .context = context.data(),
                                                .context_stride = width};
    additive_attention(forward);
    // The softmax makes of an absolute error of a score, which has size sqrt(width), a relative one.
    for (const auto* result : {&weights, &context}) keep("additive_attention", *result, 4 * width);
    additive_attention_backward({.forward = forward,
                                 .dcontext = dcontext.data(),
                                 .dcontext_stride = width,
                                 .dquery = dq.data(),
                                 .dkey = dk.data(),
                                 .dvalue = dh.data(),
                                 .dv = dv.data(),
                                 .dquery_stride = width,
                                 .dkey_stride = width,
                                 .dvalue_stride = width});
    for (const auto* gradient : {&dq, &dk, &dh, &dv})
      keep("additive_attention_backward", *gradient, 8 * width);
  }

  Random random_{RandomKey::from_seed(1)};
  std::map<std::string, Results<T>> results_;
};

template <typename T>
std::map<std::string, Results<T>> run_all(const std::string& isa) {
  const std::string before = isa_name();
  force_isa(isa);
  auto results = AllKernels<T>().run();
  force_isa(before);
  return results;
}

template <typename T>
class EveryIsa : public testing::Test {};
using FloatTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(EveryIsa, FloatTypes);

TYPED_TEST(EveryIsa, AgreesWithGeneric) {
  using T = TypeParam;
  const auto expected = run_all<T>("generic");
  for (const std::string& isa : available_isas()) {
    const auto actual = run_all<T>(isa);
    ASSERT_EQ(actual.size(), expected.size());
    for (const auto& [kernel, results] : expected) {
      const std::vector<T>& values = actual.at(kernel).values;
      ASSERT_EQ(values.size(), results.values.size());
      double largest = 1;
      for (const T value : results.values) largest = std::max(largest, std::abs(static_cast<double>(value)));
      double tolerance =
          8.0 * static_cast<double>(results.terms + 8) * std::numeric_limits<T>::epsilon() * largest;
      if (isa == "generic" || results.terms == 0) tolerance = 0;
      int wrong = 0;
      for (size_t i = 0; i < values.size(); ++i) {
        const double difference =
            std::abs(static_cast<double>(values[i]) - static_cast<double>(results.values[i]));
        if (!(difference <= tolerance) && ++wrong == 1) {
          ADD_FAILURE() << kernel << " on " << isa << ": element " << i << " of " << values.size() << " is "
                        << values[i] << ", generic " << results.values[i] << ", tolerance " << tolerance;
        }
      }
    }
  }
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The kernels that a source defines: name of HEED_DISPATCH(name, Arguments).
std::vector<std::string> kernels_of(const std::string& source) {
  const std::string opening = "HEED_DISPATCH(";
  std::vector<std::string> names;
  for (size_t at = source.find(opening); at != std::string::npos; at = source.find(opening, at + 1)) {
    const size_t begin = at + opening.size();
    names.push_back(source.substr(begin, source.find(',', begin) - begin));
  }
  return names;
}

// A kernel is run above, or the test beside it visits every instruction set by itself.
TEST(EveryIsaCoverage, NoKernelIsForgotten) {
  const auto results = run_all<float>("generic");
  size_t kernels = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::filesystem::path(source_folder()) / "src" / "kernels")) {
    if (entry.path().extension() != ".cc") continue;
    const auto test = entry.path().parent_path() / (entry.path().stem().string() + "_test.cc");
    const bool visits_all = content_of(test).find("available_isas") != std::string::npos;
    for (const std::string& kernel : kernels_of(content_of(entry.path()))) {
      if (entry.path().filename() == "every_isa_test.cc") continue;
      ++kernels;
      EXPECT_TRUE(visits_all || results.contains(kernel))
          << kernel << " of " << entry.path().filename() << " is not run above, nor on every set by " << test;
    }
  }
  EXPECT_GE(kernels, 10u) << "the sources were not understood";
}

TEST(Isa, NamesAreChecked) {
  const std::string before = isa_name();
  EXPECT_THROW(force_isa("avx1024"), Error);
  EXPECT_EQ(isa_name(), before);
  EXPECT_EQ(available_isas().front(), "generic");
}

}  // namespace
}  // namespace heed
