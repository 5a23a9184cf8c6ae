// heed quantize: a model with 8-bit weights.

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/check.h"
#include "base/file.h"
#include "base/json_file.h"
#include "cli/command.h"
#include "cli/model_lookup.h"
#include "cli/new_directory.h"
#include "io/weight_files.h"
#include "models/model_directory.h"

namespace heed::cli {
namespace {

struct QuantizeOptions {
  std::string input, output;
  bool quiet = false;
};

/// config.json as it was, and that the weights are quantised.
void write_config(const std::string& input, const std::string& output) {
  auto config = parse_ordered_json(read_file(input + "/config.json"), input + "/config.json");
  models::note_quantization(config);
  write_json(output + "/config.json", config);
}

int run_quantize(const QuantizeOptions& o) {
  const std::string input = model_directory_at(o.input, "MODEL");
  if (models::is_quantized(JsonObject::read(input + "/config.json"))) {
    fail(ErrorKind::kUsage, "'{}' is quantised already; it can be used as it is", input);
  }
  NewDirectory output(o.output);
  const models::LoadedModel loaded = models::load_model(input, {.precision = models::Precision::kInt8});
  models::write_quantized_weights(output.part(), loaded.model->table(), loaded.values, *loaded.quantized);
  copy_others(input, output.part());
  write_config(input, output.part());
  const double megabytes = static_cast<double>(WeightFiles::open(output.part()).bytes()) / 1e6;
  const double before = static_cast<double>(WeightFiles::open(input).bytes()) / 1e6;
  output.commit();
  if (!o.quiet) {
    std::fprintf(stderr, "%s: weights in int8, %.1f MB (before: %.1f MB)\n", o.output.c_str(), megabytes,
                 before);
  }
  return kExitDone;
}

}  // namespace

void add_quantize(Command& app, Work& work) {
  auto o = std::make_shared<QuantizeOptions>();
  Command* command = app.add_subcommand("quantize", "A model with 8-bit weights, a quarter as large");
  command->footer(
      "Example:\n  heed quantize my-model my-model-int8\n  heed translate --model my-model-int8 \"Der Hund "
      "schläft.\"\n\n"
      "The new directory is a whole model, without what only training needs. Its matrices are whole numbers "
      "from\n"
      "-127 to 127 with a scale for each row, and products are computed in integers: faster, a little less\n"
      "exact. Sums of products are exact and equal on every processor. Softmax, norms and attention around\n"
      "them are float32, added up in the order of the instruction set, so that scores differ by some 0.01\n"
      "between processors with AVX-512, with AVX2 and without, and now and then a translation does.\n"
      "--precision int8 does the same to a float model as it is read.");
  command->add_option("MODEL", o->input, "The model directory")->required();
  command->add_option("OUTPUT", o->output, "The directory to make; must not exist")->required();
  command->add_flag("--quiet", o->quiet, "Nothing on standard error but errors");
  command->callback([o, &work] { work = [o] { return run_quantize(*o); }; });
}

}  // namespace heed::cli
