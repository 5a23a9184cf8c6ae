// heed convert: converts the data type of the weights, or a model of another program.

#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "base/json_file.h"
#include "cli/checked_options.h"
#include "cli/command.h"
#include "cli/llama2c_import.h"
#include "cli/model_lookup.h"
#include "cli/new_directory.h"
#include "io/safetensors.h"
#include "io/weight_files.h"
#include "models/model_directory.h"
#include "text/text_tokenizer.h"

namespace heed::cli {
namespace {

struct ConvertOptions {
  std::string input, output, tokenizer, weights = "float32", from = "huggingface", to = "heed";
  bool quiet = false;
};

const std::map<std::string, DType>& weight_types() {
  static const std::map<std::string, DType> types{
      {"float32", DType::kFloat32}, {"float16", DType::kFloat16}, {"bfloat16", DType::kBFloat16}};
  return types;
}

bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16 ||
         dtype == DType::kBFloat16;
}

/// Throws kNumeric if a number overflows in the type (the maximum of float16 is 65504).
Tensor converted(const std::string& name, const Tensor& tensor, DType dtype) {
  if (!is_float(tensor.dtype()) || tensor.dtype() == dtype) return tensor;
  Tensor result = tensor.to(dtype);
  const std::vector<float> before = tensor.to_vector<float>(), after = result.to_vector<float>();
  for (size_t n = 0; n < after.size(); ++n) {
    if (std::isfinite(before[n]) && !std::isfinite(after[n])) {
      fail(ErrorKind::kNumeric, "'{}' contains {}, which overflows in {}; use --weights bfloat16", name,
           before[n], name_of(dtype));
    }
  }
  return result;
}

void convert_weights(const std::string& input, const std::string& output, DType dtype) {
  const WeightFiles files = WeightFiles::open(input);
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (const std::string& name : files.names()) {
    if (interrupted()) fail(ErrorKind::kFile, "interrupted at '{}'", name);
    tensors.emplace_back(name, converted(name, files.read(name), dtype));
  }
  write_safetensors_with_hashes(output + "/model.safetensors", tensors, {{"format", "pt"}});
}

/// Copies config.json and sets the data type of the weights.
void write_config(const std::string& input, const std::string& output, DType dtype) {
  const std::string path = input + "/config.json", text = read_file(path);
  JsonObject::parse(text, path);  // throws unless it is an object
  auto config = parse_ordered_json(text, path);
  config[config.contains("dtype") ? "dtype" : "torch_dtype"] = name_of(dtype);
  write_json(output + "/config.json", config);
}

bool is_known(const std::string& directory) {
  const std::string type = JsonObject::read(directory + "/config.json").string("model_type", "");
  return models::architecture_of_type(type) != nullptr;
}

/// The directory layout is the same, but Hugging Face's library lacks some of Heed's architectures.
void require_hugging_face(const std::string& directory) {
  if (!is_known(directory)) return;  // a model of another library
  const models::LoadedModel loaded = models::load_model(directory);
  const std::vector<std::string> beyond = loaded.model->beyond_hugging_face();
  if (beyond.empty()) return;
  fail(ErrorKind::kUsage,
       "'{}' ({}) cannot be converted for Hugging Face's library, which does not support {}; leave out --to "
       "for a model that Heed opens",
       directory, loaded.model_type, fmt::join(beyond, ", "));
}

/// Writes tokenizer.json for Hugging Face's library. Directories written by earlier versions of Heed lack it.
void write_tokenizer_for_hugging_face(const std::string& directory) {
  if (!is_known(directory)) return;
  if (models::task_of(directory) != models::Task::kLanguageModel || !TextTokenizer::is_in(directory)) return;
  const auto tokenizer = TextTokenizer::load(directory);
  if (const std::string beyond = tokenizer->beyond_hugging_face(); !beyond.empty()) {
    fail(ErrorKind::kUsage,
         "the tokenizer cannot be converted for Hugging Face's library, which would tokenize differently: "
         "{}; leave out --to for a model that Heed opens",
         beyond);
  }
  if (!tokenizer->tokenizer_json().empty()) tokenizer->save(directory);
}

int convert_llama2c(const ConvertOptions& o) {
  NewDirectory output(o.output);
  import_llama2c({o.input, o.tokenizer, weight_types().at(o.weights)}, output.part());
  models::load_model(output.part());
  output.commit();
  if (o.quiet) return kExitDone;
  std::fprintf(stderr, "wrote %s: a Llama model in Hugging Face's layout%s\n", o.output.c_str(),
               o.tokenizer.empty() ? ", without a tokenizer, so texts are token ids; to add its "
                                     "tokenizer.model or tokenizer.bin, give --tokenizer"
                                   : ", with its tokenizer");
  return kExitDone;
}

int run_convert(const ConvertOptions& o) {
  if (o.from == "llama2c") return convert_llama2c(o);
  if (!o.tokenizer.empty()) {
    fail(ErrorKind::kUsage, "--tokenizer is for --from llama2c: a model directory contains its tokenizer");
  }
  const std::string input = model_directory_at(o.input, "IN");
  const DType dtype = weight_types().at(o.weights);
  if (models::is_quantized(JsonObject::read(input + "/config.json"))) {
    fail(ErrorKind::kUsage, "'{}' is quantised; convert the original model instead", input);
  }
  if (o.to == "huggingface") require_hugging_face(input);
  NewDirectory output(o.output);
  convert_weights(input, output.part(), dtype);
  copy_others(input, output.part());
  write_config(input, output.part(), dtype);
  if (o.to == "huggingface") write_tokenizer_for_hugging_face(output.part());
  if (is_known(input)) models::load_model(output.part());  // throws if config and weights do not match
  const double megabytes = static_cast<double>(WeightFiles::open(output.part()).bytes()) / 1e6;
  const double before = static_cast<double>(WeightFiles::open(input).bytes()) / 1e6;
  output.commit();
  if (!o.quiet) {
    std::fprintf(stderr, "wrote %s: weights in %s, %.1f MB (before: %.1f MB)\n", o.output.c_str(),
                 o.weights.c_str(), megabytes, before);
  }
  return kExitDone;
}

}  // namespace

