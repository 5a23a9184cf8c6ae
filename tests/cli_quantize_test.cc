// Command tests of heed quantize and --precision.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/files/file.h"
#include "base/files/part_files.h"
#include "base/text/json_file.h"
#include "cli/files/new_directory.h"
#include "command.h"
#include "heed/positions.h"
#include "io/safetensors/safetensors.h"
#include "io/weight_files.h"
#include "kernels/simd/isa.h"
#include "test_folder.h"
#include "tiny_model.h"

namespace heed {
namespace {

using testing::HasSubstr;

class CliQuantizeTest : public testing::Test {
 protected:
  void SetUp() override {
    const CommandResult made = heed_command({"quantize", tiny_model(), quantized_});
    ASSERT_EQ(made.status, 0) << made.err;
    EXPECT_THAT(made.err, HasSubstr("weights in int8"));
    std::string lines;
    for (const SentencePair& pair : tiny_pairs(60, 9)) lines += pair.source + "\n";
    input_ = folder_.write("input", lines);
  }
  CommandResult translate(std::vector<std::string> options) const {
    options.insert(options.begin(), {"translate", "--input", input_, "--scores"});
    return heed_command(options);
  }
  TestFolder folder_;
  std::string quantized_ = folder_.path("int8"), input_;
};

TEST_F(CliQuantizeTest, AQuantizedModelIsAFloatModelWithPrecisionInt8) {
  const CommandResult stored = translate({"--model", quantized_});
  ASSERT_EQ(stored.status, 0) << stored.err;
  const CommandResult on_the_way = translate({"--model", tiny_model(), "--precision", "int8"});
  EXPECT_EQ(stored.out, on_the_way.out);
  const CommandResult floats = translate({"--model", tiny_model()});
  EXPECT_NE(stored.out, floats.out) << "scores to the last digit: nothing was quantized";
  EXPECT_EQ(floats.out, translate({"--model", tiny_model(), "--precision", "float32"}).out);
}

// Files may hold the sinusoidal positions, rounded to 16 bits; their model computes with these.
TEST_F(CliQuantizeTest, StoredPositionsStay) {
  const std::string rounded = folder_.path("rounded");
  std::filesystem::copy(tiny_model(), rounded, std::filesystem::copy_options::recursive);
  const WeightFiles files = WeightFiles::open(tiny_model());
  const int64_t width = JsonObject::read(rounded + "/config.json").integer("d_model");
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (const std::string& name : files.names()) tensors.emplace_back(name, files.read(name));
  const Tensor positions = sinusoidal_positions(64, width, SinusoidLayout::kHalves).to(DType::kBFloat16);
  for (const char* stack : {"encoder", "decoder"})
    tensors.emplace_back(fmt::format("model.{}.embed_positions.weight", stack), positions);
  write_safetensors(rounded + "/model.safetensors", tensors, {{"format", "pt"}});
  const std::string expected = translate({"--model", rounded, "--precision", "int8"}).out;
  ASSERT_NE(expected, translate({"--model", quantized_}).out) << "the rounding changes no score";
  for (const char* bits : {"8", "4"}) {
    const std::string stored = folder_.path(fmt::format("rounded-int{}", bits));
    const CommandResult made = heed_command({"quantize", rounded, stored, "--bits", bits});
    ASSERT_EQ(made.status, 0) << made.err;
    EXPECT_EQ(translate({"--model", stored}).out,
              translate({"--model", rounded, "--precision", fmt::format("int{}", bits)}).out);
  }
}

TEST_F(CliQuantizeTest, FourBits) {
  const std::string in_4_bits = folder_.path("int4");
  const CommandResult made = heed_command({"quantize", "--bits", "4", tiny_model(), in_4_bits});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("weights in int4"));
  EXPECT_THAT(heed_command({"info", "--model", in_4_bits}).out, HasSubstr("int4"));
  const CommandResult stored = translate({"--model", in_4_bits});
  EXPECT_EQ(stored.out, translate({"--model", tiny_model(), "--precision", "int4"}).out);
  EXPECT_EQ(stored.out, translate({"--model", in_4_bits, "--threads", "1", "--batch-tokens", "30"}).out);
  const CommandResult other = translate({"--model", in_4_bits, "--precision", "int8"});
  EXPECT_EQ(other.status, 2) << other.err;
  EXPECT_THAT(other.err, HasSubstr("have 4 bits: for int8, use the float model"));
  EXPECT_EQ(heed_command({"quantize", "--bits", "5", tiny_model(), folder_.path("int5")}).status, 2);
}

TEST_F(CliQuantizeTest, ThreadsAndBatchesDoNotChangeResults) {
  const CommandResult together = translate({"--model", quantized_, "--threads", "2"});
  EXPECT_EQ(together.out, translate({"--model", quantized_, "--threads", "1", "--batch-tokens", "30"}).out);
}

// Products are exact integers, so scores are bit-identical with and without VNNI. Other instruction sets can
// differ, since they add float32 in another order.
TEST_F(CliQuantizeTest, SameResultWithAndWithoutVnni) {
  const auto on = [&](const std::string& isa) {
    const CommandResult result =
        heed_command({"translate", "--model", quantized_, "--input", input_, "--scores"},
                     {.environment = {"HEED_ISA=" + isa}});
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  };
  const std::vector<std::string> isas = available_isas();
  const auto has = [&](const char* isa) { return std::find(isas.begin(), isas.end(), isa) != isas.end(); };
  for (const auto& [without, with] : {std::pair("avx2", "avxvnni"), std::pair("avx512", "avx512vnni")}) {
    if (!has(with)) continue;
    EXPECT_EQ(on(without), on(with)) << with;
  }
  if (!has("avx2")) return;
  EXPECT_NE(on("generic"), on("avx2")) << "scores to the last digit";
}

TEST_F(CliQuantizeTest, SimilarTranslationQuality) {
  const std::string pairs = folder_.write("pairs.tsv", to_tsv(tiny_pairs(100, 9)));
  const auto bleu = [&](const std::string& model) {
    const CommandResult result = heed_command({"evaluate", "--model", model, "--pairs", pairs, "--json"});
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(result.out)["bleu"].get<double>();
  };
  EXPECT_NEAR(bleu(quantized_), bleu(tiny_model()), 2);
}

TEST_F(CliQuantizeTest, OtherCommandsOpenIt) {
  const std::string pairs = folder_.write("pairs.tsv", to_tsv(tiny_pairs(2, 9)));
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"attend", "Der alte Hund sieht den Mann.", "--stack", "cross"},
        {"score", "--pairs", pairs},
        {"align", "--pairs", pairs},
        {"info"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--model", quantized_});
    const CommandResult result = heed_command(arguments);
    EXPECT_EQ(result.status, 0) << command[0] << ": " << result.err;
    EXPECT_FALSE(result.out.empty()) << command[0];
    if (command[0] == "info") {
      EXPECT_THAT(result.out, HasSubstr("int8"));
    }
  }
  const auto parameters = [](const std::string& model) {
    return nlohmann::json::parse(heed_command({"info", model, "--json"}).out)["parameters"].get<int64_t>();
  };
  EXPECT_EQ(parameters(quantized_), parameters(tiny_model())) << "scales are no parameters";
}

