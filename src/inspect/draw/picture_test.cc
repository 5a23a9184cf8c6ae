#include "inspect/draw/picture.h"

#include <cairo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>

#include "base/files/file.h"
#include "heed/error.h"
#include "inspect/draw/attention_picture.h"
#include "inspect/draw/elements/heat_map.h"
#include "inspect/draw/matrix_picture.h"
#include "inspect/draw/picture_file.h"
#include "inspect/draw/test_pictures.h"
#include "inspect/trace/test_traces.h"

namespace heed {
namespace {

using ::testing::HasSubstr;

using testing::faults;
using testing::words;

/// The colour drawn last at a point, from the list of shapes.
Colour colour_at(const Picture& picture, Point point) {
  Colour colour = picture.background;
  for (const PictureShape& shape : picture.shapes) {
    const Boxes* boxes = std::get_if<Boxes>(&shape);
    if (boxes == nullptr) continue;
    for (const Box& box : boxes->boxes) {
      if (point.x > box.left && point.x < box.right() && point.y > box.top && point.y < box.bottom())
        colour = boxes->fill;
    }
  }
  return colour;
}

struct PngReader {
  const std::string& bytes;
  size_t used = 0;
};

/// Reads a PNG back and returns the colour of a pixel.
Colour png_pixel(const std::string& bytes, int x, int y) {
  PngReader reader{bytes};
  const auto read = [](void* closure, unsigned char* data, unsigned length) {
    auto* from = static_cast<PngReader*>(closure);
    if (from->used + length > from->bytes.size()) return CAIRO_STATUS_READ_ERROR;
    std::memcpy(data, from->bytes.data() + from->used, length);
    from->used += length;
    return CAIRO_STATUS_SUCCESS;
  };
  cairo_surface_t* surface = cairo_image_surface_create_from_png_stream(read, &reader);
  EXPECT_EQ(cairo_surface_status(surface), CAIRO_STATUS_SUCCESS);
  uint32_t pixel = 0;
  std::memcpy(&pixel,
              cairo_image_surface_get_data(surface) + y * cairo_image_surface_get_stride(surface) + 4 * x, 4);
  cairo_surface_destroy(surface);
  return Colour::from_hex(pixel & 0xffffff);
}

using testing::trace_of;

TEST(Faults, AreClassified) {  // the negative control of the tests below
  Picture picture;
  picture.width = picture.height = 100;
  Text text;
  text.label.text = "one";
  text.at = {10, 50};
  picture.add(text);
  EXPECT_TRUE(faults(picture).empty());
  text.label.text = "two";
  text.at = {12, 52};
  picture.add(text);
  EXPECT_EQ(faults(picture).size(), 1U);
  text.at = {90, 20};
  picture.add(text);
  EXPECT_EQ(faults(picture).size(), 2U);
}

TEST(AttentionPicture, NothingOverlapsOrIsClipped) {
  for (const int tokens : {1, 2, 3, 10, 25, 40, 100}) {
    for (const auto& [layers, heads] : {std::pair{1, 1}, std::pair{1, 7}, std::pair{2, 8}}) {
      for (const bool values : {false, true}) {
        if (values && tokens > 25) continue;  // one number per cell: too many to compare in a short test
        PictureOptions options;
        options.values = values;
        options.title = "A title that is rather long for small pictures, so that it needs a second line";
        const Picture picture = attention_picture(trace_of(tokens, layers, heads), options);
        EXPECT_THAT(faults(picture), ::testing::IsEmpty()) << tokens << " tokens, " << heads << " heads";
      }
    }
  }
}

TEST(AttentionPicture, NothingOverlapsInAnyShape) {
  const Trace trace = trace_of(12, 2, 4);
  for (const double cell : {0.0, 2.0, 7.0, 60.0}) {
    for (const double font : {4.0, 9.0, 18.0}) {
      for (const int per_row : {0, 1, 3, 4}) {
        PictureOptions options;
        options.cell = cell;
        options.font_size = font;
        options.heads_per_row = per_row;
        EXPECT_THAT(faults(attention_picture(trace, options)), ::testing::IsEmpty())
            << "cell " << cell << ", font " << font << ", " << per_row << " heads per row";
      }
    }
  }
}

TEST(AttentionPicture, HasAllLabels) {
  const Trace trace = trace_of(10, 2, 8);
  const auto found = words(attention_picture(trace));
  for (const char* word : {"Encoder layer 1", "Decoder layer 2", "Cross-attention layer 1", "Head 1",
                           "Head 8", "attention weight", "0", "1", "queries: target", "keys: source"}) {
    EXPECT_TRUE(found.contains(word)) << word;
  }
  EXPECT_EQ(found.count("Head 3"), 6U);
  for (const Label& label : token_labels(trace.source_tokens, "_"))
    EXPECT_GE(found.count(label.text), 6U) << label.text;
  EXPECT_TRUE(words(attention_picture(mean_over_heads(trace))).contains("Mean of heads"));
}

TEST(AttentionPicture, LongTokensAreElided) {
  const Picture picture = attention_picture(trace_of(12, 1, 1));
  const std::vector<Text> texts = picture.texts();
  const auto longest = std::find_if(texts.begin(), texts.end(), [](const Text& text) {
    return text.max_width > 0 && text.label.text.find("_Donau") == 0;
  });
  ASSERT_NE(longest, texts.end());
  EXPECT_TRUE(longest->elided);
  EXPECT_LE(std::max(longest->bounds.width, longest->bounds.height), PictureOptions().max_label_width + 1);
}

TEST(AttentionPicture, SelectedHeadsKeepTheirNumbers) {
  const auto found = words(attention_picture(select(trace_of(5, 3, 4), parse_selection("cross", "3", "2"))));
  EXPECT_TRUE(found.contains("Cross-attention layer 3"));
  EXPECT_TRUE(found.contains("Head 2"));
  EXPECT_FALSE(found.contains("Head 1"));
}

TEST(AttentionPicture, RefusesInvalidTraces) {
  Trace trace = trace_of(4, 1, 1);
  EXPECT_THROW(attention_picture(Trace{}), Error);
  trace.cross[0][0].weights[2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(attention_picture(trace), Error);
  EXPECT_THROW(attention_picture(trace_of(420, 2, 4)), Error);  // more than a million and a half cells
  PictureOptions options;
  options.font_size = 0;
  EXPECT_THROW(attention_picture(trace_of(4, 1, 1), options), Error);
}

MatrixPlot small_plot() {
  constexpr float kMasked = -std::numeric_limits<float>::infinity();
  return {"plot", {2, 2, {-0.001f, 0.5f, kMasked, -0.3f}}, {"first", "second"}, {"a", "b"}};
}

TEST(MatrixPicture, LongTitlesAndScalesAreComplete) {
  const std::string title = "A sentence that is much wider than the two columns of the matrix below it",
                    scale = "probability of the expected token";
  const Picture picture = matrix_picture({small_plot()}, {.title = title, .scale = scale});
  EXPECT_THAT(faults(picture), ::testing::IsEmpty());
  size_t found = 0;
  for (const Text& text : picture.texts()) {
    if (text.label.text == title || text.label.text == scale) found += text.elided ? 0 : 1;
  }
  EXPECT_EQ(found, 2u);
  EXPECT_THAT(faults(matrix_picture({small_plot()}, {.title = title + ". " + title + ". " + title + "."})),
              ::testing::IsEmpty());
}

TEST(MatrixPicture, ScalesOfAnyNumbersCanBeRead) {
  for (const auto& [least, most] : {std::pair{-0.32614, 0.50713}, std::pair{-1.23456e-7, 9.87654e9}}) {
    MatrixPictureOptions options{.scale = "", .least = least, .most = most};
    EXPECT_THAT(faults(matrix_picture({small_plot()}, options)), ::testing::IsEmpty());
    set_colour_range(options, least, most);
    EXPECT_LE(options.least, least + 1e-9 * most);
    EXPECT_GE(options.most, most);
    EXPECT_THAT(faults(matrix_picture({small_plot()}, options)), ::testing::IsEmpty());
  }
  MatrixPictureOptions options;
  set_colour_range(options, -0.32614, 0.50713);
  EXPECT_DOUBLE_EQ(options.least, -0.4);
  EXPECT_DOUBLE_EQ(options.most, 0.6);
}

TEST(MatrixPicture, EachRowOfPlotsIsAsHighAsItsOwn) {
  const MatrixPlot tall{"tall", {7, 2, std::vector<float>(14, 0.5f)}, {}, {"a", "a longer name"}};
  MatrixPictureOptions options{.plots_per_row = 1, .cell = 20};
  const auto height = [&](const std::vector<MatrixPlot>& plots) {
    return matrix_picture(plots, options).height;
  };
  const double saved = height({tall, tall}) - height({tall, small_plot()});
  EXPECT_GE(saved, 5 * options.cell);  // and the room of the longer name
  EXPECT_EQ(height({small_plot(), tall}), height({tall, small_plot()}));
  options.plots_per_row = 2;
  EXPECT_EQ(height({small_plot(), tall}), height({tall, tall}));
}

TEST(MatrixPicture, CellsHaveNoNegativeZero) {
  const auto found = words(matrix_picture(
      {small_plot()}, {.least = -1, .decimals = 1, .masked = "not read", .masked_number = ""}));
  EXPECT_TRUE(found.contains("0.0") && found.contains("-0.3") && found.contains("not read"));
  EXPECT_FALSE(found.contains("-0.0"));
  EXPECT_FALSE(found.contains("\u2212\u221E"));
  EXPECT_TRUE(words(matrix_picture({small_plot()}, {.least = -1, .decimals = 1})).contains("\u2212\u221E"));
}

TEST(HeatMap, DarkerMeansMore) {
  AttentionMatrix matrix{1, 101, {}};
  for (int n = 0; n <= 100; ++n) matrix.weights.push_back(static_cast<float>(n) / 100);
  Picture picture;
  picture.width = 1010;
  picture.height = 10;
  HeatMapStyle style;
  style.cell = 10;
  draw_cells(picture, matrix, {0, 0}, style);
  double last = 101;
  for (int n = 0; n <= 100; ++n) {
    const double lightness = to_lab(colour_at(picture, {10.0 * n + 5, 5}))[0];
    EXPECT_LT(lightness, last) << n;
    last = lightness;
  }
}

TEST(HeatMap, RowsAreQueries) {
  Picture picture;
  picture.width = 30;
  picture.height = 20;
  HeatMapStyle style;
  style.cell = 10;
  draw_cells(picture, {2, 3, {0, 0.25F, 0.75F, 1, 0, 0}}, {0, 0}, style);
  const std::string png = render_picture(picture, PictureFormat::kPng);
  const auto weight_colour = [](double weight) { return level_colour(colour_level(weight)); };
  const auto expect_near = [](Colour one, Colour other) {
    EXPECT_NEAR(one.red, other.red, 1.0 / 255);  // a pixel has eight bits
    EXPECT_NEAR(one.green, other.green, 1.0 / 255);
    EXPECT_NEAR(one.blue, other.blue, 1.0 / 255);
  };
  expect_near(png_pixel(png, 50, 10), weight_colour(0.75));  // two pixels per point
  expect_near(png_pixel(png, 10, 30), weight_colour(1));
  expect_near(png_pixel(png, 30, 10), weight_colour(0.25));
}

// Two neighbours that share a pixel leave nothing of the background in it.
TEST(PictureFile, CellsHaveNoSeams) {
  for (const double edge : {20.0, 20.1, 20.25, 20.4}) {
    Picture picture;
    picture.width = picture.height = 40;
    const Colour blue{0, 0, 1}, red{1, 0, 0};
    picture.add(Boxes{{{0, 0, 40, edge}}, blue, true});
    picture.add(Boxes{{{0, edge, 40, 40 - edge}}, red, true});
    const std::string png = render_picture(picture, PictureFormat::kPng);
    for (int y = 0; y < 80; ++y) {
      const Colour pixel = png_pixel(png, 40, y);
      EXPECT_TRUE(pixel == blue || pixel == red) << edge << ": row " << y;
    }
  }
}

TEST(PictureFile, KindsByExtension) {
  EXPECT_EQ(picture_format("a/b.png"), PictureFormat::kPng);
  EXPECT_EQ(picture_format("b.SVG"), PictureFormat::kSvg);
  EXPECT_EQ(picture_format("x.y.pdf"), PictureFormat::kPdf);
  for (const char* path : {"a.jpg", "png", "a", "a.png/b", ""}) {
    try {
      picture_format(path);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_THAT(error.what(), HasSubstr(".png, .svg or .pdf"));
    }
  }
}

TEST(PictureFile, SameBytesEachTime) {
  const Picture picture = attention_picture(trace_of(6, 1, 2));
  for (const PictureFormat format : {PictureFormat::kPng, PictureFormat::kSvg, PictureFormat::kPdf}) {
    const std::string first = render_picture(picture, format);
    EXPECT_EQ(first, render_picture(picture, format));
    EXPECT_GT(first.size(), 1000U);
  }
  EXPECT_EQ(render_picture(picture, PictureFormat::kPng).substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(render_picture(picture, PictureFormat::kPdf).substr(0, 5), "%PDF-");
}

TEST(PictureFile, SvgHasATitle) {
  Trace trace = trace_of(3, 1, 1);
  trace.source = "a < b & ]]> \xFF\uFFFF";
  const std::string svg = render_picture(attention_picture(trace), PictureFormat::kSvg);
  EXPECT_THAT(svg, HasSubstr("<title>Attention: a &lt; b &amp; ]]&gt; \uFFFDU+FFFF</title>"));
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
}

TEST(PictureFile, WritesAreAtomic) {
  const std::string folder = ::testing::TempDir() + "heed_pictures_" + std::to_string(::getpid());
  make_directories(folder);
  const Picture picture = attention_picture(trace_of(3, 1, 1));
  save_picture(picture, folder + "/a.svg");
  EXPECT_EQ(read_file(folder + "/a.svg"), render_picture(picture, PictureFormat::kSvg));
  EXPECT_THROW(save_picture(picture, folder + "/missing/a.svg"), Error);
  EXPECT_THROW(save_picture(picture, folder + "/a.gif"), Error);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove_all(folder);
}

TEST(PictureFile, LargePicturesAreScaledOrRefused) {
  Picture picture;
  picture.height = 10;
  // 16577 (32767 / 16577) is a little more than 32767 in float64.
  for (const int width : {16577, 17047, 20000, 32753}) {
    picture.width = width;
    const std::string png = render_picture(picture, PictureFormat::kPng);
    const auto byte = [&](size_t n) { return static_cast<unsigned>(static_cast<unsigned char>(png[n])); };
    EXPECT_EQ((byte(16) << 24 | byte(17) << 16 | byte(18) << 8 | byte(19)), 32767U)  // the width of a PNG
        << width;
  }
  picture.width = 200000;
  picture.height = 100;
  EXPECT_THROW(render_picture(picture, PictureFormat::kPng), Error);
}

}  // namespace
}  // namespace heed
