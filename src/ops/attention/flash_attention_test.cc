// Streaming attention against the chain that makes every weight: two ways to the same numbers.
//
// Both add the same terms in another order. A score is a sum of d_k products; a relative error of d_k epsilon
// |score| in the exponent is one of the weight; mixing adds Tk terms of size 1 or so, and a gradient adds Tq
// or Tk of those. The tolerance is 32 epsilon (Tq + Tk + d_k + d_v) times the largest number expected.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/memory_pool.h"
#include "compare.h"
#include "kernels/attention/attention.h"
#include "kernels/simd/test_isas.h"
#include "ops/attention/attention.h"
#include "ops/columns.h"
#include "ops/elementwise.h"
#include "ops/gradient_test.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::ops {
namespace {

struct Problem {
  AttentionLayout layout;
  int heads = 1;
  int64_t key_width = 1, value_width = 1;  // of a head
  bool causal = false;
  DropoutStream dropout;
  Tensor query, key, value, upstream;
};

struct Results {
  Tensor mixed, dquery, dkey, dvalue;
};

enum class Way { kStreaming, kEveryWeight };

/// One way or the other; `mistake` is for negative controls: another scale.
Results run(const Problem& p, Way way, double mistake = 1) {
  Tape tape;
  const Var query = tape.leaf(p.query), key = tape.leaf(p.key), value = tape.leaf(p.value);
  const double scale = mistake / std::sqrt(static_cast<double>(p.key_width));
  const AttentionOperands x{
      {query, 0, query.dim(1)}, {key, 0, key.dim(1)}, {value, 0, value.dim(1)}, p.heads, scale};
  Var mixed;
  if (way == Way::kStreaming) {
    mixed = flash_attention(x, p.layout, p.causal, p.dropout);
  } else {
    const Var scores = attention_scores(x, p.layout);
    const Var weights = attention_softmax(scores, p.layout, p.heads, {.causal = p.causal});
    mixed = attention_mix(dropout(weights, p.dropout), x, p.layout);
  }
  tape.backward(mixed, p.upstream);
  const auto gradient = [&](const Var& leaf) {
    const Tensor found = tape.gradient(leaf);
    return found.defined() ? found : Tensor::zeros(leaf.shape(), leaf.dtype());
  };
  return {mixed.value(), gradient(query), gradient(key), gradient(value)};
}

/// Sequences of the given lengths; queries and keys of the same batch.
Problem problem_of(TensorSource& source, const std::vector<std::pair<int64_t, int64_t>>& lengths, int heads,
                   int64_t key_width, int64_t value_width, DType dtype = DType::kFloat64) {
  Problem p;
  std::vector<int32_t> query_offsets{0}, key_offsets{0};
  for (const auto& [queries, keys] : lengths) {
    query_offsets.push_back(query_offsets.back() + static_cast<int32_t>(queries));
    key_offsets.push_back(key_offsets.back() + static_cast<int32_t>(keys));
  }
  p.layout = AttentionLayout::packed(query_offsets, key_offsets);
  p.heads = heads;
  p.key_width = key_width;
  p.value_width = value_width;
  p.query = source.normal({query_offsets.back(), heads * key_width}, dtype);
  p.key = source.normal({key_offsets.back(), heads * key_width}, dtype);
  p.value = source.normal({key_offsets.back(), heads * value_width}, dtype);
  p.upstream = source.normal({query_offsets.back(), heads * value_width}, dtype);
  return p;
}

double largest_of(const Tensor& tensor) {
  double largest = 1;
  for (const double value : tensor.to_vector<double>()) largest = std::max(largest, std::abs(value));
  return largest;
}

double tolerance_for(const Problem& p, const Tensor& expected) {
  int64_t terms = p.key_width + p.value_width;
  for (const AttentionSpan& span : p.layout.spans)
    terms = std::max(terms, span.queries() + span.keys() + p.key_width + p.value_width);
  const double epsilon = expected.dtype() == DType::kFloat32 ? std::numeric_limits<float>::epsilon()
                                                             : std::numeric_limits<double>::epsilon();
  return 32 * epsilon * static_cast<double>(terms) * largest_of(expected);
}

void expect_same(const Problem& p, const std::string& what) {
  const Results actual = run(p, Way::kStreaming), expected = run(p, Way::kEveryWeight);
  const std::pair<const Tensor*, const Tensor*> pairs[] = {{&actual.mixed, &expected.mixed},
                                                           {&actual.dquery, &expected.dquery},
                                                           {&actual.dkey, &expected.dkey},
                                                           {&actual.dvalue, &expected.dvalue}};
  const char* names[] = {"mixed", "dquery", "dkey", "dvalue"};
  for (size_t n = 0; n < 4; ++n) {
    expect_close(*pairs[n].first, *pairs[n].second, tolerance_for(p, *pairs[n].second),
                 what + ": " + names[n]);
  }
}

// Blocks are of 48 queries (96 in the backward pass) and 128 keys, made of tiles of 6 and 64; four queries
// and fewer go another way.
TEST(FlashAttention, AgreesAroundTheBordersOfItsBlocks) {
  TensorSource source(1);
  for (const int64_t queries : {0, 1, 4, 5, 7, 48, 49, 96, 97}) {
    for (const int64_t keys : {0, 1, 2, 63, 65, 128, 129, 257}) {
      Problem p = problem_of(source, {{queries, keys}}, 2, 3, 5);
      for (const bool causal : {false, true}) {
        for (const double probability : {0.0, 0.3}) {
          p.causal = causal;
          p.dropout = DropoutStream(RandomKey::from_seed(9), probability);
          expect_same(p, fmt::format("{} queries, {} keys, causal {}, dropout {}", queries, keys, causal,
                                     probability));
        }
      }
    }
  }
}

TEST(FlashAttention, AgreesOnRandomBatches) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    TensorSource source(1000 + seed);
    std::vector<std::pair<int64_t, int64_t>> lengths;
    const auto length = [&] {
      const int64_t kind = source.number(0, 9);
      return source.number(0, kind < 3 ? 2 : kind < 9 ? 80 : 300);
    };
    const int64_t sequences = source.number(0, 4);
    for (int64_t b = 0; b < sequences; ++b) lengths.emplace_back(length(), length());
    Problem p = problem_of(source, lengths, static_cast<int>(source.number(1, 3)), source.number(1, 20),
                           source.number(1, 20), seed % 3 == 0 ? DType::kFloat32 : DType::kFloat64);
    p.causal = source.number(0, 1) == 1;
    p.dropout = DropoutStream(RandomKey::from_seed(seed), source.number(0, 1) == 1 ? 0.25 : 0);
    expect_same(p, fmt::format("seed {}", seed));
  }
}