TEST_F(CliQuantizeTest, RefusesUnsupportedCases) {
  expect_failure(heed_command({"quantize", quantized_, folder_.path("again")}), 2, {"already quantized"});
  EXPECT_FALSE(std::filesystem::exists(folder_.path("again")));
  expect_failure(heed_command({"quantize", tiny_model(), quantized_}), 1, {"already exists"});
  expect_failure(heed_command({"quantize", folder_.path("none"), folder_.path("b")}), 1, {"does not exist"});
  for (const char* to : {"heed", "huggingface", "ctranslate2"}) {
    expect_failure(heed_command({"convert", quantized_, folder_.path("c"), "--to", to}), 2,
                   {"convert the original model"});
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path("c")));
  expect_failure(heed_command({"translate", "--model", quantized_, "--precision", "int4", "a"}), 2, {"int4"});
  const std::string pairs = folder_.write("pairs.tsv", to_tsv(tiny_pairs(9, 9)));
  expect_failure(heed_command({"train", "--from", quantized_, "--pairs", pairs, "--output", folder_.path("d"),
                               "--max-steps", "1"}),
                 2, {"train the original float model"});
}

TEST(NewDirectory, MountPointsAreRefusedBeforeTheWork) {
  const TestFolder folder;
  for (const char* name : {"host", "model"}) std::filesystem::create_directory(folder.path(name));
  const std::string path = folder.path("model");
  EXPECT_NO_THROW(cli::NewDirectory{path});  // the control
  if (::mount(folder.path("host").c_str(), path.c_str(), nullptr, MS_BIND, nullptr) != 0)
    GTEST_SKIP() << "mounting needs root";
  expect_error(ErrorKind::kFile, "it is a mount point", [&] { cli::NewDirectory{path}; });
  EXPECT_NO_THROW({
    cli::NewDirectory inside(path + "/inside");
    inside.commit();
  });
  EXPECT_EQ(::umount(path.c_str()), 0);
  EXPECT_TRUE(std::filesystem::exists(folder.path("host") + "/inside"));
}

TEST(NewDirectory, IsMadeWhileOthersRemoveAbandonedOnes) {
  const TestFolder folder;
  const std::string path = folder.path("model");
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done) remove_dead_parts_of(path);
  });
  EXPECT_NO_THROW({
    for (int n = 0; n < 200; ++n) {
      const cli::NewDirectory directory(path);
      write_file(directory.part() + "/file", "content");
    }
  });
  done = true;
  other.join();
}

}  // namespace
}  // namespace heed
