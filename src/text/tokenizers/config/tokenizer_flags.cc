#include "text/tokenizers/config/tokenizer_flags.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "text/tokenizers/config/tokenizer_class.h"

namespace heed {
namespace {

/// The default of some classes.
std::optional<bool> default_of(bool has_default, bool value) {
  return has_default ? std::optional(value) : std::nullopt;
}

}  // namespace

void require_same_flags(const TokenizerJson& json, const TokenizerFlags& flags) {
  const auto require = [&](const TokenizerStep& step, const char* key, std::optional<bool> said,
                           std::optional<bool> by_default, bool value) {
    const bool wanted = said.value_or(by_default.value_or(value));
    if (wanted == value) return;
    const std::string where =
        said ? "in tokenizer_config.json"
             : fmt::format("by default in {}, which tokenizer_config.json names", flags.tokenizer_class);
    refuse_step(json, step,
                fmt::format("contradicts \"{}\": {} {}; make both files agree", key, wanted, where));
  };
  const auto is_one_of = [&](const std::vector<std::string_view>& classes) {
    return std::ranges::count(classes, without_fast(flags.tokenizer_class)) > 0;
  };
  const bool like_bert = json.normalizer.size() == 1 && is_one_of({"BertTokenizer", "DistilBertTokenizer",
                                                                   "ElectraTokenizer", "MPNetTokenizer"}),
             like_gpt2 = json.pre_tokenizer.size() == 1 &&
                         is_one_of({"BartTokenizer", "GPT2Tokenizer", "RobertaTokenizer"});
  for (const TokenizerStep& step : json.normalizer) {
    if (step.type != "BertNormalizer") continue;
    const bool lowercase = step.settings.boolean("lowercase");
    require(step, "do_lower_case", flags.lowercase, default_of(like_bert, true), lowercase);
    require(step, "strip_accents", flags.strip_accents, default_of(like_bert, lowercase),
            step.settings.boolean("strip_accents", lowercase));
    require(step, "tokenize_chinese_chars", flags.chinese_apart, default_of(like_bert, true),
            step.settings.boolean("handle_chinese_chars"));
  }
  for (const TokenizerStep& step : json.pre_tokenizer) {
    if (step.type != "ByteLevel") continue;
    require(step, "add_prefix_space", flags.adds_space, default_of(like_gpt2, false),
            step.settings.boolean("add_prefix_space"));
  }
}

}  // namespace heed
