// The tokenizers of T5, BART, NLLB, M2M-100 and mBART, as Hugging Face's directories hold them:
//
//   tokenizer.json                            T5, BART, NLLB, mBART
//   sentencepiece.bpe.model with vocab.json   M2M-100; language codes follow the vocabulary
//   sentencepiece.bpe.model alone             mBART and mBART-50; ids are one higher than those of the model,
//                                             and language codes and <mask> follow them
//   sentencepiece.bpe.model with              M2M-100, NLLB and mBART-50 of CTranslate2; the list has all
//     shared_vocabulary.json                  pieces by id
//
// The special tokens around a text are those of transformers' class if that has languages, whatever the file
// says, else those of the file's post-processor, or of the family. Where a language code is one of them, it
// is that of the chosen source or target language.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/files/model_inventory.h"
#include "text/tokenizers/tokenizer.h"

namespace heed {

struct FamilyTokenizer {
  /// Its vocabulary has as many pieces as vocab_size of config.json beside it, so that every id has one.
  ModelTokenizer tokenizer;
  /// The special tokens around a text.
  struct Frame {
    std::vector<int32_t> before = {}, after = {};
  };
  Frame source, target;
  std::vector<std::pair<std::string, int32_t>> languages;  ///< with the ids of their tokens
  std::string source_language, target_language;            ///< the chosen ones, if there are languages
  bool true_case_capitals = false;
  bool target_begins_with_language = false;
  std::string config;  ///< the content of tokenizer_config.json, with the class if it has languages
  std::vector<std::string> files;  ///< all others, with their paths

  /// Exchanges the language codes of the frames; empty: as before. Throws kUsage for an unknown language,
  /// with the nearest.
  void choose_languages(const std::string& source, const std::string& target);
  /// Throws kUsage if a target begins with its language and none is chosen.
  void require_target() const;
};

/// Whether a directory has such files, and none of Marian.
bool has_family_tokenizer(const ModelInventory& files);

/// `config` is the content of tokenizer_config.json. The target language is tgt_lang, if it is there. Throws
/// kFile, or kFormat for files that are malformed, not supported, or contradict each other.
FamilyTokenizer load_family_tokenizer(const ModelInventory& files, const std::string& config);

}  // namespace heed