// Widths that models have, and those beside them: whole tiles, whole vectors, and neither.
TEST(FlashAttention, AgreesForTheWidthsOfModels) {
  for (const int64_t width : {16, 17, 32, 33, 48, 64, 65, 128}) {
    TensorSource source(static_cast<uint64_t>(width));
    Problem p = problem_of(source, {{50, 60}, {13, 13}, {130, 130}}, 2, width, width, DType::kFloat32);
    for (const bool causal : {false, true}) {
      for (const double probability : {0.0, 0.1}) {
        p.causal = causal;
        p.dropout = DropoutStream(RandomKey::from_seed(4), probability);
        expect_same(p, fmt::format("width {}, causal {}, dropout {}", width, causal, probability));
      }
    }
  }
}

// Scores that grow from block to block, by less and by more than what a softmax may leave as it is.
TEST(FlashAttention, AgreesWhereLaterKeysScoreHigher) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const double growth : {0.01, 0.1, 1.0}) {
      TensorSource source(14);
      Problem p = problem_of(source, {{60, 400}}, 1, 2, 3, dtype);
      const auto set = [](Tensor& tensor, int64_t at, double value) {
        if (tensor.dtype() == DType::kFloat32) {
          tensor.data<float>()[at] = static_cast<float>(value);
        } else {
          tensor.data<double>()[at] = value;
        }
      };
      for (int64_t q = 0; q < 60; ++q) set(p.query, 2 * q, q % 2 == 0 ? 1 : -1);
      for (int64_t k = 0; k < 400; ++k) set(p.key, 2 * k, growth * static_cast<double>(k));
      // Scores of size 400 growth are off by as many epsilon, and so are the exponents.
      const Results actual = run(p, Way::kStreaming), expected = run(p, Way::kEveryWeight);
      const double tolerance = tolerance_for(p, expected.mixed) * (1 + growth);
      expect_close(actual.mixed, expected.mixed, tolerance, fmt::format("mixed, growth {}", growth));
      expect_close(actual.dvalue, expected.dvalue, tolerance, fmt::format("dvalue, growth {}", growth));
    }
  }
}

