// A language model's tokenizer in a tokenizer.json, whatever its components (text/pipeline/text_pipeline.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/pipeline/text_pipeline.h"
#include "text/tokenizers/text_tokenizer.h"
#include "text/tokenizers/text_tokenizer_config.h"

namespace heed {

class JsonTextTokenizer : public TextTokenizer {
 public:
  /// Reads a tokenizer.json; `config` is the tokenizer_config.json beside it, which names the start and end
  /// tokens. Throws kFormat, with file and step, for an unsupported component, for tokens that cannot be
  /// decoded one by one, for a post-processor that puts more than one token before a text or any after it,
  /// and if tokenizer_config.json contradicts tokenizer.json.
  static std::unique_ptr<TextTokenizer> load(const std::string& path, const TextTokenizerConfig& config);

  void save(const std::string& directory) const override;
  TextTokenizerKind kind() const override { return kind_; }
  int32_t size() const override { return pipeline_.size(); }
  std::optional<int32_t> start_id() const override;
  bool starts_every_text() const override { return !pipeline_.before().empty(); }
  std::optional<int32_t> end_id() const override;
  std::string bytes(int32_t id) const override;
  std::string piece(int32_t id) const override;

 protected:
  std::vector<Token> tokens(std::string_view text, const Options& options) const override;
  const AddedVocabulary& added_tokens() const override { return pipeline_.added(); }
  bool adds_space() const override { return pipeline_.removes_leading_space(); }

 private:
  JsonTextTokenizer(TextPipeline pipeline, std::string path)
      : pipeline_(std::move(pipeline)), path_(std::move(path)) {}

  TextPipeline pipeline_;
  std::string path_;  // of tokenizer.json, which save() copies
  TextTokenizerKind kind_ = TextTokenizerKind::kSentencePiece;
  int32_t start_ = -1, end_ = -1;  // ids
};

}  // namespace heed
