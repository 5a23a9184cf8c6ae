#include "train/reduce/rank_checks.h"

#include <chrono>
#include <filesystem>
#include <thread>

#include "base/check.h"
#include "base/files/fingerprint.h"
#include "base/text/option_error.h"
#include "distributed/agreement.h"
#include "distributed/build_fingerprint.h"
#include "heed/version.h"
#include "kernels/simd/isa.h"
#include "train/tasks/task.h"

namespace heed::train {
namespace {

using distributed::Fact;

/// Network file systems may show new files late.
constexpr std::chrono::seconds kMaxWait(30);
constexpr std::chrono::milliseconds kTick(100);

/// Without the paths of the corpora and the held-out text, which may be elsewhere on other machines: their
/// content is compared (require_equal_text). So may be the model to fine-tune, whose weights the first
/// process alone reads.
std::string recipe_text(Recipe recipe) {
  if (!recipe.from.empty()) recipe.from = "a model";
  for (CorpusSettings& each : recipe.corpora) each.pairs = each.source = each.target = "";
  for (std::string& path : recipe.cleaning.held_out) path = "a file";
  return to_toml(recipe);
}

}  // namespace

void require_equal_ranks(distributed::Communicator& ranks, const TrainerOptions& options) {
  if (ranks.size() == 1) return;
  std::vector<Fact> facts{{"the version of Heed", HEED_VERSION}};
  std::string builds;
  for (const auto& [name, value] : distributed::code_files()) builds += fmt::format("{} {}\n", name, value);
  facts.push_back({"the build of Heed or of a library that it computes with", builds,
                   "run the same program with the same libraries on all machines: from a shared directory, a "
                   "container image, or the same packages"});
  facts.push_back(
      {"the instruction set", isa_name(),
       "sums have other bits on another one; HEED_ISA in the environment (mpirun -x HEED_ISA=avx2) "
       "selects one that all processors have"});
  facts.push_back(
      {"the recipe", recipe_text(options.recipe), "give all processes the same recipe and settings"});
  facts.push_back(
      {"the options", option_text("$output {}\n$max_steps {}\n$max_minutes {}\n$max_epochs {}\n$languages "
                                  "{}-{}\n",
                                  options.output, options.max_steps, options.max_minutes, options.max_epochs,
                                  options.source_language, options.target_language)});
  distributed::require_equal(ranks, facts);
  const int64_t shards = int64_t{options.recipe.shard_count()} * options.recipe.gradient_accumulation;
  if (ranks.size() > shards) {
    throw distributed::AgreedError(
        ErrorKind::kUsage,
        fmt::format(
            "{} processes cannot share the {} shards of an update: start at most {}, or train from scratch "
            "with a larger training.shards (other shards give other weights)",
            ranks.size(), shards, shards));
  }
}

void require_equal_text(distributed::Communicator& ranks, uint64_t fingerprint) {
  distributed::require_equal(ranks,
                             {{"the content of the training or validation text", hexadecimal(fingerprint),
                               "every machine reads the text: give all of them the same files"}});
}

void require_equal_gradients(distributed::Communicator& ranks, uint64_t fingerprint) {
  distributed::require_equal(
      ranks,
      {{"the gradient of the first shard", hexadecimal(fingerprint),
        "the processors add in another order, although they have the same instruction set; try HEED_ISA=avx2 "
        "on all of them, or leave these machines out"}});
}

void wait_for_file(const std::string& path) {
  const auto end = std::chrono::steady_clock::now() + kMaxWait;
  while (!std::filesystem::exists(path)) {
    if (std::chrono::steady_clock::now() > end) {
      fail(ErrorKind::kNotFound, "'{}', which rank 0 wrote, is not here: {}", path, kNeedsSharedDirectory);
    }
    std::this_thread::sleep_for(kTick);
  }
}

}  // namespace heed::train