// With the identity as values, the mix is the weights.
TEST(FlashAttention, SmallWeightsKeepTheirDigits) {
  constexpr int64_t kKeys = 80;
  Tensor query = Tensor::zeros({5, 1}), key = Tensor::zeros({kKeys, 1}),
         value = Tensor::zeros({kKeys, kKeys});
  for (int64_t q = 0; q < 5; ++q) query.data<float>()[q] = 1;
  for (int64_t k = 0; k < kKeys; ++k) {
    key.data<float>()[k] = -1.0625f * static_cast<float>(k);
    value.data<float>()[k * kKeys + k] = 1;
  }
  const Tensor weights = flash_attention({{query, 0, 1}, {key, 0, 1}, {value, 0, kKeys}, 1, 1},
                                         AttentionLayout::padded(1, 5, kKeys), false)
                             .value();
  double sum = 0;
  for (int64_t k = 0; k < kKeys; ++k) sum += std::exp(-1.0625 * static_cast<double>(k));
  for (int64_t k = 0; k < kKeys; ++k) {
    const double expected = std::exp(-1.0625 * static_cast<double>(k)) / sum;
    // An exponent of 85 is off by 85 half epsilon, and the polynomial and the division by some more.
    EXPECT_NEAR(weights.data<float>()[2 * kKeys + k] / expected, 1, (85 + 16) * 0x1p-24) << k;
  }
}

/// Sequence `at` of a problem, as a problem of its own.
Problem alone(const Problem& p, size_t at) {
  const AttentionSpan& span = p.layout.spans[at];
  Problem one = p;
  one.layout = AttentionLayout::padded(1, span.queries(), span.keys());
  const auto rows = [](const Tensor& tensor, int64_t begin, int64_t count) {
    return tensor.narrow(0, begin, count).clone();
  };
  one.query = rows(p.query, span.query_begin, span.queries());
  one.upstream = rows(p.upstream, span.query_begin, span.queries());
  one.key = rows(p.key, span.key_begin, span.keys());
  one.value = rows(p.value, span.key_begin, span.keys());
  return one;
}

// To the last bit: what a sequence comes to depends on that sequence.
TEST(FlashAttention, ASequenceAloneHasTheSameBits) {
  TensorSource source(15);
  for (const bool causal : {false, true}) {
    Problem p =
        problem_of(source, {{13, 20}, {100, 150}, {1, 7}, {50, 50}, {300, 300}, {70, 1100}, {97, 210}}, 2, 32,
                   32, DType::kFloat32);
    p.causal = causal;
    const Results together = run(p, Way::kStreaming);
    for (size_t at = 0; at < p.layout.spans.size(); ++at) {
      const AttentionSpan& span = p.layout.spans[at];
      Problem one = alone(p, at);
      const Results own = run(one, Way::kStreaming);
      const auto part = [](const Tensor& tensor, int64_t begin, int64_t count) {
        return tensor.narrow(0, begin, count).clone();
      };
      expect_equal(own.mixed, part(together.mixed, span.query_begin, span.queries()), "mixed");
      expect_equal(own.dquery, part(together.dquery, span.query_begin, span.queries()), "dquery");
      expect_equal(own.dkey, part(together.dkey, span.key_begin, span.keys()), "dkey");
      expect_equal(own.dvalue, part(together.dvalue, span.key_begin, span.keys()), "dvalue");
      // The control: one number of its own is another.
      one.value.data<float>()[0] += 1;
      EXPECT_NE(run(one, Way::kStreaming).mixed.to_vector<float>(), own.mixed.to_vector<float>());
    }
  }
}

TEST(FlashAttention, AgreesOnEveryInstructionSet) {
  on_every_isa([](const std::string& isa) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
      TensorSource source(3);
      Problem p = problem_of(source, {{40, 70}, {3, 9}, {17, 0}, {1, 1}}, 2, 7, 19, dtype);
      p.causal = true;
      expect_same(p, isa);
      p.dropout = DropoutStream(RandomKey::from_seed(3), 0.1);
      expect_same(p, isa + " with dropout");
    }
  });
}

// ---- AMX -------------------------------------------------------------------------------------------------

/// Runs `body` without and with AMX.
template <typename Body>
void with_and_without_amx(const Body& body) {
  const std::string before = isa_name();
  for (const char* isa : {"avx512vnni", "amx"}) {
    force_isa(isa);
    body(std::string(isa));
  }
  force_isa(before);
}

