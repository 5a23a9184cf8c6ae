#include "train/recipe/setting_suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/text/ascii.h"
#include "base/text/nearest_word.h"

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

/// Names of transformers, fairseq, OpenNMT, Marian, nanoGPT and PyTorch.
const std::map<std::string, std::vector<std::string>>& other_names() {
  static const std::vector<std::string> width{"model.width"}, heads{"model.heads"},
      layers{"model.layers", "model.encoder_layers", "model.decoder_layers"},
      feed_forward{"model.feed_forward_width"}, batch{"training.batch_tokens"},
      rate{"schedule.learning_rate"}, warmup{"schedule.warmup_steps"}, vocabulary{"tokenizer.vocabulary"},
      accumulation{"training.gradient_accumulation"}, length{"model.max_length"};
  static const std::map<std::string, std::vector<std::string>> names{
      {"dim", width},
      {"dmodel", width},
      {"modeldim", width},
      {"hiddensize", width},
      {"hiddendim", width},
      {"embeddim", width},
      {"embeddingdim", width},
      {"nembd", width},
      {"dimemb", width},
      {"rnnsize", width},
      {"wordvecsize", width},
      {"encoderembeddim", width},
      {"size", width},
      {"dff", feed_forward},
      {"ffn", feed_forward},
      {"ffndim", feed_forward},
      {"ffdim", feed_forward},
      {"dimfeedforward", feed_forward},
      {"intermediatesize", feed_forward},
      {"ninner", feed_forward},
      {"ffnembeddim", feed_forward},
      {"transformerff", feed_forward},
      {"transformerdimffn", feed_forward},
      {"nhead", heads},
      {"nheads", heads},
      {"numheads", heads},
      {"numattentionheads", heads},
      {"attentionheads", heads},
      {"transformerheads", heads},
      {"layers", layers},
      {"depth", layers},
      {"nlayer", layers},
      {"nlayers", layers},
      {"numlayers", layers},
      {"numhiddenlayers", layers},
      {"encdepth", {"model.encoder_layers"}},
      {"decdepth", {"model.decoder_layers"}},
      {"numencoderlayers", {"model.encoder_layers"}},
      {"numdecoderlayers", {"model.decoder_layers"}},
      {"batchsize", batch},
      {"maxtokens", batch},
      {"minibatchwords", batch},
      {"pertrainbatchsize", batch},
      {"lr", rate},
      {"learnrate", rate},
      {"warmup", warmup},
      {"warmupupdates", warmup},
      {"lrwarmup", warmup},
      {"lrscheduler", {"schedule.kind"}},
      {"lrschedule", {"schedule.kind"}},
      {"vocab", vocabulary},
      {"vocabsize", vocabulary},
      {"nvocab", vocabulary},
      {"updatefreq", accumulation},
      {"optimizerdelay", accumulation},
      {"accumcount", accumulation},
      {"gradaccum", accumulation},
      {"gradientaccumulationsteps", accumulation},
      {"maxpositionembeddings", length},
      {"npositions", length},
      {"maxseqlen", length},
      {"contextlength", {"training.block_size"}},
      {"blocksize", {"training.block_size"}},
      {"clip", {"optimizer.clip_norm"}},
      {"maxgradnorm", {"optimizer.clip_norm"}},
      {"gradclip", {"optimizer.clip_norm"}},
      {"eps", {"optimizer.epsilon"}},
      {"evalsteps", {"validation.every"}},
      {"validfreq", {"validation.every"}},
      {"evalinterval", {"validation.every"}},
      {"earlystopping", {"validation.patience"}}};
  return names;
}

std::vector<std::string> meant(const std::string& key, const std::vector<std::string>& keys) {
  const auto known = [&](const std::string& each) { return std::ranges::count(keys, each) > 0; };
  std::vector<std::string> found;
  if (const auto other = other_names().find(plain(name_of(key))); other != other_names().end()) {
    std::ranges::copy_if(other->second, std::back_inserter(found), known);
  }
  if (!found.empty()) return found;
  std::ranges::copy_if(keys, std::back_inserter(found),
                       [&](const std::string& each) { return plain(name_of(each)) == plain(name_of(key)); });
  return found;
}

}  // namespace

std::string suggest_setting(const std::string& key, const std::vector<std::string>& keys) {
  const std::vector<std::string> found = meant(key, keys);
  if (found.empty()) return did_you_mean(key, keys);
  return fmt::format("; did you mean '{}'?", fmt::join(found, "' or '"));
}

}  // namespace heed::train