void add_convert(Command& app, Work& work) {
  auto o = std::make_shared<ConvertOptions>();
  Command* command =
      app.add_subcommand("convert", "Convert the weights to another type, or a model from another format");
  command->footer(
      "Examples:\n  heed convert my-model my-model-half --weights float16\n"
      "  heed convert stories15M.bin stories --from llama2c --tokenizer tokenizer.bin\n"
      "The new directory is a complete model, without the training state. 16-bit weights halve its size; "
      "they\n"
      "are rounded to nearest, and computations stay in float32.");
  command->add_option("IN", o->input, "Model directory, or a weight file with --from llama2c")->required();
  command->add_option("OUT", o->output, "Directory to create; must not exist")->required();
  std::vector<std::string> names;
  for (const auto& [name, type] : weight_types()) names.push_back(name);
  add_choice(*command, "--weights", o->weights, "Data type of the weights: float32, float16 or bfloat16",
             names)
      ->show_default()
      ->type_name("TYPE");
  add_choice(*command, "--from", o->from,
             "Format of IN: huggingface (a directory) or llama2c (a weight file of llama2.c)",
             {"huggingface", "llama2c"})
      ->show_default()
      ->type_name("FORMAT");
  add_choice(*command, "--to", o->to,
             "Target: heed or huggingface; models that Hugging Face's library does not support are refused",
             {"heed", "huggingface"})
      ->show_default()
      ->type_name("FORMAT");
  command
      ->add_option("--tokenizer", o->tokenizer,
                   "Tokenizer for --from llama2c: tokenizer.model, or llama2.c's tokenizer.bin")
      ->type_name("F");
  command->add_flag("--quiet", o->quiet, "Write only errors to standard error");
  command->callback([o, &work] { work = [o] { return run_convert(*o); }; });
}

}  // namespace heed::cli
