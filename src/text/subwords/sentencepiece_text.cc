#include "text/subwords/sentencepiece_text.h"

#include <utility>

#include "base/check.h"
#include "base/files/file.h"
#include "text/tokenizers/tokenizer_json_writer.h"

namespace heed {
namespace {

constexpr const char* kFile = model_file::kTokenizerModel;
/// Lines of a text that is read in chunks.
NextLine lines_of(const NextText& text) {
  return [text, rest = std::string(), begin = size_t{0}](std::string& line) mutable {
    while (true) {
      const size_t end = rest.find('\n', begin);
      if (end != std::string::npos) {
        line.assign(rest, begin, end - begin);
        begin = end + 1;
        return true;
      }
      rest.erase(0, std::exchange(begin, 0));
      std::string stretch;
      if (!text(stretch)) break;
      rest += stretch;
    }
    line = std::exchange(rest, {});
    return !line.empty();
  };
}

}  // namespace

SentencePieceTextTokenizer::SentencePieceTextTokenizer(SentencePieceModel model, bool starts_every_text)
    : model_(std::move(model)), starts_every_text_(starts_every_text) {
  const std::vector<Piece> pieces = model_.encode("a");
  adds_space_ = !pieces.empty() && pieces[0].text.starts_with(kSpaceMark);
  std::vector<AddedToken> special;
  for (int id = 0; id < model_.size(); ++id) {
    if (model_.is_special(id)) special.push_back({.id = id, .content = model_.piece(id)});
  }
  added_ = AddedVocabulary(std::move(special));
}

std::unique_ptr<TextTokenizer> SentencePieceTextTokenizer::load(const std::string& directory,
                                                                const TextTokenizerConfig& config) {
  auto tokenizer = std::make_unique<SentencePieceTextTokenizer>(
      SentencePieceModel::load(directory + "/" + kFile), config.adds_start.value_or(true));
  const auto refuse = [&](const char* key, bool value, const char* what) {
    fail(ErrorKind::kFormat, "'{}': \"{}\" is {} in tokenizer_config.json, but {}", directory, key, value,
         what);
  };
  if (config.adds_end.value_or(false))
    refuse("add_eos_token", true, "Heed does not append a token to a text");
  if (config.adds_space && *config.adds_space != tokenizer->adds_space_) {
    refuse("add_prefix_space", *config.adds_space, "tokenizer.model, which takes precedence, contradicts it");
  }
  return tokenizer;
}

std::unique_ptr<TextTokenizer> SentencePieceTextTokenizer::train(const TextTokenizerOptions& options,
                                                                 const NextText& text) {
  SentencePieceTrainOptions train;
  train.type = options.subwords;
  train.vocabulary_size = options.vocabulary_size;
  train.normalization = TextNormalization::kIdentity;
  train.keep_spaces = true;
  train.seed = options.seed;
  return std::make_unique<SentencePieceTextTokenizer>(
      SentencePieceModel::from_bytes(SentencePieceModel::train(train, lines_of(text)),
                                     "of the trained pieces"),
      true);
}

void SentencePieceTextTokenizer::save(const std::string& directory) const {
  write_file(directory + "/" + kFile, model_.bytes());
  const auto spelt = [&](int id) { return id < 0 ? "" : model_.piece(id); };
  TextTokenizerConfig config{.tokenizer_class = "LlamaTokenizer",
                             .start = spelt(model_.start()),
                             .end = spelt(model_.end()),
                             .unknown = spelt(model_.unknown()),
                             .adds_start = starts_every_text_};
  // Hugging Face's Llama class always uses BPE, whatever the type of tokenizer.model, and adds no space.
  const std::string json = tokenizer_json();
  if (!json.empty()) {
    config.tokenizer_class = kPlainTokenizerClass;
    config.own = kind();
  }
  write_text_tokenizer_config(directory, config);
  if (!json.empty()) write_file(directory + "/" + model_file::kTokenizerJson, json);
}

std::string SentencePieceTextTokenizer::tokenizer_json() const {
  if (!model_.keeps_text() || model_.unknown() < 0) return "";
  return sentencepiece_tokenizer_json(model_, starts_every_text_);
}

std::string SentencePieceTextTokenizer::beyond_hugging_face() const {
  if (model_.type() == SubwordType::kBpe || !tokenizer_json().empty()) return "";
  return "a SentencePiece unigram model with normalization or user-defined pieces";
}

std::optional<int32_t> SentencePieceTextTokenizer::start_id() const {
  return model_.start() < 0 ? std::nullopt : std::optional<int32_t>(model_.start());
}

std::optional<int32_t> SentencePieceTextTokenizer::end_id() const {
  return model_.end() < 0 ? std::nullopt : std::optional<int32_t>(model_.end());
}

std::string SentencePieceTextTokenizer::bytes(int32_t id) const {
  require_id(id);
  if (id == model_.unknown()) return "\uFFFD";
  if (model_.is_special(id)) return "";
  const int byte = model_.byte_of(id);
  return byte >= 0 ? std::string(1, static_cast<char>(byte)) : marks_to_spaces(model_.piece(id));
}

std::string SentencePieceTextTokenizer::piece(int32_t id) const {
  require_id(id);
  return model_.piece(id);
}

void SentencePieceTextTokenizer::tokenize(std::string_view text, size_t begin, size_t end,
                                          std::vector<Token>& tokens) const {
  for (const Piece& piece : model_.encode(text.substr(begin, end - begin))) {
    tokens.push_back({piece.number, begin + piece.begin, begin + piece.end});
  }
}

}  // namespace heed