bool has_amx() {
  const auto isas = available_isas();
  return std::find(isas.begin(), isas.end(), "amx") != isas.end();
}

// Micro-kernels compute 32 queries by 32 keys; blocks have 64 queries (32 forward) and 128 keys, L2 blocks
// 512 keys (1,024 forward).
TEST(AmxAttention, AgreesAroundTheBordersOfItsBlocks) {
  if (!has_amx()) GTEST_SKIP() << "no amx";
  TensorSource source(21);
  constexpr int64_t kSizes[][2] = {{64, 96},  {65, 97},   {70, 128},  {80, 129},  {96, 160},
                                   {97, 191}, {127, 200}, {128, 256}, {129, 257}, {200, 511},
                                   {66, 513}, {300, 230}, {100, 1025}};
  for (const auto& size : kSizes) {
    const int64_t queries = size[0], keys = size[1];
    Problem p = problem_of(source, {{queries, keys}}, 2, 32, 64, DType::kFloat32);
    for (const bool causal : {false, true}) {
      for (const double probability : {0.0, 0.3}) {
        p.causal = causal;
        p.dropout = DropoutStream(RandomKey::from_seed(9), probability);
        with_and_without_amx([&](const std::string& isa) {
          expect_same(p, fmt::format("{}: {} queries, {} keys, causal {}, dropout {}", isa, queries, keys,
                                     causal, probability));
        });
      }
    }
  }
}

TEST(AmxAttention, AgreesOnRandomBatches) {
  if (!has_amx()) GTEST_SKIP() << "no amx";
  for (uint64_t seed = 0; seed < 40; ++seed) {
    TensorSource source(2000 + seed);
    std::vector<std::pair<int64_t, int64_t>> lengths;
    const int64_t sequences = source.number(1, 4);
    for (int64_t b = 0; b < sequences; ++b)
      lengths.emplace_back(source.number(1, 300), source.number(1, 600));
    Problem p = problem_of(source, lengths, static_cast<int>(source.number(1, 3)), 32 * source.number(1, 3),
                           32 * source.number(1, 3), DType::kFloat32);
    p.causal = source.number(0, 1) == 1;
    p.dropout = DropoutStream(RandomKey::from_seed(seed), source.number(0, 1) == 1 ? 0.25 : 0);
    with_and_without_amx(
        [&](const std::string& isa) { expect_same(p, fmt::format("{}: seed {}", isa, seed)); });
  }
}

// The control of both tests above: AMX is used, and not for small sizes or other widths.
TEST(AmxAttention, IsUsedWhereItPays) {
  if (!has_amx()) GTEST_SKIP() << "no amx";
  const auto differ = [](int64_t queries, int64_t keys, int64_t width) {
    TensorSource source(22);
    const Problem p = problem_of(source, {{queries, keys}}, 1, width, width, DType::kFloat32);
    std::vector<Results> results;
    with_and_without_amx([&](const std::string&) { results.push_back(run(p, Way::kStreaming)); });
    const auto same = [&](const Tensor Results::*one) {
      return (results[0].*one).to_vector<float>() == (results[1].*one).to_vector<float>();
    };
    return std::pair(!same(&Results::mixed), !same(&Results::dvalue));
  };
  EXPECT_EQ(differ(128, 256, 64), std::pair(true, true));
  EXPECT_EQ(differ(128, 256, 48), std::pair(false, false));
  EXPECT_EQ(differ(40, 40, 64), std::pair(false, false));
}

// The error against float64 is at most twice that of the vector kernel, in the output and in every gradient.
// With two parts instead of three it would be dozens of times as large.
TEST(AmxAttention, IsAsExactAsVectors) {
  if (!has_amx()) GTEST_SKIP() << "no amx";
  TensorSource source(24);
  for (const bool causal : {false, true}) {
    Problem p = problem_of(source, {{200, 600}}, 2, 64, 64, DType::kFloat32);
    p.causal = causal;
    Problem exact = p;
    for (Tensor Problem::*one : {&Problem::query, &Problem::key, &Problem::value, &Problem::upstream}) {
      exact.*one = Tensor::from((p.*one).to_vector<double>(), (p.*one).shape());
    }
    const Results expected = run(exact, Way::kStreaming);
    std::vector<Results> results;
    with_and_without_amx([&](const std::string&) { results.push_back(run(p, Way::kStreaming)); });
    for (Tensor Results::*one : {&Results::mixed, &Results::dquery, &Results::dkey, &Results::dvalue}) {
      const auto error = [&](const Results& found) {
        const auto left = (found.*one).to_vector<double>(), right = (expected.*one).to_vector<double>();
        double worst = 0;
        for (size_t i = 0; i < left.size(); ++i) worst = std::max(worst, std::abs(left[i] - right[i]));
        return worst;
      };
      EXPECT_LE(error(results[1]), 2 * error(results[0])) << "causal " << causal;
    }
  }
}

