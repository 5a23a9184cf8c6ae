#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "heed/error.h"
#include "inspect/draw/bar_picture.h"
#include "inspect/draw/curve_picture.h"
#include "inspect/draw/test_pictures.h"

namespace heed {
namespace {

using testing::faults;
using testing::trace_of;
using testing::words;

TEST(BarPicture, ShowsEveryValue) {
  const std::vector<double> weights{0.06, 0.09, 0.05, 0.25, 0.18, 0.06, 0.09, 0.06, 0.15};
  std::vector<Label> labels;
  for (const char* word :
       {"Anthony", "Hopkins", "admired", "Michael", "Bay", "as", "a", "great", "director."}) {
    labels.push_back({word, 0, 0});
  }
  const Picture picture = bar_picture(labels, weights);
  EXPECT_THAT(faults(picture), ::testing::IsEmpty());
  for (const Label& label : labels) EXPECT_TRUE(words(picture).contains(label.text));
  EXPECT_GE(words(picture).count("0.25"), 1U);
  // Heights are in proportion to the values.
  for (const PictureShape& shape : picture.shapes) {
    const Boxes* bars = std::get_if<Boxes>(&shape);
    if (bars == nullptr) continue;
    ASSERT_EQ(bars->boxes.size(), weights.size());
    for (size_t n = 0; n < weights.size(); ++n) {
      EXPECT_NEAR(bars->boxes[n].height / bars->boxes[3].height, weights[n] / weights[3], 1e-9);
    }
  }
}

TEST(BarPicture, SmallNumbersHaveDigits) {
  const std::vector<Label> labels{{"a", 0, 0}, {"b", 0, 0}};
  const auto numbers = [&](double first, double second) {
    return words(bar_picture(labels, {first, second}));
  };
  EXPECT_TRUE(numbers(0.001, 0.0032).contains("0.0010"));
  EXPECT_TRUE(numbers(0.001, 0.0032).contains("0.0032"));
  EXPECT_TRUE(numbers(0.001, 0.32).contains("0.00"));  // as the other bar
  EXPECT_TRUE(numbers(3e-9, 2e-9).contains("3e-09"));
  EXPECT_TRUE(numbers(0, 0).contains("0.00"));
}

TEST(BarPicture, QueriesOfATrace) {
  const Trace trace = trace_of(40, 1, 2);
  const Picture picture = query_picture(trace, {Stack::kCross, 0, 1, 5});
  EXPECT_THAT(faults(picture), ::testing::IsEmpty());
  EXPECT_TRUE(words(picture).contains("1")) << "the axis ends at a weight of 1";
  EXPECT_FALSE(words(bar_picture({{"a", 0, 0}}, {0.25})).contains("1")) << "where it is not asked for";
  EXPECT_THROW(query_picture(trace, {Stack::kCross, 0, 1, 41}), Error);
  EXPECT_THROW(query_picture(trace, {Stack::kCross, 0, 2, 0}), Error);
  EXPECT_THROW(query_picture(trace, {Stack::kCross, 1, 0, 0}), Error);
  EXPECT_THROW(bar_picture({{"a", 0, 0}}, {1, 2}), Error);
  EXPECT_THROW(bar_picture({{"a", 0, 0}}, {-1}), Error);
  EXPECT_THROW(bar_picture({}, {}), Error);
}

TEST(HistogramPicture, CountsEveryValueOnce) {
  std::vector<double> values;
  for (int n = 0; n < 1000; ++n) values.push_back(std::sin(n));
  for (const int bins : {0, 1, 10, 100}) {
    const Picture picture = histogram_picture(values, bins);
    EXPECT_THAT(faults(picture), ::testing::IsEmpty());
    if (bins != 10) continue;
    std::optional<Boxes> bars;
    for (const PictureShape& shape : picture.shapes) {
      if (const Boxes* boxes = std::get_if<Boxes>(&shape)) bars = *boxes;
    }
    ASSERT_TRUE(bars && bars->boxes.size() == 10);
    std::vector<double> counts(10);
    for (const double value : values) counts[std::min(9, static_cast<int>((value + 1) * 5))] += 1;
    for (int n = 0; n < 10;
         ++n) {  // the ends of the range are not exactly -1 and 1: one value may change sides
      EXPECT_NEAR(bars->boxes[n].height / bars->boxes[0].height, counts[n] / counts[0], 2 / counts[0]);
    }
  }
  EXPECT_NO_THROW(histogram_picture({3, 3, 3}, 0));
  EXPECT_NO_THROW(histogram_picture({3}, 0));
  EXPECT_THROW(histogram_picture({}, 0), Error);
  EXPECT_THROW(histogram_picture({std::nan("")}, 0), Error);
  EXPECT_THROW(histogram_picture({-1e308, 1e308}, 0), Error);
}

std::vector<Curve> curves() {
  std::vector<Curve> found{{"loss", {}, {}}, {"validation loss", {}, {}}};
  for (int n = 1; n <= 5000; ++n) {
    found[0].x.push_back(n);
    found[0].y.push_back(2 + 6 * std::exp(-n / 500.0) + 0.1 * std::sin(n));
    if (n % 500 == 0) {
      found[1].x.push_back(n);
      found[1].y.push_back(2.1 + 6 * std::exp(-n / 500.0));
    }
  }
  return found;
}

TEST(CurvePicture, AxesLegendAndLines) {
  for (const AxisScale scale : {AxisScale::kLinear, AxisScale::kLogarithmic}) {
    ChartOptions options;
    options.x_scale = options.y_scale = scale;
    options.x_name = "step";
    options.y_name = "loss per token";
    options.title = "Training";
    const Picture picture = curve_picture(curves(), options);
    EXPECT_THAT(faults(picture), ::testing::IsEmpty());
    for (const char* word : {"loss", "validation loss", "step", "loss per token", "Training"}) {
      EXPECT_TRUE(words(picture).contains(word)) << word;
    }
  }
}

TEST(CurvePicture, PicturesAreStacked) {
  ChartOptions options;
  options.title = "first";
  Picture both = curve_picture(curves(), options);
  const double height = both.height;
  options.title = "second";
  const Picture second = curve_picture({{.name = "best", .x = {1}, .y = {2}, .marked = true}}, options);
  both.add_below(second);
  EXPECT_EQ(both.height, height + second.height);
  EXPECT_THAT(faults(both), ::testing::IsEmpty());
  const std::vector<Text> all = both.texts(), moved = second.texts();
  for (size_t n = 1; n <= moved.size(); ++n) {
    EXPECT_DOUBLE_EQ(all[all.size() - n].at.y, moved[moved.size() - n].at.y + height);
    EXPECT_DOUBLE_EQ(all[all.size() - n].bounds.top, moved[moved.size() - n].bounds.top + height);
  }
  EXPECT_TRUE(words(both).contains("first") && words(both).contains("second"));
}

TEST(CurvePicture, PeaksSurviveThinning) {
  std::vector<Curve> peak = curves();
  peak[0].y[2345] = 50;
  const Axis x_axis(1, 5000, 5), y_axis(0, 50, 5);
  const auto lines = curve_lines(peak[0], x_axis, y_axis, 100);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_LE(lines[0].size(), 4U * 101);
  double highest = 0;
  for (const auto& [x, y] : lines[0]) highest = std::max(highest, y);
  EXPECT_DOUBLE_EQ(highest, 1);
}

TEST(CurvePicture, BreaksAtNan) {
  std::vector<Curve> broken = curves();
  broken[0].y[100] = std::nan("");
  broken[0].y[101] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(curve_lines(broken[0], Axis(1, 5000, 5), Axis(0, 9, 5), 400).size(), 2U);
  EXPECT_NO_THROW(curve_picture(broken));
}

TEST(CurvePicture, RefusesInvalidCurves) {
  EXPECT_THROW(curve_picture({}), Error);
  EXPECT_THROW(curve_picture({{"a", {1, 2}, {1}}}), Error);
  EXPECT_THROW(curve_picture({{"a", {1}, {std::nan("")}}}), Error);
  ChartOptions options;
  options.y_scale = AxisScale::kLogarithmic;
  EXPECT_THROW(curve_picture({{"a", {1, 2}, {1, 0}}}, options), Error);
  options.y_scale = AxisScale::kLinear;
  options.width = 50;
  EXPECT_THROW(curve_picture({{"a", {1, 2}, {1, 0}}}, options), Error);
}

}  // namespace
}  // namespace heed
