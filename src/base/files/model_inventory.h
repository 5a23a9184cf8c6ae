// Which files a model directory has. It is listed once, and whoever wants to know whether a file is there
// asks the inventory. The names of the files stand here and nowhere else; what is in them, their readers
// know.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The files of a model directory by name: those of Hugging Face's library, of programs whose models Heed
/// reads, and Heed's own.
namespace model_file {

inline constexpr const char *kConfig = "config.json", *kGenerationConfig = "generation_config.json",
                            *kCard = "README.md";

// Weights. An index (NAME + kIndexSuffix) lists their shards.
inline constexpr const char *kSafetensors = "model.safetensors", *kPyTorch = "pytorch_model.bin",
                            *kIndexSuffix = ".index.json", *kCtranslate2 = "model.bin",
                            *kShortlist = "shortlist.safetensors";

// Tokenizers.
inline constexpr const char *kTokenizerConfig = "tokenizer_config.json", *kTokenizerJson = "tokenizer.json",
                            *kSourceSpm = "source.spm", *kTargetSpm = "target.spm",
                            *kVocabularyJson = "vocab.json", *kTargetVocabulary = "target_vocab.json",
                            *kVocabularyTxt = "vocab.txt", *kMerges = "merges.txt",
                            *kAddedTokens = "added_tokens.json", *kTokenizerModel = "tokenizer.model",
                            *kT5Model = "spiece.model", *kSentencePieceBpe = "sentencepiece.bpe.model";

// sentence-transformers.
inline constexpr const char *kModules = "modules.json", *kPrompts = "config_sentence_transformers.json";

// Marian's own; the model and the vocabularies have any names.
inline constexpr const char* kMarianDecoder = "decoder.yml";

}  // namespace model_file

class ModelInventory {
 public:
  /// Of no directory: nothing is there.
  ModelInventory() = default;
  /// Lists a directory. One that does not exist has no files, so that the reader of a file that is needed
  /// says which one is missing. Throws kFile for a directory that cannot be listed.
  explicit ModelInventory(std::string directory);

  const std::string& directory() const { return directory_; }
  /// Whether it is a directory; else it is a file, or does not exist.
  bool is_directory() const { return kind_ == Kind::kDirectory; }
  bool exists() const { return kind_ != Kind::kNothing; }

  /// Whether there is an entry of this name. True for dangling symbolic links: they are damaged files, and
  /// reading one is an error.
  bool has(std::string_view name) const { return std::ranges::binary_search(names_, name); }
  bool has_any(const std::vector<std::string>& names) const;
  /// The path of a file, whether it is there or not.
  std::string path(std::string_view name) const;
  /// Sorted names that end in one of these.
  std::vector<std::string> ending_in(const std::vector<std::string>& endings) const;

 private:
  enum class Kind { kNothing, kFile, kDirectory };

  std::string directory_;
  Kind kind_ = Kind::kNothing;
  std::vector<std::string> names_;  // sorted
};

}  // namespace heed