// NaN left in buffers by one call does not reach the next one.
// Blocks are kept between calls, and only what is visible is written.
TEST(FlashAttention, LeftoversOfAnotherCallDoNotMatter) {
  TensorSource source(23);
  const auto with_nan = [&](Problem p) {
    p.query = Tensor::empty(p.query.shape(), p.query.dtype());
    std::fill_n(p.query.data<float>(), p.query.size(), std::numeric_limits<float>::quiet_NaN());
    return p;
  };
  const Problem large = with_nan(problem_of(source, {{256, 640}}, 2, 32, 32, DType::kFloat32));
  constexpr int64_t kSizes[][2] = {{65, 421},  {81, 421},  {100, 421}, {113, 421},
                                   {104, 104}, {110, 110}, {115, 115}, {150, 150}};
  on_every_isa([&](const std::string& isa) {
    for (const auto& [queries, keys] : kSizes) {
      for (const bool causal : {false, true}) {
        Problem p = problem_of(source, {{queries, keys}}, 2, 32, 32, DType::kFloat32);
        p.causal = causal;
        for (const Problem& bad : {large, with_nan(p)}) {
          const Results nan = run(bad, Way::kStreaming);
          ASSERT_TRUE(std::isnan(nan.dkey.data<float>()[0]));
          expect_same(p, fmt::format("{}: {} queries, {} keys, causal {}", isa, queries, keys, causal));
        }
      }
    }
  });
}

/// Whether the comparison above would have noticed the difference of two results.
bool is_noticed(const Problem& p, const Results& actual, const Results& expected) {
  const auto differ = [&](const Tensor& a, const Tensor& b) {
    const auto left = a.to_vector<double>(), right = b.to_vector<double>();
    for (size_t i = 0; i < left.size(); ++i) {
      if (!(std::abs(left[i] - right[i]) <= tolerance_for(p, b))) return true;
    }
    return false;
  };
  return differ(actual.mixed, expected.mixed) && differ(actual.dquery, expected.dquery) &&
         differ(actual.dkey, expected.dkey) && differ(actual.dvalue, expected.dvalue);
}

// The control: what is slightly wrong is noticed, in the output and in every gradient, in float32 too.
TEST(FlashAttention, TheComparisonNoticesMistakes) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    TensorSource source(2);
    Problem p = problem_of(source, {{33, 70}, {5, 5}}, 2, 4, 3, dtype);
    p.causal = true;
    p.dropout = DropoutStream(RandomKey::from_seed(1), 0.2);
    const Results right = run(p, Way::kEveryWeight);
    EXPECT_FALSE(is_noticed(p, run(p, Way::kStreaming), right));
    EXPECT_TRUE(is_noticed(p, run(p, Way::kStreaming, 1.05), right)) << "another scale";
    Problem wrong = p;
    wrong.causal = false;
    EXPECT_TRUE(is_noticed(p, run(wrong, Way::kStreaming), right)) << "no look-ahead mask";
    wrong = p;
    wrong.dropout = {};
    EXPECT_TRUE(is_noticed(p, run(wrong, Way::kStreaming), right)) << "no dropout";
    wrong.dropout = DropoutStream(RandomKey::from_seed(2), 0.2);
    EXPECT_TRUE(is_noticed(p, run(wrong, Way::kStreaming), right)) << "another dropout";
    wrong = p;
    wrong.layout.spans[1].key_begin -= 1;
    EXPECT_TRUE(is_noticed(p, run(wrong, Way::kStreaming), right)) << "a key of the neighbour";
  }
}

