#include "text/tokenizers/config/tokenizer_class.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/json_file.h"

namespace heed {
namespace {

std::string string_of_config(const ModelInventory& files, const char* key) {
  if (!files.has(model_file::kConfig)) return "";
  return JsonObject::read(files.path(model_file::kConfig)).string(key, "");
}

}  // namespace

std::string without_fast(std::string name) {
  if (name.ends_with("Fast")) name.resize(name.size() - 4);
  return name;
}

std::string named_tokenizer_class(const ModelInventory& files, const std::string& own) {
  return without_fast(own.empty() ? string_of_config(files, "tokenizer_class") : own);
}

std::string tokenizer_class_of(const ModelInventory& files, const std::string& own) {
  // The types whose tokenizer files leave something to the class.
  static const std::vector<std::pair<std::string_view, std::string>> types{
      {"gemma2", "GemmaTokenizer"},  {"gemma3_text", "GemmaTokenizer"}, {"gpt2", "GPT2Tokenizer"},
      {"llama", "LlamaTokenizer"},   {"m2m_100", "M2M100Tokenizer"},    {"mbart", "MBartTokenizer"},
      {"mistral", "LlamaTokenizer"}, {"qwen2", "Qwen2Tokenizer"},       {"qwen3", "Qwen2Tokenizer"}};
  std::string named = named_tokenizer_class(files, own);
  if (!named.empty()) return named;
  const std::string model_type = string_of_config(files, "model_type");
  const auto found = std::ranges::find(types, model_type, &std::pair<std::string_view, std::string>::first);
  return found == types.end() ? "" : found->second;
}

}  // namespace heed
