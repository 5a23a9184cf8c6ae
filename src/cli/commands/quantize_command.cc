// heed quantize: quantizes the weights of a model to 8 or 4 bits.

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "base/check.h"
#include "base/files/file.h"
#include "base/text/json_file.h"
#include "cli/files/model_lookup.h"
#include "cli/files/new_directory.h"
#include "cli/options/checked_options.h"
#include "cli/options/command.h"
#include "models/config/precision_names.h"
#include "models/directory/loaded_model.h"
#include "models/directory/model_directory.h"

namespace heed::cli {
namespace {

struct QuantizeOptions {
  std::string input, output;
  std::string bits = "8";
  bool quiet = false;
};

/// Copies config.json and marks the weights as quantized.
void write_config(const ModelInventory& input, const std::string& output, int bits) {
  const std::string path = input.path(model_file::kConfig);
  auto config = parse_ordered_json(read_file(path), path);
  models::note_quantization(config, bits);
  write_json(output + "/" + model_file::kConfig, config);
}

int run_quantize(const QuantizeOptions& o) {
  require_argument(o.input, "MODEL", "--model");
  require_argument(o.output, "OUTPUT", "--output");
  const models::ModelDirectory model = models::ModelDirectory::open(model_directory_at(o.input, "MODEL"));
  if (model.quantized_bits() != 0) {
    fail(ErrorKind::kUsage, "'{}' is already quantized; use it directly", model.path());
  }
  if (model.is_ctranslate2()) {
    fail(ErrorKind::kUsage,
         "'{}' is a directory of CTranslate2: convert it with heed convert first, or translate with "
         "--precision int8 or int4",
         model.path());
  }
  const models::Precision precision = *models::precision_named("int" + o.bits);
  NewDirectory output(o.output);
  const models::LoadedModel loaded = models::load_model(model, {.precision = precision});
  models::write_quantized_weights(output.part(), loaded.model->table(), loaded.values, *loaded.quantized,
                                  *model.weights());
  copy_others(model.files(), output.part());
  write_config(model.files(), output.part(), models::integer_bits(precision));
  const double megabytes = static_cast<double>(WeightFiles::open(output.part()).bytes()) / 1e6;
  const double before = static_cast<double>(model.weights()->bytes()) / 1e6;
  output.commit();
  if (!o.quiet) {
    std::fprintf(stderr, "wrote %s: weights in %s, %.1f MB (before: %.1f MB)\n", o.output.c_str(),
                 models::name_of(precision).c_str(), megabytes, before);
  }
  return kExitDone;
}

}  // namespace

void add_quantize(Command& app, Work& work) {
  auto [command, o] =
      add_command(app, work, "quantize",
                  "Quantize the weights of a model to 8 bits, a quarter of the size, or 4", run_quantize);
  command->footer(R"(Example:
  heed quantize my-model my-model-int8
  heed translate --model my-model-int8 "Der Hund schläft."
  heed quantize --bits 4 my-language-model my-language-model-int4

The new directory is a complete model, without the training state. In 8 bits, weight matrices are stored as
integers from -127 to 127 with one scale per row, and products are computed in integers: faster, slightly less
accurate. In 4 bits, groups of 32 weights share a scale and a minimum, 5 bits for each weight; vocabularies
stay in 8. That is for language models, whose decoding waits for memory: batches are faster in 8 bits. Integer products are exact and identical on every processor. Softmax, norms and attention are
float32, and their summation order depends on the instruction set: scores differ by up to about 0.02 between
AVX-512, AVX2 and older processors, and some translations of difficult text differ. --precision int8 (int4) quantizes a
float model at load time, with the same results.)");
  add_argument(*command, "MODEL", "--model", o->input, "Model directory");
  add_argument(*command, "OUTPUT", "--output", o->output, "Directory to create, or an empty one");
  add_choice(*command, "--bits N", o->bits,
             "Bits of a weight: 8, or 4 for matrices other than the vocabulary's [default: 8]", {"8", "4"});
  add_quiet(*command, o->quiet);
}

}  // namespace heed::cli