TEST(FlashAttention, LargeScoresDoNotOverflow) {
  TensorSource source(4);
  Problem p = problem_of(source, {{40, 130}, {2, 9}}, 1, 4, 3);
  for (int64_t i = 0; i < p.query.size(); ++i) p.query.data<double>()[i] *= 300;
  const Results results = run(p, Way::kStreaming);
  for (const Tensor* tensor : {&results.mixed, &results.dquery, &results.dkey, &results.dvalue}) {
    for (const double value : tensor->to_vector<double>()) ASSERT_TRUE(std::isfinite(value));
  }
  // Scores of size 600 are off by 600 * 4 epsilon, and so are the exponents.
  expect_close(results.mixed, run(p, Way::kEveryWeight).mixed, 600 * 64 * 0x1p-52 * 8, "mixed");
}

TEST(FlashAttention, RowsOfNoSequenceAreZero) {
  TensorSource source(5);
  Problem p = problem_of(source, {{6, 6}}, 1, 2, 3);
  p.layout.spans[0].query_begin = 2;
  const Results results = run(p, Way::kStreaming);
  expect_equal(results.mixed.narrow(0, 0, 2).clone(), Tensor::zeros({2, 3}, DType::kFloat64), "mixed");
  expect_equal(results.dquery.narrow(0, 0, 2).clone(), Tensor::zeros({2, 2}, DType::kFloat64), "dquery");
}

// Gradients are written where nothing was before, and added where something was or where rows or columns are
// not divided among the operands: of one variable that all are columns of, whatever the memory held before.
TEST(FlashAttention, GradientsAreWrittenOrAdded) {
  constexpr int kHeads = 2;
  for (const int64_t length : {7, 150, 400}) {  // the last on AMX where available
    const int64_t width = kHeads * 32, rows = 2 * length;
    TensorSource source(31);
    const Tensor x = source.normal({rows, 3 * width + 5}, DType::kFloat32),
                 upstream = source.normal({rows, width}, DType::kFloat32);
    const auto offset = [](int64_t row) { return static_cast<int32_t>(row); };
    const auto all =
        AttentionLayout::packed({0, offset(length), offset(rows)}, {0, offset(length), offset(rows)});
    const auto gradient = [&](const AttentionLayout& layout, int64_t columns,
                              const std::vector<int64_t>& begins, bool twice, Way way) {
      const Tensor part = columns == x.dim(1) ? x : ops::columns(x, 0, columns).value();
      Tape tape;
      const Var leaf = tape.leaf(part);
      const Var var = add(leaf, leaf);  // a leaf's gradient would outlive the pass, and get memory of its own
      const AttentionOperands operands{
          {var, begins[0], width}, {var, begins[1], width}, {var, begins[2], width}, kHeads, 0.1};
      const auto mix = [&] {
        if (way == Way::kStreaming) return flash_attention(operands, layout, true, {});
        const Var weights =
            attention_softmax(attention_scores(operands, layout), layout, kHeads, {.causal = true});
        return attention_mix(weights, operands, layout);
      };
      const Var mixed = twice ? add(mix(), mix()) : mix();
      {
        Tensor dirt = Tensor::empty(part.shape());
        std::fill_n(dirt.data<float>(), dirt.size(), std::numeric_limits<float>::quiet_NaN());
      }
      tape.backward(mixed, upstream);
      return tape.gradient(leaf);
    };
    const auto compare = [&](const std::string& what, const AttentionLayout& layout, int64_t columns,
                             const std::vector<int64_t>& begins, bool twice = false) {
      const Tensor expected = gradient(layout, columns, begins, twice, Way::kEveryWeight),
                   actual = gradient(layout, columns, begins, twice, Way::kStreaming);
      const double tolerance = 1e-6 * static_cast<double>(length) * largest_of(expected);
      expect_close(actual, expected, tolerance, fmt::format("{}, {} rows", what, length));
    };
    const std::vector<int64_t> side_by_side{0, width, 2 * width};
    compare("columns of all operands", all, 3 * width, side_by_side);
    compare("in another order", all, 3 * width, {2 * width, 0, width});
    compare("columns that are nobody's", all, 3 * width + 5, side_by_side);
    compare("columns between them", all, 3 * width + 5, {0, width + 5, 2 * width + 5});
    compare("one for all operands", all, width, {0, 0, 0});
    compare("keys and values that overlap", all, 3 * width, {0, width, width + 1});
    compare("twice", all, 3 * width, side_by_side, true);
    auto layout = all;
    layout.spans[1].query_begin += 3;
    compare("rows that are nobody's", layout, 3 * width, side_by_side);
    layout = all;
    layout.spans[1].key_end -= 1;
    compare("keys that are nobody's", layout, 3 * width, side_by_side);
    layout = all;
    layout.spans[1].key_begin = layout.spans[0].key_begin, layout.spans[1].key_end = layout.spans[0].key_end;
    compare("keys of both sequences", layout, 3 * width, side_by_side);
  }
}

