// heed convert: the same model with its weights in another type, or from another program's format.

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

/// Throws where a number is too large for the type (float16 ends at 65504).
Tensor converted(const std::string& name, const Tensor& tensor, DType dtype) {
  if (!is_float(tensor.dtype()) || tensor.dtype() == dtype) return tensor;
  Tensor result = tensor.to(dtype);
  const std::vector<float> before = tensor.to_vector<float>(), after = result.to_vector<float>();
  for (size_t n = 0; n < after.size(); ++n) {
    if (std::isfinite(before[n]) && !std::isfinite(after[n])) {
      fail(ErrorKind::kNumeric, "'{}' holds {}, which {} cannot hold; bfloat16 can", name, before[n],
           name_of(dtype));
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

/// config.json as it was, with the type of the weights.
void write_config(const std::string& input, const std::string& output, DType dtype) {
  const std::string path = input + "/config.json", text = read_file(path);
  JsonObject::parse(text, path);  // throws for what is no object
  auto config = parse_ordered_json(text, path);
  config[config.contains("dtype") ? "dtype" : "torch_dtype"] = name_of(dtype);
  write_json(output + "/config.json", config);
}

bool is_known(const std::string& directory) {
  const std::string type = JsonObject::read(directory + "/config.json").string("model_type", "");
  return models::architecture_of_type(type) != nullptr;
}

/// Both layouts are one, but not every model of ours can be said in theirs.
void require_hugging_face(const std::string& directory) {
  if (!is_known(directory)) return;  // nothing of ours
  const models::LoadedModel loaded = models::load_model(directory);
  const std::vector<std::string> beyond = loaded.model->beyond_hugging_face();
  if (beyond.empty()) return;
  fail(ErrorKind::kUsage,
       "'{}' ({}) cannot be written for Hugging Face's library, which has no such model: {}; without --to, "
       "Heed opens it",
       directory, loaded.model_type, fmt::join(beyond, ", "));
}

/// Tokenizers of Heed's own come with a tokenizer.json for that library; directories of before have none yet.
void write_tokenizer_for_hugging_face(const std::string& directory) {
  if (!is_known(directory)) return;
  if (models::task_of(directory) != models::Task::kLanguageModel || !TextTokenizer::is_in(directory)) return;
  const auto tokenizer = TextTokenizer::load(directory);
  if (const std::string beyond = tokenizer->beyond_hugging_face(); !beyond.empty()) {
    fail(ErrorKind::kUsage,
         "the tokenizer cannot be written for Hugging Face's library, which would cut texts in another way: "
         "{}; without "
         "--to, Heed opens it",
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
  std::fprintf(stderr, "%s: a Llama in Hugging Face's layout%s\n", o.output.c_str(),
               o.tokenizer.empty() ? ", without a tokenizer: its texts are ids. For words, give its "
                                     "tokenizer.model or tokenizer.bin with --tokenizer"
                                   : ", with its tokenizer");
  return kExitDone;
}

int run_convert(const ConvertOptions& o) {
  if (o.from == "llama2c") return convert_llama2c(o);
  if (!o.tokenizer.empty()) {
    fail(ErrorKind::kUsage, "--tokenizer is for --from llama2c: a directory brings its own");
  }
  const std::string input = model_directory_at(o.input, "IN");
  const DType dtype = weight_types().at(o.weights);
  if (models::is_quantized(JsonObject::read(input + "/config.json"))) {
    fail(ErrorKind::kUsage,
         "'{}' is quantised, and what was rounded away is gone: convert the model that it was made from",
         input);
  }
  if (o.to == "huggingface") require_hugging_face(input);
  NewDirectory output(o.output);
  convert_weights(input, output.part(), dtype);
  copy_others(input, output.part());
  write_config(input, output.part(), dtype);
  if (o.to == "huggingface") write_tokenizer_for_hugging_face(output.part());
  if (is_known(input))
    models::load_model(output.part());  // throws where config and weights contradict each other
  const double megabytes = static_cast<double>(WeightFiles::open(output.part()).bytes()) / 1e6;
  const double before = static_cast<double>(WeightFiles::open(input).bytes()) / 1e6;
  output.commit();
  if (!o.quiet) {
    std::fprintf(stderr, "%s: weights in %s, %.1f MB (before: %.1f MB)\n", o.output.c_str(),
                 o.weights.c_str(), megabytes, before);
  }
  return kExitDone;
}

}  // namespace

void add_convert(Command& app, Work& work) {
  auto o = std::make_shared<ConvertOptions>();
  Command* command =
      app.add_subcommand("convert", "A model with its weights in another type, or from another format");
  command->footer(
      "Examples:\n  heed convert my-model my-model-half --weights float16\n"
      "  heed convert stories15M.bin stories --from llama2c --tokenizer tokenizer.bin\n"
      "The new directory is a whole model, without what only training needs. 16 bits halve its size; numbers "
      "are\n"
      "rounded once, to the nearest, and computed with in float32 as ever.");
  command->add_option("IN", o->input, "The model directory, or the file of --from")->required();
  command->add_option("OUT", o->output, "The directory to make; must not exist")->required();
  std::vector<std::string> names;
  for (const auto& [name, type] : weight_types()) names.push_back(name);
  add_choice(*command, "--weights", o->weights, "Type of the weights: float32, float16 or bfloat16", names)
      ->show_default()
      ->type_name("TYPE");
  add_choice(*command, "--from", o->from,
             "Format of IN: huggingface, a directory; llama2c, a file of weights as llama2.c has them",
             {"huggingface", "llama2c"})
      ->show_default()
      ->type_name("FORMAT");
  add_choice(*command, "--to", o->to,
             "What OUT is for: heed; or huggingface, refused where that library has no such model",
             {"heed", "huggingface"})
      ->show_default()
      ->type_name("FORMAT");
  command
      ->add_option("--tokenizer", o->tokenizer, "With llama2c: tokenizer.model, or llama2.c's tokenizer.bin")
      ->type_name("F");
  command->add_flag("--quiet", o->quiet, "Nothing on standard error but errors");
  command->callback([o, &work] { work = [o] { return run_convert(*o); }; });
}

}  // namespace heed::cli
