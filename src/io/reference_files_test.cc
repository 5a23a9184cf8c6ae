// The reference cases are files written by other implementations: their case.json must match what is read.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "io/safetensors/safetensors.h"
#include "io/weight_files.h"
#include "reference.h"

namespace heed {
namespace {

TEST(ReferenceFiles, MatchTheirDescriptions) {
  const auto cases = fixture_cases("");
  if (cases.empty()) GTEST_SKIP() << missing_fixtures();
  int tensors = 0;
  for (const std::string& name : cases) {
    SCOPED_TRACE(name);
    const ReferenceCase reference(name);
    if (!reference.json().contains("tensors")) continue;
    EXPECT_EQ(reference.tensor_names().size(), reference.json()["tensors"].size());
    for (const auto& [tensor, row] : reference.json()["tensors"].items()) {
      const Tensor read = reference.tensor(tensor);
      EXPECT_EQ(name_of(read.dtype()), row["dtype"].get<std::string>()) << tensor;
      EXPECT_EQ(read.shape(), Shape(row["shape"].get<std::vector<int64_t>>())) << tensor;
      ++tensors;
    }
  }
  EXPECT_GT(tensors, 0);
}

TEST(ReferenceFiles, ModelsOpenAsWeightFiles) {
  const auto cases = fixture_cases("");
  if (cases.empty()) GTEST_SKIP() << missing_fixtures();
  int models = 0;
  for (const std::string& name : cases) {
    const auto folder = fixtures_folder() / name / "model";
    if (!std::filesystem::exists(folder)) continue;
    const WeightFiles files = WeightFiles::open(folder.string());
    for (const std::string& tensor : files.names()) {
      std::vector<float> values(static_cast<size_t>(files.info(tensor).shape.size()));
      files.read_into(tensor, values.data(), files.info(tensor).shape);
      EXPECT_EQ(values, files.read(tensor).to_vector<float>()) << name << " " << tensor;
    }
    ++models;
  }
  EXPECT_GT(models, 0);
}

TEST(ExpectClose, FailsForShapesElementsAndNaN) {
  const Tensor zeros = Tensor::zeros({2, 2});
  expect_close(zeros, Tensor::from<double>({0, 0, 0, 1e-6}, {2, 2}), 1e-5, "within");
  EXPECT_NONFATAL_FAILURE(expect_close(zeros, Tensor::zeros({4}), 1, "shapes"), "(2, 2), expected (4)");
  EXPECT_NONFATAL_FAILURE(
      expect_close(zeros, Tensor::from<float>({0, 0.1f, 0, 0.5f}, {2, 2}), 0.25, "elements"),
      "1 of 4 elements of (2, 2) differ by more than 0.25; the worst, at [1, 1]");
  EXPECT_NONFATAL_FAILURE(expect_close(Tensor::from<float>({NAN}, {1}), Tensor::zeros({1}), 1e9, "nan"),
                          "nan");
}

}  // namespace
}  // namespace heed