// The memory of weights would be heads * T^2; what streaming asks for grows with T.
TEST(FlashAttention, NeverHoldsTheWeights) {
  constexpr int64_t kLength = 2000;
  TensorSource source(6);
  const Problem p = problem_of(source, {{kLength, kLength}}, 2, 4, 4, DType::kFloat32);
  const AttentionOperands x{{p.query, 0, 8}, {p.key, 0, 8}, {p.value, 0, 8}, 2, 0.5};
  const uint64_t before = pool_statistics().bytes_from_system;
  const Tensor streamed = flash_attention(x, p.layout, false).value();
  const uint64_t streaming = pool_statistics().bytes_from_system - before;
  attention_scores(x, p.layout);
  const uint64_t scores = pool_statistics().bytes_from_system - before - streaming;
  EXPECT_LE(streaming, uint64_t{64} * kLength * 8 * sizeof(float));
  EXPECT_GE(scores, uint64_t{2} * kLength * kLength * sizeof(float));
}

// The steps of a decoder: keys and values that lie anywhere.
TEST(FlashAttention, GathersTheRowsOfKeys) {
  constexpr int64_t kRows = 50, kKeys = 23;
  constexpr int kHeads = 2;
  TensorSource source(7);
  for (const int64_t queries : {1, 3, 9}) {
    const Tensor query = source.normal({queries, kHeads * 5}), key = source.normal({kRows, kHeads * 5});
    const Tensor value = source.normal({kRows, kHeads * 3});
    std::vector<int32_t> rows;
    Tensor plain_key = Tensor::empty({kKeys, kHeads * 5}, DType::kFloat64);
    Tensor plain_value = Tensor::empty({kKeys, kHeads * 3}, DType::kFloat64);
    for (int64_t k = 0; k < kKeys; ++k) {
      rows.push_back(static_cast<int32_t>(source.number(0, kRows - 1)));
      std::copy_n(key.data<double>() + rows[k] * kHeads * 5, kHeads * 5,
                  plain_key.data<double>() + k * kHeads * 5);
      std::copy_n(value.data<double>() + rows[k] * kHeads * 3, kHeads * 3,
                  plain_value.data<double>() + k * kHeads * 3);
    }
    for (const bool causal : {false, true}) {
      const AttentionSpan span{0, static_cast<int32_t>(queries), 0, kKeys, 0};
      Tensor gathered = Tensor::empty({queries, kHeads * 3}, DType::kFloat64), plain = gathered.clone();
      AttentionArguments<double> a{.spans = &span,
                                   .span_count = 1,
                                   .heads = kHeads,
                                   .key_width = 5,
                                   .value_width = 3,
                                   .scale = 0.4,
                                   .causal = causal,
                                   .dropout = {},
                                   .query = query.data<double>(),
                                   .key = key.data<double>(),
                                   .value = value.data<double>(),
                                   .query_stride = kHeads * 5,
                                   .key_stride = kHeads * 5,
                                   .value_stride = kHeads * 3,
                                   .key_rows = rows.data(),
                                   .output = gathered.data<double>(),
                                   .output_stride = kHeads * 3};
      heed::attention(a);
      a.key = plain_key.data<double>();
      a.value = plain_value.data<double>();
      a.key_rows = nullptr;
      a.output = plain.data<double>();
      heed::attention(a);
      expect_close(gathered, plain, 32 * 0x1p-52 * (kKeys + 8), fmt::format("{} queries", queries));
      a.dropout = DropoutStream(RandomKey::from_seed(1), 0.5);
      a.key_rows = rows.data();
      EXPECT_THROW(heed::attention(a), std::logic_error) << "rows with dropout are not for training";
    }
  }
}

// ---- Heads that share keys and values --------------------------------------------------------------------

/// Columns of `heads` heads, from those of fewer that are shared in groups.
Tensor repeated(const Tensor& shared, int64_t shared_heads, int64_t heads) {
  const int64_t rows = shared.dim(0), width = shared.dim(1) / shared_heads;
  Tensor all = Tensor::empty({rows, heads * width}, shared.dtype());
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t head = 0; head < heads; ++head) {
      const double* from =
          shared.data<double>() + row * shared.dim(1) + head / (heads / shared_heads) * width;
      std::copy_n(from, width, all.data<double>() + (row * heads + head) * width);
    }
  }
  return all;
}

