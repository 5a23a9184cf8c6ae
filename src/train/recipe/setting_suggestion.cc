#include "train/recipe/setting_suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "base/text/ascii.h"
#include "base/text/nearest_word.h"
#include "text/unicode/whitespace.h"

namespace heed::train {
namespace {

/// The part behind the section.
std::string name_of(const std::string& key) {
  return key.substr(key.rfind('.') + 1);
}

/// Without underscores, hyphens and capitals: "n_embd" and "n-embd" are one name.
std::string plain(const std::string& name) {
  std::string letters;
  for (const char c : name) {
    if (c == '_' || c == '-') continue;
    letters += ascii_lower(c);
  }
  return letters;
}

/// Names of transformers, fairseq, OpenNMT, Marian, nanoGPT and PyTorch, and the settings that they mean.
struct OtherNames {
  std::string_view names;
  std::vector<std::string> settings;
};
const std::vector<OtherNames>& other_names() {
  static const std::vector<OtherNames> names{
      {"dim dmodel modeldim hiddensize hiddendim embeddim embeddingdim nembd dimemb rnnsize wordvecsize "
       "encoderembeddim size",
       {"model.width"}},
      {"dff ffn ffndim ffdim dimfeedforward intermediatesize ninner ffnembeddim transformerff "
       "transformerdimffn",
       {"model.feed_forward_width"}},
      {"nhead nheads numheads numattentionheads attentionheads transformerheads", {"model.heads"}},
      {"layers depth nlayer nlayers numlayers numhiddenlayers",
       {"model.layers", "model.encoder_layers", "model.decoder_layers"}},
      {"encdepth numencoderlayers", {"model.encoder_layers"}},
      {"decdepth numdecoderlayers", {"model.decoder_layers"}},
      {"batchsize maxtokens minibatchwords pertrainbatchsize", {"training.batch_tokens"}},
      {"lr learnrate", {"schedule.learning_rate"}},
      {"warmup warmupupdates lrwarmup", {"schedule.warmup_steps"}},
      {"lrscheduler lrschedule", {"schedule.kind"}},
      {"vocab vocabsize nvocab", {"tokenizer.vocabulary"}},
      {"updatefreq optimizerdelay accumcount gradaccum gradientaccumulationsteps",
       {"training.gradient_accumulation"}},
      {"maxpositionembeddings npositions maxseqlen", {"model.max_length"}},
      {"contextlength blocksize", {"training.block_size"}},
      {"clip maxgradnorm gradclip", {"optimizer.clip_norm"}},
      {"eps", {"optimizer.epsilon"}},
      {"evalsteps validfreq evalinterval", {"validation.every"}},
      {"earlystopping", {"validation.patience"}}};
  return names;
}

std::vector<std::string> meant(const std::string& key, const std::vector<std::string>& keys) {
  const auto known = [&](const std::string& each) { return std::ranges::count(keys, each) > 0; };
  std::vector<std::string> found;
  const std::string name = plain(name_of(key));
  for (const OtherNames& other : other_names()) {
    if (std::ranges::count(split_whitespace(other.names), name) > 0)
      std::ranges::copy_if(other.settings, std::back_inserter(found), known);
  }
  if (!found.empty()) return found;
  std::ranges::copy_if(keys, std::back_inserter(found),
                       [&](const std::string& each) { return plain(name_of(each)) == name; });
  return found;
}

}  // namespace

std::string suggest_setting(const std::string& key, const std::vector<std::string>& keys) {
  const std::vector<std::string> found = meant(key, keys);
  if (found.empty()) return did_you_mean(key, keys);
  return fmt::format("; did you mean '{}'?", fmt::join(found, "' or '"));
}

}  // namespace heed::train
