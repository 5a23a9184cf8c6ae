#include "heed/picture.h"

#include <filesystem>
#include <limits>

#include "base/files/file.h"
#include "gtest/gtest.h"
#include "heed/error.h"
#include "inspect/draw/matrix_picture.h"
#include "test_folder.h"

namespace heed {
namespace {

Trace small_trace() {
  Trace trace;
  trace.source = "ein Hund";
  trace.source_tokens = {"▁ein", "▁Hund"};
  trace.encoder = {{{2, 2, {0.25f, 0.75f, 1, 0}}}};
  return trace;
}

TEST(PublicPictures, AreFilesOfTheKindThatTheirNameSays) {
  const TestFolder folder;
  const auto beginning = [&](const std::string& name) { return read_file(folder.path(name)).substr(0, 5); };
  save_attention(folder.path("a.png"), small_trace());
  EXPECT_EQ(beginning("a.png").substr(1, 3), "PNG");
  save_lines(folder.path("l.svg"), {{"loss", {1, 2, 3}, {3, 2, 1}}}, {"Training", "step", "loss"});
  EXPECT_EQ(beginning("l.svg"), "<?xml");
  save_bars(folder.path("b.pdf"), {"ein", "Hund"}, {0.25, 0.75});
  EXPECT_EQ(beginning("b.pdf"), "%PDF-");
  save_histogram(folder.path("h.png"), {1, 2, 2, 3, 3, 3}, {}, 3);
  save_heatmaps(folder.path("m.png"), {{"scores", Tensor::from<float>({-15, 0, 15, 3}, {2, 2})}},
                {.least = -15, .most = 15});
  EXPECT_GT(std::filesystem::file_size(folder.path("h.png")), 500u);
  EXPECT_GT(std::filesystem::file_size(folder.path("m.png")), 500u);
  EXPECT_NE(attention_text(small_trace()).find("Hund"), std::string::npos);
}

TEST(PublicPictures, RefuseWhatCannotBeDrawn) {
  const TestFolder folder;
  const Tensor matrix = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const auto draw = [&](const Heatmap& one, const HeatmapOptions& options = {}) {
    save_heatmaps(folder.path("x.png"), {one}, options);
  };
  EXPECT_THROW(draw({"cube", matrix.reshape({1, 2, 3})}), Error);
  EXPECT_THROW(draw({"none", {}}), Error);
  EXPECT_THROW(draw({"names", matrix, {"one"}}), Error);
  EXPECT_THROW(draw({"scale", matrix}, {.least = 1, .most = 1}), Error);
  EXPECT_THROW(draw({"nan", Tensor::from<float>({std::numeric_limits<float>::quiet_NaN()}, {1, 1})}), Error);
  EXPECT_THROW(save_heatmaps(folder.path("x.png"), {}), Error);
  EXPECT_THROW(save_bars(folder.path("x.gif"), {"a"}, {1}), Error);
  EXPECT_FALSE(std::filesystem::exists(folder.path("x.png")));
}

/// The numbers in the cells are those of the matrix, and names stand beside their rows.
TEST(MatrixPicture, WritesNamesAndNumbers) {
  const Picture picture =
      matrix_picture({{"masked", {2, 2, {0, 1, 0.5f, 0.5f}}, {"first", "second"}, {"a", "b"}}},
                     {.scale = "weight", .decimals = 2});
  std::vector<std::string> texts;
  for (const Text& text : picture.texts()) {
    texts.push_back(text.label.text);
    EXPECT_GE(text.bounds.left, 0) << text.label.text;
    EXPECT_LE(text.bounds.right(), picture.width) << text.label.text;
    EXPECT_LE(text.bounds.bottom(), picture.height) << text.label.text;
  }
  for (const char* wanted : {"masked", "first", "second", "a", "b", "0.00", "1.00", "0.50", "weight"}) {
    EXPECT_NE(std::find(texts.begin(), texts.end(), wanted), texts.end()) << wanted;
  }
}

/// Minus infinity is grey and hatched, unlike the lowest score, and the legend names it.
TEST(MatrixPicture, MaskedCellsAreNotLowScores) {
  constexpr float kMasked = -std::numeric_limits<float>::infinity();
  const auto draw = [](const std::vector<float>& values) {
    return matrix_picture({{"scores", {1, 2, values}}},
                          {.x_name = "key", .y_name = "query", .least = -3, .most = 3, .decimals = 0});
  };
  const auto texts = [](const Picture& picture) {
    std::vector<std::string> found;
    for (const Text& text : picture.texts()) {
      found.push_back(text.label.text);
      EXPECT_GE(text.bounds.left, 0) << text.label.text;
      EXPECT_LE(text.bounds.right(), picture.width) << text.label.text;
      EXPECT_LE(text.bounds.bottom(), picture.height) << text.label.text;
    }
    return found;
  };
  const auto count = [](const std::vector<std::string>& all, const char* one) {
    return std::count(all.begin(), all.end(), one);
  };
  const auto greys = [](const Picture& picture) {
    int found = 0;
    for (const PictureShape& shape : picture.shapes) {
      const Boxes* boxes = std::get_if<Boxes>(&shape);
      if (boxes != nullptr && boxes->fill == Colour{0.87, 0.87, 0.87}) ++found;
    }
    return found;
  };
  const Picture masked = draw({kMasked, 1}), low = draw({-3, 1});
  EXPECT_EQ(greys(masked), 1 + 2) << "a cell, and two in the legend";
  EXPECT_EQ(greys(low), 0);
  EXPECT_EQ(count(texts(masked), "masked (\u2212\u221E)"), 1);
  EXPECT_EQ(count(texts(masked), "\u2212\u221E"), 1);
  EXPECT_EQ(count(texts(low), "masked (\u2212\u221E)"), 0);
  for (const char* name : {"key", "query"}) EXPECT_EQ(count(texts(masked), name), 1) << name;
  EXPECT_THROW(draw({-kMasked, 1}), Error) << "plus infinity has no colour";
}

}  // namespace
}  // namespace heed