TEST(SharedHeads, AreHeadsWithTheSameKeysAndValues) {
  TensorSource source(11);
  constexpr int kHeads = 6;
  const auto layout = AttentionLayout::packed({0, 3, 40, 107}, {0, 3, 40, 107});
  const Tensor query = source.normal({107, 6 * 4});
  for (const int shared : {1, 2, 3, 6}) {
    const Tensor key = source.normal({107, shared * 4}), value = source.normal({107, shared * 5});
    const AttentionOperands few{{query, 0, 24}, {key, 0, shared * 4}, {value, 0, shared * 5}, kHeads, 0.5,
                                shared};
    const AttentionOperands many{{query, 0, 24},
                                 {repeated(key, shared, kHeads), 0, 24},
                                 {repeated(value, shared, kHeads), 0, 30},
                                 kHeads,
                                 0.5};
    const Tensor expected = flash_attention(many, layout, true).value();
    expect_close(flash_attention(few, layout, true).value(), expected, 1e-13, "streaming");
    const Var weights = attention_softmax(attention_scores(few, layout), layout, kHeads, {.causal = true});
    expect_close(attention_mix(weights, few, layout).value(), expected, 1e-13, "every weight");
  }
  expect_error(ErrorKind::kShape, "6 heads cannot share 4 keys and values evenly", [&] {
    flash_attention({{query, 0, 24}, {query, 0, 16}, {query, 0, 16}, 6, 1, 4}, layout, true);
  });
}

GRADIENT_CHECK(flash_attention, SharedHeads) {
  TensorSource source(12);
  const auto layout = AttentionLayout::packed({0, 3, 8}, {0, 3, 8});
  expect_gradients(
      [&](const auto& x) {
        return flash_attention({{x[0], 0, 12}, {x[1], 0, 6}, {x[1], 6, 6}, 4, 0.6, 2}, layout, true);
      },
      {source.normal({8, 12}), source.normal({8, 12})});
}

GRADIENT_CHECK(attention_mix, SharedHeads) {
  TensorSource source(13);
  const auto layout = AttentionLayout::packed({0, 3, 8}, {0, 3, 8});
  expect_gradients(
      [&](const auto& x) {
        const AttentionOperands shared{{x[0], 0, 12}, {x[1], 0, 6}, {x[1], 6, 6}, 4, 0.6, 2};
        const Var weights = attention_softmax(attention_scores(shared, layout), layout, 4, {.causal = true});
        return attention_mix(weights, shared, layout);
      },
      {source.normal({8, 12}), source.normal({8, 12})});
}

// ---- Derivatives ------------------------------------------------------------------------------------------

GRADIENT_CHECK(flash_attention, RaggedSequences) {
  TensorSource source(8);
  const auto layout = AttentionLayout::packed({0, 3, 3, 4, 11, 17}, {0, 2, 7, 8, 8, 15});
  for (const bool causal : {false, true}) {
    for (const double probability : {0.0, 0.4}) {
      const DropoutStream stream(RandomKey::from_seed(2), probability);
      expect_gradients(
          [&](const auto& x) {
            return flash_attention({{x[0], 0, 6}, {x[1], 0, 6}, {x[2], 0, 4}, 2, 0.6}, layout, causal,
                                   stream);
          },
          {source.normal({17, 6}), source.normal({15, 6}), source.normal({15, 4})});
    }
  }
}

GRADIENT_CHECK(flash_attention, ColumnsOfOneVariable) {
  TensorSource source(9);
  expect_gradients(
      [](const auto& x) {
        return flash_attention({{x[0], 0, 4}, {x[0], 4, 4}, {x[0], 8, 2}, 2, 0.5},
                               AttentionLayout::packed({0, 4, 5}, {0, 4, 5}), true);
      },
      {source.normal({5, 11})});
}

GRADIENT_CHECK(flash_attention, MoreThanOneBlock) {
  TensorSource source(10);
  expect_gradients(
      [](const auto& x) {
        return flash_attention({{x[0], 0, 1}, {x[1], 0, 1}, {x[2], 0, 2}, 1, 1},
                               AttentionLayout::padded(1, 34, 66), true);
      },
      {source.normal({34, 1}), source.normal({66, 1}), source.normal({66, 2})});
}

}  // namespace
}  // namespace heed::ops
