// Files of torch.save, as PyTorch itself and an attacker write them: good ones give the reference's logits,
// hostile ones are refused, and nothing in them is executed.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "io/torch/torch_file.h"
#include "model_reference.h"
#include "models/directory/loaded_model.h"
#include "models/seq2seq.h"
#include "reference.h"
#include "test_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

/// The case's model without weights, which a test gives it.
class HostileFiles : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::is_directory(families_folder())) GTEST_SKIP() << missing_families();
    for (const std::string& name : fixture_cases("marian_formats", families_folder())) {
      ReferenceCase reference(name, "", families_folder());
      if (reference.json().contains("refuse")) reference_.emplace(std::move(reference));
    }
    ASSERT_TRUE(reference_);
    copy_folder(reference_->folder() / "model", folder_.path("model"));
  }
  /// Loads the model with one of the case's files as its weights.
  models::LoadedModel load(const std::string& file) const {
    const fs::path weights = folder_.path("model/pytorch_model.bin");
    fs::remove(weights);  // it is as read-only as the fixture
    fs::copy_file(reference_->folder() / file, weights);
    return models::load_model(folder_.path("model"));
  }

  std::optional<ReferenceCase> reference_;
  TestFolder folder_;
};

TEST_F(HostileFiles, AreRefused) {
  const std::string mark = reference_->hyperparameters().at("mark");
  fs::remove(mark);
  size_t refused = 0;
  for (const auto& each : reference_->json().at("refuse")) {
    const std::string file = each.at("file");
    SCOPED_TRACE(file + ": " + each.at("what").get<std::string>());
    try {
      load(file);
      EXPECT_FALSE(each.at("must").get<bool>()) << "the file was read";
    } catch (const Error& error) {
      EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(ErrorKind::kFormat)) << error.what();
      ++refused;
      RecordProperty(file, error.what());
    }
    EXPECT_FALSE(fs::exists(mark) || fs::exists(folder_.path("model/" + mark))) << "the file was executed";
  }
  EXPECT_GT(refused, 0U);
}

TEST_F(HostileFiles, GoodFilesBesideThemGiveTheReferenceLogits) {
  for (const auto& each : reference_->json().at("accept")) {
    const std::string file = each;
    const models::LoadedModel loaded = load(file);
    nn::Context context = loaded.context();
    const Sequences source = sequences_of(reference_->tensor("input.source"), -1);
    const Sequences input = sequences_of(reference_->tensor("input.decoder_input"), -1);
    expect_rows(loaded.seq2seq().logits(context, source, input), reference_->tensor("expected.logits"),
                input.offsets, reference_->tolerance("expected.logits", "float32"), file);
  }
}

}  // namespace
}  // namespace heed
